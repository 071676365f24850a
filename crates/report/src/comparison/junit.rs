//! A comparison in the XML that CI servers read from JUnit: a test case for each treatment.

use notation::digits;

use super::text::verdict;
use super::{Comparison, Regression, Row, Verdict};
use crate::analysis::number;

/// A regression is a failure, an open question is skipped, everything else has passed. Where no
/// regression was asked for, a treatment that is shown slower is a failure.
pub fn junit(comparison: &Comparison) -> String {
    let cases: Vec<String> = comparison.rows.iter().map(case).collect();
    let count = |part: &str| cases.iter().filter(|case| case.contains(part)).count();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <testsuite name=\"crossover compare\" tests=\"{}\" failures=\"{}\" skipped=\"{}\">\n\
         {}  <system-out>{}</system-out>\n</testsuite>\n",
        cases.len(),
        count("<failure"),
        count("<skipped"),
        cases.concat(),
        escaped(&comparison.summary.headline)
    )
}

fn case(row: &Row) -> String {
    let name = match row.place.as_str() {
        "" => "all".to_owned(),
        place => escaped(place),
    };
    let shown = match verdict(row) {
        "" => "no verdict",
        shown => shown,
    };
    let said = escaped(&format!(
        "{shown}: B takes {} of A's time, {} ms against {} ms",
        number(&row.ratio),
        digits(row.b_response_time_ms),
        digits(row.a_response_time_ms)
    ));
    let inside = match (row.regression, row.verdict) {
        (Some(Regression::Yes), _) | (None, Some(Verdict::Slower)) => {
            format!("<failure message=\"{said}\"/>")
        }
        (Some(Regression::Undecided), _) | (None, None | Some(Verdict::Undecided)) => {
            format!("<skipped message=\"{said}\"/>")
        }
        _ => format!("<system-out>{said}</system-out>"),
    };
    let (class, seconds) = (escaped(&row.engine_b), row.b_response_time_ms / 1e3);
    format!(
        "  <testcase classname=\"{class}\" name=\"{name}\" time=\"{seconds:.6}\">{inside}</testcase>\n"
    )
}

/// XML's reserved characters as entities; control characters, which it does not have, left out.
fn escaped(text: &str) -> String {
    let mut safe = String::new();
    for c in text.chars().filter(|c| !c.is_control() || *c == '\n') {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn reserved_characters_are_entities() {
        let text = escaped("a < b & \"c\" > \u{1}d");
        assert_eq!(text, "a &lt; b &amp; &quot;c&quot; &gt; d");
    }
}
