//! Settings of a PostgreSQL session: applied, refused if the server has no such setting or a
//! session may not change it, and read back.

use tokio_postgres::Client;

use engine::nearest;

use crate::Error;

/// `name` as an identifier in SQL, quoted.
#[must_use]
pub fn quote_identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// The value of each setting as the server has it for this session, in the order asked.
pub async fn settings_readback<'a>(
    client: &Client,
    names: impl IntoIterator<Item = &'a str>,
) -> Result<Vec<(String, String)>, Error> {
    let mut values = Vec::new();
    for name in names {
        let row = client.query_one("SELECT current_setting($1, true)", &[&name]).await?;
        match row.get::<_, Option<String>>(0) {
            Some(value) => values.push((name.to_owned(), value)),
            None => return Err(unknown(client, name).await?),
        }
    }
    Ok(values)
}

/// Sets what a session may set, for a server that is not ours to start, and reads it back.
pub async fn apply_session_settings<'a>(
    client: &Client,
    settings: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<Vec<(String, String)>, Error> {
    let mut names = Vec::new();
    for (name, value) in settings {
        let found = client
            .query_opt("SELECT context FROM pg_settings WHERE lower(name) = lower($1)", &[&name])
            .await?;
        let Some(row) = found else { return Err(unknown(client, name).await?) };
        let context: String = row.get(0);
        if !matches!(context.as_str(), "user" | "superuser" | "backend" | "superuser-backend") {
            let engine = engine_name(client).await?;
            return Err(Error::NotASessionSetting { name: name.to_owned(), engine, context });
        }
        client.execute("SELECT set_config($1, $2, false)", &[&name, &value]).await?;
        names.push(name);
    }
    settings_readback(client, names).await
}

async fn engine_name(client: &Client) -> Result<String, Error> {
    let row = client.query_one("SELECT current_setting('server_version')", &[]).await?;
    Ok(format!("PostgreSQL {}", row.get::<_, String>(0)))
}

async fn unknown(client: &Client, name: &str) -> Result<Error, Error> {
    let rows = client.query("SELECT name FROM pg_settings", &[]).await?;
    let names: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    Ok(Error::UnknownSetting {
        name: name.to_owned(),
        engine: engine_name(client).await?,
        suggestion: nearest(name, names.iter().map(String::as_str)),
    })
}
