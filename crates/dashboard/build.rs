//! Builds the crate again when the pages that it embeds have changed.

use std::path::Path;

fn main() {
    let pages = Path::new("../../web/dist/dashboard");
    // A path that does not exist would make every build a new one; its parents exist or change
    // when it appears.
    let watched = pages.ancestors().find(|path| path.exists()).unwrap_or(pages);
    println!("cargo::rerun-if-changed={}", watched.display());
    println!("cargo::rerun-if-changed=build.rs");
}
