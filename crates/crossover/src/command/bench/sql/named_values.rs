//! Values by name on the command line: of parameters, and levels of factors.

use plan::{Factor, Given, Level, Parameter};

/// `id=1..1000`, `colour=red,green`, `id=select id from t`.
pub(super) fn parameter(text: &str) -> Result<(String, Parameter), String> {
    let (name, values) =
        named(text).ok_or("write NAME=FIRST..LAST, NAME=VALUE,VALUE or 'NAME=select ...'")?;
    let first_word = values.split_whitespace().next().unwrap_or_default().to_lowercase();
    let parameter = if ["select", "with", "values"].contains(&first_word.as_str()) {
        Parameter::Query { query: values.to_owned() }
    } else if let Some((first, last)) = values.split_once("..") {
        let number =
            |text: &str| text.trim().parse().map_err(|_| format!("`{text}` is not a whole number"));
        Parameter::Range { range: [number(first)?, number(last)?] }
    } else {
        Parameter::List { list: values.split(',').map(given).collect() }
    };
    Ok((name.to_owned(), parameter))
}

/// `version=old,new`, `rows=1000,10000`.
pub(super) fn factor(text: &str) -> Result<(String, Factor), String> {
    let (name, levels) = named(text).ok_or("write NAME=LEVEL,LEVEL, such as version=old,new")?;
    if name == "clients" {
        return Err("numbers of clients are given by --clients".to_owned());
    }
    Ok((name.to_owned(), Factor::new(levels.split(',').map(level).collect())))
}

fn named(text: &str) -> Option<(&str, &str)> {
    text.split_once('=').filter(|(name, values)| !name.is_empty() && !values.is_empty())
}

fn given(text: &str) -> Given {
    match (text.parse(), text.parse()) {
        (Ok(integer), _) => Given::Integer(integer),
        (_, Ok(double)) => Given::Double(double),
        _ => Given::Text(text.to_owned()),
    }
}

/// A number only where it is written as one: the folder `1.10` is not `1.1`.
fn level(text: &str) -> Level {
    let number = text.parse().ok().map(Level::Number);
    let number = number.filter(|level| level.to_string() == text);
    number.unwrap_or_else(|| Level::Text(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_keeps_its_spelling() {
        let levels = |text: &str| factor(text).unwrap().1.levels;
        let texts = |levels: [&str; 2]| levels.map(|text| Level::Text(text.to_owned()));
        assert_eq!(levels("version=old,1.10"), texts(["old", "1.10"]));
        assert_eq!(levels("rows=1000,2.5"), [Level::Number(1000.0), Level::Number(2.5)]);
        assert!(factor("version").unwrap_err().contains("version=old,new"));
        assert!(factor("clients=1,2").unwrap_err().contains("--clients"));
    }
}
