//! Framework of the application that made a file, recognised by the tables in which it remembers its
//! own migrations. It makes its tables in PostgreSQL with types of its own.

use serde::Serialize;

use super::schema::{SourceSchema, SourceTable};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Framework {
    Django,
    SqlAlchemy,
    Rails,
    TypeOrm,
    Sequelize,
}

impl Framework {
    const ALL: [Self; 5] =
        [Self::Django, Self::SqlAlchemy, Self::Rails, Self::TypeOrm, Self::Sequelize];

    /// The framework whose tables a file has.
    pub fn of(schema: &SourceSchema) -> Option<Self> {
        let has = |(name, columns): &(&str, &[&str])| {
            let has_columns =
                |table: &SourceTable| columns.iter().all(|column| table.column(column).is_some());
            let mut tables = schema.tables.iter();
            tables.any(|table| table.name.eq_ignore_ascii_case(name) && has_columns(table))
        };
        Self::ALL.into_iter().find(|each| each.marks().iter().all(has))
    }

    /// Tables with columns that every file of it has.
    fn marks(self) -> &'static [(&'static str, &'static [&'static str])] {
        match self {
            Self::Django => &[("django_migrations", &["app", "name", "applied"])],
            Self::SqlAlchemy => &[("alembic_version", &["version_num"])],
            Self::Rails => {
                &[("ar_internal_metadata", &["key", "value"]), ("schema_migrations", &["version"])]
            }
            Self::TypeOrm => &[("migrations", &["id", "timestamp", "name"])],
            Self::Sequelize => &[("SequelizeMeta", &["name"])],
        }
    }

    /// The framework whose versions a table holds, with the columns that name one.
    pub fn of_versions(table: &SourceTable) -> Option<(Self, Vec<usize>)> {
        Self::ALL.into_iter().find_map(|each| {
            let (name, columns) = each.versions();
            let columns = columns.iter().map(|column| table.column(column)).collect::<Option<_>>();
            let columns = columns.filter(|_| table.name.eq_ignore_ascii_case(name))?;
            Some((each, columns))
        })
    }

    /// The table of its versions, with the columns that name one.
    fn versions(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Self::Django => ("django_migrations", &["app", "name"]),
            Self::SqlAlchemy => ("alembic_version", &["version_num"]),
            Self::Rails => ("schema_migrations", &["version"]),
            Self::TypeOrm => ("migrations", &["timestamp", "name"]),
            Self::Sequelize => ("SequelizeMeta", &["name"]),
        }
    }

    /// The framework that writes rows about each database into a table, with the columns that show one.
    pub fn of_own_rows(table: &SourceTable) -> Option<(Self, &'static [&'static str])> {
        let (name, columns) = ("ar_internal_metadata", &["key", "value"]);
        let has_columns = columns.iter().all(|column| table.column(column).is_some());
        let is_it = has_columns && table.name.eq_ignore_ascii_case(name);
        is_it.then_some((Self::Rails, columns))
    }

    /// As people write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Django => "Django",
            Self::SqlAlchemy => "SQLAlchemy",
            Self::Rails => "Rails",
            Self::TypeOrm => "TypeORM",
            Self::Sequelize => "Sequelize",
        }
    }

    /// The command that makes its tables.
    pub fn command(self) -> &'static str {
        match self {
            Self::Django => "python manage.py migrate",
            Self::SqlAlchemy => "alembic upgrade head",
            Self::Rails => "bin/rails db:migrate",
            Self::TypeOrm => "npx typeorm migration:run -d FILE",
            Self::Sequelize => "npx sequelize-cli db:migrate",
        }
    }

    /// The flags of the move into its tables; some it fills by itself, with times of its own.
    fn flags(self) -> &'static str {
        match self {
            Self::Django | Self::Rails => "--data-only --replace",
            Self::SqlAlchemy | Self::TypeOrm | Self::Sequelize => "--data-only",
        }
    }

    /// The advice where Crossover would make the tables; `source` and `more` are ready to paste.
    pub fn advice(self, source: &str, more: &str) -> String {
        let tables: Vec<&str> = self.marks().iter().map(|(table, _)| *table).collect();
        format!(
            "{} (by its {} {}) expects other types than crossover migrate chooses: let it make its \
             tables in an empty PostgreSQL database ({}), then crossover migrate {source} URL {}{more}{}",
            self.name(),
            if tables.len() == 1 { "table" } else { "tables" },
            tables.join(" and "),
            self.command(),
            self.flags(),
            self.caution()
        )
    }

    /// Faults of the recipe that the framework does not name, after it.
    fn caution(self) -> &'static str {
        match self {
            Self::TypeOrm => {
                ". Its migrations for SQLite are SQLite's SQL: generate them for PostgreSQL first, with \
                 the same names and timestamps. Declare moments as timestamptz: it reads a timestamp in \
                 the time zone of its process"
            }
            Self::Django | Self::SqlAlchemy | Self::Rails | Self::Sequelize => "",
        }
    }
}
