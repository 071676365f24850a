//! RELIABILITY.md: its table is the only place where counts are kept, so that parts can be run one
//! by one, be interrupted, and add to what was tried before.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::damage::{Damage, bound_of_zero};

const HEAD: &str = "| what | tried | rows lost | rows doubled | panics | 95% bound | again |";
const RULE: &str = "|---|--:|--:|--:|--:|--:|---|";

/// The table of a document and the text around it.
pub struct ReliabilityTable {
    path: PathBuf,
    before: String,
    rows: Vec<TableRow>,
    after: String,
}

struct TableRow {
    what: String,
    tried: u64,
    damage: Damage,
    again: String,
}

impl ReliabilityTable {
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let (before, rest) = text
            .split_once(&format!("{HEAD}\n{RULE}\n"))
            .with_context(|| format!("{}: no table `{HEAD}`", path.display()))?;
        let end =
            rest.lines().take_while(|line| line.starts_with('|')).map(|it| it.len() + 1).sum();
        let (table, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
        let rows: Option<Vec<TableRow>> = table.lines().map(TableRow::parse).collect();
        let rows = rows.with_context(|| format!("{}: a row of the table", path.display()))?;
        Ok(Self { path: path.to_owned(), before: before.to_owned(), rows, after: after.to_owned() })
    }

    /// Adds one try, and writes the document.
    pub fn add(
        &mut self,
        what: &str,
        tries: u64,
        damage: Damage,
        again: &str,
    ) -> anyhow::Result<()> {
        match self.rows.iter_mut().find(|row| row.what == what) {
            Some(row) => {
                row.tried += tries;
                row.damage += damage;
                row.again = again.to_owned();
            }
            None => self.rows.push(TableRow {
                what: what.to_owned(),
                tried: tries,
                damage,
                again: again.to_owned(),
            }),
        }
        self.write()
    }

    /// How often it was tried.
    pub fn tried(&self, what: &str) -> u64 {
        self.rows.iter().find(|row| row.what == what).map_or(0, |row| row.tried)
    }

    fn write(&self) -> anyhow::Result<()> {
        let rows: String = self.rows.iter().map(TableRow::line).collect();
        let text = format!("{}{HEAD}\n{RULE}\n{rows}{}", self.before, self.after);
        let folder = self.path.parent().filter(|it| !it.as_os_str().is_empty());
        let mut file = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
        file.write_all(text.as_bytes())?;
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o644);
        file.as_file().set_permissions(mode)?;
        file.persist(&self.path)?;
        Ok(())
    }
}

impl TableRow {
    fn parse(line: &str) -> Option<Self> {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [what, tried, lost, doubled, panics, _bound, again] = cells.as_slice() else {
            return None;
        };
        let number = |text: &str| text.replace(',', "").parse().ok();
        Some(Self {
            what: (*what).to_owned(),
            tried: number(tried)?,
            damage: Damage {
                rows_lost: number(lost)?,
                rows_doubled: number(doubled)?,
                panics: number(panics)?,
            },
            again: (*again).to_owned(),
        })
    }

    fn line(&self) -> String {
        let Self { what, tried, damage: Damage { rows_lost, rows_doubled, panics }, again } = self;
        let bound = match self.damage == Damage::default() {
            true => format!("under {}%", two_digits_up(100.0 * bound_of_zero(*tried))),
            false => "-".to_owned(),
        };
        format!(
            "| {what} | {tried} | {rows_lost} | {rows_doubled} | {panics} | {bound} | {again} |\n"
        )
    }
}

/// Two significant digits, never less than the value.
fn two_digits_up(value: f64) -> String {
    let step = 10_f64.powf(value.log10().floor() - 1.0);
    let decimals = usize::try_from(-(step.log10().round() as i64)).unwrap_or(0);
    format!("{:.decimals$}", (value / step).ceil() * step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tries_are_added_to_the_table_and_the_text_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("R.md");
        fs::write(&path, format!("# Text\n\n{HEAD}\n{RULE}\n\nMore.\n")).unwrap();
        let mut document = ReliabilityTable::read(&path).unwrap();
        document.add("import", 1, Damage::default(), "`make`").unwrap();
        document.add("serve", 1, Damage { rows_lost: 2, ..Damage::default() }, "`make`").unwrap();
        let mut again = ReliabilityTable::read(&path).unwrap();
        again.add("import", 999, Damage::default(), "`make`").unwrap();
        assert_eq!(ReliabilityTable::read(&path).unwrap().tried("import"), 1000);
        let expected = format!(
            "# Text\n\n{HEAD}\n{RULE}\n| import | 1000 | 0 | 0 | 0 | under 0.30% | `make` |\n\
             | serve | 1 | 2 | 0 | 0 | - | `make` |\n\nMore.\n"
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), expected);
    }

    #[test]
    fn bounds_are_rounded_up() {
        let cases = [(0.2991, "0.30"), (95.0, "95"), (0.0299, "0.030"), (4.87, "4.9")];
        for (value, shown) in cases {
            assert_eq!(two_digits_up(value), shown);
        }
    }
}
