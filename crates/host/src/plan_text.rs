//! Text of a plan without the values that its statement was asked with.

/// Numbers, texts in single quotes and numbered parameters become `?`. Names stay, those in
/// double quotes too; what belongs to a name (`index_2`) is not a number.
pub(crate) fn without_values(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    let mut last = ' ';
    while let Some(c) = characters.next() {
        match c {
            '\'' => {
                skip_quoted(&mut characters, c);
                result.push('?');
            }
            '"' | '`' => {
                result.push(c);
                for inside in characters.by_ref() {
                    result.push(inside);
                    if inside == c {
                        break;
                    }
                }
            }
            _ if (c.is_ascii_digit() || c == '$') && !is_of_name(last) => {
                while characters.next_if(|c| is_of_name(*c) || *c == '.').is_some() {}
                // `-1` and `1` are values alike.
                if result.ends_with('-') && !result.ends_with("--") {
                    result.pop();
                }
                result.push('?');
            }
            _ => result.push(c),
        }
        last = c;
    }
    result
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// To the end of a quoted text; a doubled quote stands for one.
fn skip_quoted(characters: &mut std::iter::Peekable<std::str::Chars<'_>>, quote: char) {
    while let Some(c) = characters.next() {
        if c == quote && characters.next_if_eq(&quote).is_none() {
            return;
        }
    }
}
