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

    /// The one table of what differs between kinds.
    #[must_use]
    pub fn properties(self) -> KindProperties {
        match self {
            Self::Sqlite => KindProperties {
                product: "SQLite",
                is_embedded: true,
                is_hosted: true,
                runs_oltp: true,
                stores_utf16: true,
                sets_by_pragma: true,
                takes_library: true,
                durability_settings: SQLITE_DURABILITY,
                ..NONE
            },
            Self::Postgres => KindProperties {
                product: "PostgreSQL",
                branch_parts: 1,
                is_hosted: true,
                runs_oltp: true,
                collates_by_language: true,
                has_dated_releases: true,
                durability_settings: [
                    &[("synchronous_commit", "off"), ("fsync", "off")],
                    &[("fsync", "off")],
                    &[],
                ],
                ..NONE
            },
            Self::Mariadb => KindProperties {
                product: "MariaDB",
                branch_parts: 2,
                runs_oltp: true,
                collates_by_language: true,
                listens_on_socket_alone: true,
                ..NONE
            },
            Self::Mysql => KindProperties {
                product: "MySQL",
                branch_parts: 2,
                runs_oltp: true,
                collates_by_language: true,
                is_named_by_url: true,
                ..NONE
            },
            Self::Http => KindProperties {
                product: "an application",
                is_application: true,
                is_named_by_url: true,
                ..NONE
            },
            Self::Dir => KindProperties { product: "a folder of files", ..FILES },
            Self::Tree => KindProperties { product: "a tree of folders", ..FILES },
            Self::SqliteDir => KindProperties {
                product: "SQLite with files",
                durability_settings: SQLITE_DURABILITY,
                ..FILES
            },
        }
    }
}

/// Properties that decide elsewhere how an engine is treated.
#[derive(Clone, Copy, Debug)]
pub struct KindProperties {
    /// As people call it.
    pub product: &'static str,
    /// Parts of a version that name a branch: 1 of `18.1`, 2 of `11.4.5`, 0 where reports name none.
    pub branch_parts: usize,
    /// It works inside the process that asks it.
    pub is_embedded: bool,
    /// Crossover itself reads and writes files in its place.
    pub has_files: bool,
    /// An application, whatever its database.
    pub is_application: bool,
    /// It has no name of its own in a plan, but a URL.
    pub is_named_by_url: bool,
    /// Crossover copies data into it for applications and statements, with steps and statistics.
    pub is_hosted: bool,
    /// The workload `oltp` is written for it.
    pub runs_oltp: bool,
    /// Text may be stored in UTF-16, and not in encodings of one byte.
    pub stores_utf16: bool,
    /// Its settings are set by PRAGMA, others by SET.
    pub sets_by_pragma: bool,
    /// A shared library of the user's, or one compiled for the run, can take the place of the built-in one.
    pub takes_library: bool,
    /// Settings by which a finished write survives nothing, a crash of the program, or a loss of
    /// power.
    pub durability_settings: [&'static [(&'static str, &'static str)]; 3],
    /// It compares texts by the rules of a language.
    pub collates_by_language: bool,
    /// A server of Crossover's is reached by a Unix socket alone.
    pub listens_on_socket_alone: bool,
    /// Dates of its releases are known.
    pub has_dated_releases: bool,
}

const NONE: KindProperties = KindProperties {
    product: "",
    branch_parts: 0,
    is_embedded: false,
    has_files: false,
    is_application: false,
    is_named_by_url: false,
    is_hosted: false,
    runs_oltp: false,
    stores_utf16: false,
    sets_by_pragma: false,
    takes_library: false,
    durability_settings: [&[]; 3],
    collates_by_language: false,
    listens_on_socket_alone: false,
    has_dated_releases: false,
};

const SQLITE_DURABILITY: [&[(&str, &str)]; 3] = [
    &[("journal_mode", "off"), ("synchronous", "off")],
    &[("journal_mode", "wal"), ("synchronous", "off")],
    &[("journal_mode", "wal"), ("synchronous", "full")],
];

const FILES: KindProperties = KindProperties { is_embedded: true, has_files: true, ..NONE };
