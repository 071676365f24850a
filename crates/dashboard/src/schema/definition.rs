//! Tables and columns: the one place that both engines and all checks read.

use sea_query::IdenStatic;

use ColumnType::{BigInteger, Bytes, Integer, Varchar};

/// Version of this definition, stored in `schema_version`; raised by every change of it, together
/// with a step in `upgrade`.
pub const VERSION: i32 = 4;

/// A table of the dashboard; its SQL name is the variant in snake case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IdenStatic)]
pub enum Table {
    Blogs,
    Authors,
    Teams,
    Products,
    Languages,
    HumanLanguages,
    Countries,
    Articles,
    Traffic,
    UnmatchedTraffic,
    ImportedDays,
    ApiKeys,
    KeyExpiries,
    Accounts,
    Sessions,
    SchemaVersion,
    // The totals (see `rollup`), which may be absent.
    Totals,
}

/// A column of any of the tables; its SQL name is the variant in snake case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IdenStatic)]
pub enum Column {
    Id,
    Name,
    Code,
    Uuid,
    BlogId,
    Slug,
    Url,
    Title,
    AuthorId,
    TeamId,
    ProductId,
    LanguageId,
    HumanLanguageId,
    Published,
    OriginalId,
    Day,
    ArticleId,
    CountryId,
    Pageviews,
    Sessions,
    EngagementSeconds,
    State,
    KeyHash,
    CreatedAt,
    RevokedAt,
    KeyId,
    ExpiresAt,
    PasswordHash,
    TokenHash,
    AccountId,
    Version,
    DataVersion,
    TotalsVersion,
    Kind,
    Grain,
    Content,
}

/// The types in use; both engines know them under the same names, but for bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnType {
    /// 32 bits on PostgreSQL.
    Integer,
    /// 64 bits.
    BigInteger,
    /// Text of at most this number of characters.
    Varchar(u32),
    /// `blob` in SQLite, `bytea` in PostgreSQL.
    Bytes,
}

/// Which types are declared for the columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Declarations {
    Own,
    /// As the author of the article found them in the SQLite file that was moved to
    /// PostgreSQL: `slug` too short for some, `uuid` still an integer from earlier days.
    AsFound,
}

impl Declarations {
    /// The type declared for a column of `table`.
    #[must_use]
    pub fn column_type(self, table: Table, column: &ColumnDefinition) -> ColumnType {
        match (self, table, column.name) {
            (Self::AsFound, Table::Articles, Column::Uuid) => Integer,
            (Self::AsFound, Table::Articles, Column::Slug) => Varchar(256),
            _ => column.column_type,
        }
    }
}

/// One column with everything that is declared about it.
#[derive(Debug, Clone, Copy)]
pub struct ColumnDefinition {
    pub name: Column,
    /// Its type, unless [`Declarations`] say otherwise.
    pub column_type: ColumnType,
    pub nullable: bool,
    /// Whether a unique constraint stands on it.
    pub unique: bool,
    /// The table whose `id` it refers to.
    pub references: Option<Table>,
    /// Whether the row goes with the one that it refers to.
    pub deleted_with_it: bool,
    /// Whether it has an index of its own (not unique).
    pub indexed: bool,
}

/// One table with its columns, in their order.
#[derive(Debug, Clone, Copy)]
pub struct TableDefinition {
    pub name: Table,
    pub columns: &'static [ColumnDefinition],
    /// The columns of its primary key; in SQLite a table with more than one is WITHOUT ROWID.
    pub primary_key: &'static [Column],
}

