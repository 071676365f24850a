//! Secrets from a file, standard input or the environment, never from the command line, where every
//! process of the machine could read them.

use std::io::Read as _;
use std::path::Path;

use anyhow::Context as _;

/// The API key in `file` (`-` for standard input), otherwise in CROSSOVER_KEY, otherwise none.
pub fn key(file: Option<&Path>) -> anyhow::Result<Option<String>> {
    let text = match file {
        Some(path) if path.as_os_str() == "-" => {
            let mut text = String::new();
            std::io::stdin()
                .read_to_string(&mut text)
                .context("cannot read the key from standard input")?;
            text
        }
        Some(path) => std::fs::read_to_string(path)
            .with_context(|| format!("cannot read the key file {}", path.display()))?,
        None => match std::env::var("CROSSOVER_KEY") {
            Ok(key) => key,
            Err(_) => return Ok(None),
        },
    };
    let key = text.trim();
    anyhow::ensure!(!key.is_empty(), "the key is empty; write it into the file as one line");
    Ok(Some(key.to_owned()))
}
