//! A small dashboard in a place of its own.

use testing::dashboard::Server;

use crate::place::Place;

pub const PASSWORD: &str = "correct horse battery staple";

pub struct SmallDashboard {
    pub place: Place,
    pub url: String,
}

impl SmallDashboard {
    pub fn new() -> Self {
        let place = Place::new();
        let url = format!("sqlite://{}", place.path("dashboard.db").display());
        place.expect(0, &["dashboard", "generate", "--scale", "0.002", "--database", &url]);
        Self { place, url }
    }

    pub fn serve(&self) -> Server {
        let words = ["dashboard", "serve", "--listen", "127.0.0.1:0", "--database", &self.url];
        Server::start(&mut self.place.command(&words)).unwrap()
    }
}
