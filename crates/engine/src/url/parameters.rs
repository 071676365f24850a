//! Parameters of a PostgreSQL URL that this program's connections understand, with their values. A
//! misspelt name is found while a plan is read, not at the first connection.

use super::PostgresUrl;
use super::host::bad;
use crate::{Error, nearest};

/// Values that a connection understands.
enum AllowedValues {
    Any,
    Number,
    OneOf(&'static [&'static str]),
}

use AllowedValues::{Any, Number, OneOf};

const PARAMETERS: [(&str, AllowedValues); 15] = [
    ("application_name", Any),
    ("channel_binding", OneOf(&["disable", "prefer", "require"])),
    ("connect_timeout", Number),
    ("hostaddr", Any),
    ("keepalives", Number),
    ("keepalives_idle", Number),
    ("keepalives_interval", Number),
    ("keepalives_retries", Number),
    ("load_balance_hosts", OneOf(&["disable", "random"])),
    ("options", Any),
    ("port", Any),
    ("sslmode", OneOf(&["disable", "allow", "prefer", "require", "verify-ca", "verify-full"])),
    ("sslnegotiation", OneOf(&["postgres", "direct"])),
    ("sslrootcert", Any),
    ("target_session_attrs", OneOf(&["any", "read-write", "read-only"])),
];

pub(super) fn check_parameters(url: &PostgresUrl) -> Result<(), Error> {
    url.parameters.iter().try_for_each(|(key, value)| check_parameter(key, value))
}

/// Refuses a parameter that no connection understands, and a value that it cannot have, with the likely
/// one.
pub fn check_parameter(key: &str, value: &str) -> Result<(), Error> {
    let Some((_, values)) = PARAMETERS.iter().find(|(known, _)| *known == key) else {
        let suggestion = nearest(key, PARAMETERS.map(|(known, _)| known));
        return Err(bad(format!("unknown parameter `{key}`{suggestion}")));
    };
    match values {
        Number if value.parse::<i64>().is_err() => {
            Err(bad(format!("{key} `{value}`: write a whole number")))
        }
        OneOf(known) if !known.contains(&value) => {
            let suggestion = nearest(value, known.iter().copied());
            Err(bad(format!("{key} `{value}`{suggestion}: use {}", known.join(", "))))
        }
        Any | Number | OneOf(_) => Ok(()),
    }
}
