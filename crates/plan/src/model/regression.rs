//! Sides that `fail_on_regression` compares: engines with the first of them, or versions.

use std::collections::BTreeSet;

use crate::model::placeholder::names_in;
use crate::{Data, Plan, PlanError};

/// Sides of the question whether something has become slower.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegressionSides<'p> {
    /// Every engine and the first.
    Engines,
    /// Every level of this factor and its first, on each engine.
    Levels(&'p str),
}

impl Plan {
    /// The sides that the plan has. A factor in the path of a statement's file is a version of that
    /// statement, whatever the engines; one in an engine, in the path of the data or in the application's
    /// commands stands for a version where there is one engine only.
    pub fn regression_sides(&self) -> Result<RegressionSides<'_>, PlanError> {
        let in_statements = self.statements.iter().flat_map(|one| one.version_factors());
        let in_statements: BTreeSet<&str> = in_statements.map(String::as_str).collect();
        if in_statements.is_empty() && self.engines.len() > 1 {
            return Ok(RegressionSides::Engines);
        }
        let mut names = match in_statements.is_empty() {
            true => self.names_of_versions(),
            false => in_statements,
        };
        let is_varied = |name: &str| {
            let factor = self.factors.get(name);
            factor.filter(|factor| factor.levels.len() > 1 && factor.swept.is_none()).is_some()
        };
        names.retain(|name| is_varied(name));
        let refused = |message: String| Err(PlanError::impossible("fail_on_regression", message));
        match names.into_iter().collect::<Vec<_>>().as_slice() {
            [] => refused(
                "has nothing to compare: name a second engine, or a factor in the path of a \
                 statement's file or of the data, in the engine, or in the application's commands, \
                 such as {version}/query.sql with [factors] version = [\"old\", \"new\"] (bench sql: \
                 --factor version=old,new)"
                    .to_owned(),
            ),
            // The plan's own name, which outlives the list.
            [only] => match self.factors.get_key_value(*only) {
                Some((name, _)) => Ok(RegressionSides::Levels(name)),
                None => refused(format!("{only} is not a factor")),
            },
            several => refused(format!(
                "cannot tell which of the factors {} is the version: keep one of them",
                several.join(" and ")
            )),
        }
    }

    fn names_of_versions(&self) -> BTreeSet<&str> {
        let mut names = BTreeSet::new();
        if let Data::File(path) = &self.data {
            names.extend(path.to_str().into_iter().flat_map(names_in));
        }
        names.extend(self.application.texts().flat_map(|(_, text)| names_in(text)));
        let known = |name: &&String| {
            let mark = format!("{{{name}}}");
            self.engines.iter().any(|engine| engine.to_string().contains(&mark))
        };
        names.extend(self.factors.keys().filter(known).map(String::as_str));
        names
    }

    pub(crate) fn check_regression(&self) -> Result<(), PlanError> {
        match self.fail_on_regression {
            Some(_) => self.regression_sides().map(drop),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {

    fn sides(engines: &str, data: &str, file: &str, factors: &str) -> Result<String, String> {
        let folder = tempfile::tempdir().unwrap();
        for version in ["old", "new"] {
            std::fs::create_dir(folder.path().join(version)).unwrap();
            std::fs::write(folder.path().join(version).join("q.sql"), "SELECT 1").unwrap();
        }
        std::fs::write(folder.path().join("q.sql"), "SELECT 1").unwrap();
        let file = folder.path().join(file);
        let text = format!(
            "title = 'a'\nworkload = 'sql'\nengines = {engines}\ndata = '{data}'\n\
             fail_on_regression = '10%'\n[[statement]]\nfile = '{}'\n[factors]\n{factors}",
            file.display()
        );
        let plan = crate::read(&text, "plan.toml").map_err(|error| error.to_string())?;
        plan.regression_sides().map(|sides| format!("{sides:?}")).map_err(|it| it.to_string())
    }

    #[test]
    fn versions_come_before_engines() {
        let version = "version = ['old', 'new']\nclients = [1, 4]";
        let levels = Ok("Levels(\"version\")".to_owned());
        let two = "['sqlite:a.db', 'sqlite:b.db']";
        assert_eq!(sides(two, "present", "q.sql", ""), Ok("Engines".to_owned()));
        assert_eq!(sides(two, "present", "{version}/q.sql", version), levels);
        assert_eq!(sides("['sqlite']", "{version}.db", "q.sql", version), levels);
        assert_eq!(sides("['sqlite:{version}.db']", "present", "q.sql", version), levels);
        assert_eq!(sides(two, "{version}.db", "q.sql", version), Ok("Engines".to_owned()));
        let none = sides("['sqlite:a.db']", "present", "q.sql", "clients = [1, 4]").unwrap_err();
        assert!(none.contains("line 5"), "{none}");
        assert!(none.contains("fail_on_regression: has nothing to compare"), "{none}");
        let more = "version = ['old', 'new']\nrelease = [1, 2]";
        let several = sides("['sqlite']", "{version}-{release}.db", "q.sql", more).unwrap_err();
        assert!(several.contains("which of the factors release and version"), "{several}");
    }
}
