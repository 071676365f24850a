//! The shape of MariaDB's and MySQL's plans in JSON.

use crate::plan_text::without_values;

/// Members of MariaDB's and MySQL's JSON plans of the same kind; also all that begin with `r_`.
const NOT_SHAPE_JSON: [&str; 10] = [
    "rows",
    "filtered",
    "cost",
    "cost_info",
    "loops",
    "query_cost",
    "rows_examined_per_scan",
    "rows_produced_per_join",
    "data_read_per_join",
    "query_optimization",
];

pub(crate) fn shape(text: &str) -> String {
    match serde_json::from_str(text) {
        Ok(mut plan) => {
            strip(&mut plan);
            plan.to_string()
        }
        Err(_) => without_values(text),
    }
}

fn strip(plan: &mut serde_json::Value) {
    match plan {
        serde_json::Value::Object(members) => {
            members.retain(|name, _| {
                !NOT_SHAPE_JSON.contains(&name.as_str()) && !name.starts_with("r_")
            });
            members.values_mut().for_each(strip);
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(strip),
        serde_json::Value::String(text) => *text = without_values(text),
        _ => {}
    }
}
