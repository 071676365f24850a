//! The kind of an engine, whatever it comes from.

/// All engines of one program: they share their language, their settings, their plans.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    strum::VariantArray,
    strum::IntoStaticStr,
)]
#[strum(serialize_all = "lowercase")]
pub enum EngineKind {
    Sqlite,
    Postgres,
    Mariadb,
    /// MySQL or MariaDB: a URL does not tell them apart.
    Mysql,
    /// An application, whatever its database.
    Http,
    /// Files in one folder.
    Dir,
    /// Files in nested folders.
    Tree,
    /// Files whose names are in a SQLite database.
    #[strum(serialize = "sqlite+dir")]
    SqliteDir,
}

impl EngineKind {
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// As plans and file names write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }

    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }

    /// Whether it works inside the process that asks it.
    #[must_use]
    pub fn is_embedded(self) -> bool {
        match self {
            Self::Sqlite | Self::Dir | Self::Tree | Self::SqliteDir => true,
            Self::Postgres | Self::Mariadb | Self::Mysql | Self::Http => false,
        }
    }

    /// Whether Crossover itself reads and writes files in its place.
    #[must_use]
    pub fn has_files(self) -> bool {
        match self {
            Self::Dir | Self::Tree | Self::SqliteDir => true,
            Self::Sqlite | Self::Postgres | Self::Mariadb | Self::Mysql | Self::Http => false,
        }
    }
}