/// All tables but the totals; a table comes after those it refers to.
pub const TABLES: &[TableDefinition] = &[
    names(Table::Blogs),
    names(Table::Authors),
    names(Table::Teams),
    names(Table::Products),
    names(Table::Languages),
    names(Table::HumanLanguages),
    TableDefinition {
        name: Table::Countries,
        columns: &[
            column(Column::Id, Integer),
            // ISO 3166-1 alpha-2
            column(Column::Code, Varchar(2)).unique(),
            column(Column::Name, Varchar(64)),
        ],
        primary_key: &[Column::Id],
    },
    TableDefinition {
        name: Table::Articles,
        columns: &[
            column(Column::Id, Integer),
            column(Column::Uuid, Varchar(36)).unique(),
            column(Column::BlogId, Integer).references(Table::Blogs),
            column(Column::Slug, Varchar(512)).indexed(),
            column(Column::Url, Varchar(1024)),
            column(Column::Title, Varchar(512)),
            column(Column::AuthorId, Integer).references(Table::Authors),
            column(Column::TeamId, Integer).references(Table::Teams),
            column(Column::ProductId, Integer).references(Table::Products),
            column(Column::LanguageId, Integer).references(Table::Languages),
            column(Column::HumanLanguageId, Integer).references(Table::HumanLanguages),
            // days since 1970-01-01, as traffic.day
            column(Column::Published, Integer).indexed(),
            column(Column::OriginalId, Integer).references(Table::Articles).nullable(),
        ],
        primary_key: &[Column::Id],
    },
    TableDefinition {
        name: Table::Traffic,
        columns: &[
            column(Column::Day, Integer),
            column(Column::ArticleId, Integer).references(Table::Articles).not_indexed(),
            column(Column::CountryId, Integer).references(Table::Countries).not_indexed(),
            column(Column::Pageviews, Integer),
            column(Column::Sessions, Integer),
            column(Column::EngagementSeconds, Integer),
        ],
        primary_key: &[Column::Day, Column::ArticleId, Column::CountryId],
    },
    // Traffic whose URL is that of no article; kept until one comes.
    TableDefinition {
        name: Table::UnmatchedTraffic,
        columns: &[
            column(Column::Day, Integer),
            // in the form in which URLs are compared
            column(Column::Url, Varchar(1024)),
            column(Column::CountryId, Integer).references(Table::Countries).not_indexed(),
            column(Column::Pageviews, Integer),
            column(Column::Sessions, Integer),
            column(Column::EngagementSeconds, Integer),
        ],
        primary_key: &[Column::Day, Column::Url, Column::CountryId],
    },
    // From facts alone a day that was never imported and one without traffic look equal.
    TableDefinition {
        name: Table::ImportedDays,
        columns: &[
            column(Column::BlogId, Integer).references(Table::Blogs).not_indexed(),
            column(Column::Day, Integer),
            // a name of `imported_days::DayState`
            column(Column::State, Varchar(16)),
        ],
        primary_key: &[Column::BlogId, Column::Day],
    },
    TableDefinition {
        name: Table::ApiKeys,
        columns: &[
            column(Column::Id, Integer),
            column(Column::Name, Varchar(64)).unique(),
            // SHA-256 in hexadecimal; the key itself is never stored
            column(Column::KeyHash, Varchar(64)),
            // seconds since 1970-01-01
            column(Column::CreatedAt, Integer),
            column(Column::RevokedAt, Integer).nullable(),
        ],
        primary_key: &[Column::Id],
    },
    TableDefinition {
        name: Table::KeyExpiries,
        columns: &[
            column(Column::KeyId, Integer).references(Table::ApiKeys).not_indexed(),
            // seconds since 1970-01-01
            column(Column::ExpiresAt, BigInteger),
        ],
        primary_key: &[Column::KeyId],
    },
    TableDefinition {
        name: Table::Accounts,
        columns: &[
            column(Column::Id, Integer),
            column(Column::Name, Varchar(64)).unique(),
            // what argon2 makes of it
            column(Column::PasswordHash, Varchar(255)),
            // seconds since 1970-01-01
            column(Column::CreatedAt, BigInteger),
        ],
        primary_key: &[Column::Id],
    },
    TableDefinition {
        name: Table::Sessions,
        columns: &[
            // SHA-256 in hexadecimal; the token itself is never stored
            column(Column::TokenHash, Varchar(64)),
            column(Column::AccountId, Integer)
                .references(Table::Accounts)
                .deleted_with_it()
                .not_indexed(),
            // seconds since 1970-01-01
            column(Column::CreatedAt, BigInteger),
            column(Column::ExpiresAt, BigInteger),
        ],
        primary_key: &[Column::TokenHash],
    },
    TableDefinition {
        name: Table::SchemaVersion,
        columns: &[
            column(Column::Version, Integer),
            // another number after every change of facts, articles or names
            column(Column::DataVersion, Integer),
            // the data version that the totals belong to
            column(Column::TotalsVersion, Integer).nullable(),
        ],
        primary_key: &[Column::Version],
    },
];

/// The table of totals: the `rollup` design's part of the schema. It holds nothing that the facts
/// do not, so it can be dropped and made again at any time.
pub const TOTALS: TableDefinition = TableDefinition {
    name: Table::Totals,
    columns: &[
        column(Column::Kind, Integer),
        column(Column::Grain, Integer),
        column(Column::Day, Integer),
        // packed by `rollup::page`
        column(Column::Content, Bytes),
    ],
    primary_key: &[Column::Kind, Column::Grain, Column::Day],
};

/// A table that only gives numbers to names.
const fn names(name: Table) -> TableDefinition {
    const COLUMNS: &[ColumnDefinition] =
        &[column(Column::Id, Integer), column(Column::Name, Varchar(64)).unique()];
    TableDefinition { name, columns: COLUMNS, primary_key: &[Column::Id] }
}

const fn column(name: Column, column_type: ColumnType) -> ColumnDefinition {
    ColumnDefinition {
        name,
        column_type,
        nullable: false,
        unique: false,
        references: None,
        deleted_with_it: false,
        indexed: false,
    }
}

impl ColumnDefinition {
    const fn nullable(mut self) -> Self {
        self.nullable = true;
        self
    }

    const fn unique(mut self) -> Self {
        self.unique = true;
        self
    }

    const fn indexed(mut self) -> Self {
        self.indexed = true;
        self
    }

    /// The facts are read by day: an index on their other keys would only mislead the planners.
    /// Sessions are few.
    const fn not_indexed(mut self) -> Self {
        self.indexed = false;
        self
    }

    const fn deleted_with_it(mut self) -> Self {
        self.deleted_with_it = true;
        self
    }

    const fn references(mut self, table: Table) -> Self {
        self.references = Some(table);
        self.indexed = true;
        self
    }
}

impl Table {
    #[must_use]
    pub fn name(self) -> &'static str {
        self.as_str()
    }
}

impl Column {
    #[must_use]
    pub fn name(self) -> &'static str {
        self.as_str()
    }
}
