//! Name of what a server is filled with: it tells data directories apart.

use engine::EngineSpec;
use plan::Placeholders;

/// The database that the laboratory makes in a managed server.
pub const DATABASE: &str = "crossover";

/// Names what a server is filled with: the data, and the commands that fill it.
pub fn filling(
    data_digest: &str,
    engine: &EngineSpec,
    commands: &[Vec<String>],
    values: &Placeholders,
) -> String {
    let design = engine.own("design").unwrap_or_default();
    // Programs before the first template let applications write to what they kept.
    let text = format!("template {data_digest} {design} {commands:?} {:?}", used(commands, values));
    format!("{:032x}", xxhash_rust::xxh3::xxh3_128(text.as_bytes()))
}

/// Those of `values` that are in `commands`.
fn used(commands: &[Vec<String>], values: &Placeholders) -> Placeholders {
    let stands = |name: &str| {
        let placeholder = format!("{{{name}}}");
        commands.iter().flatten().any(|word| word.contains(&placeholder))
    };
    values.iter().filter(|(name, _)| stands(name)).map(|(n, v)| (n.clone(), v.clone())).collect()
}
