//! Dimensions: the columns by which traffic is filtered and grouped, one line of one table each.
//!
//! Queries, statements, totals, the catalog, the data version, imports and the reference dataset
//! read this table. A further line also needs its tables and columns in `definition`, a variant of
//! `Grouping` to group by it, and its parameters in the document of the API.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Column, Table};

/// Makes the enum, its names and its places in the schema from the lines of the table.
macro_rules! dimensions {
    ($($dimension:ident: $name:literal, $table:ident, $key:ident, $label:ident, $search:ident,
        $refers_in:ident $refers_by:ident;)*) => {
        /// The dimensions that a filter can name values of.
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
            ToSchema,
        )]
        #[serde(rename_all = "snake_case")]
        pub enum Dimension {
            $($dimension,)*
        }

        /// Every dimension, in the order of the table.
        pub const DIMENSIONS: &[Dimension] = &[$(Dimension::$dimension),*];

        impl Dimension {
            /// The name in the API, and the parameter that lets its values in.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$dimension => $name,)*
                }
            }

            /// The parameter that leaves its values out.
            #[must_use]
            pub const fn exclude(self) -> &'static str {
                match self {
                    $(Self::$dimension => concat!("not_", $name),)*
                }
            }

            #[must_use]
            pub const fn place(self) -> DimensionPlace {
                match self {
                    $(Self::$dimension => DimensionPlace {
                        table: Table::$table,
                        key: Column::$key,
                        label: Column::$label,
                        search: Column::$search,
                        refers: (Table::$refers_in, Column::$refers_by),
                    },)*
                }
            }
        }
    };
}

// dimension: name, table of its values: key, label, what else is searched, column of their id
dimensions! {
    Blog: "blog", Blogs, Name, Name, Name, Articles BlogId;
    Author: "author", Authors, Name, Name, Name, Articles AuthorId;
    Team: "team", Teams, Name, Name, Name, Articles TeamId;
    Product: "product", Products, Name, Name, Name, Articles ProductId;
    Language: "language", Languages, Name, Name, Name, Articles LanguageId;
    HumanLanguage: "human_language", HumanLanguages, Name, Name, Name, Articles HumanLanguageId;
    Country: "country", Countries, Code, Name, Name, Traffic CountryId;
    Article: "article", Articles, Uuid, Title, Url, Articles Id;
}

/// The place of a dimension in the schema.
#[derive(Debug, Clone, Copy)]
pub struct DimensionPlace {
    /// The table that has a row for each value.
    pub table: Table,
    pub key: Column,
    /// The same as the key where values have a name only.
    pub label: Column,
    /// A further column that is searched.
    pub search: Column,
    /// The column of the facts or the articles that holds a value's id.
    pub refers: (Table, Column),
}

impl DimensionPlace {
    #[must_use]
    pub const fn has_label(self) -> bool {
        self.label as u8 != self.key as u8
    }

    /// Whether an article, and not a fact, says which value it has.
    #[must_use]
    pub const fn is_of_articles(self) -> bool {
        matches!(self.refers.0, Table::Articles)
    }
}

/// How many dimensions are names that articles refer to.
const NAMES: usize = {
    let (mut count, mut place) = (0, 0);
    while place < DIMENSIONS.len() {
        count += is_name(DIMENSIONS[place]) as usize;
        place += 1;
    }
    count
};

/// The dimensions that are names which articles refer to: all but country and article.
pub const NAMED: [Dimension; NAMES] = {
    let mut names = [Dimension::Blog; NAMES];
    let (mut count, mut place) = (0, 0);
    while place < DIMENSIONS.len() {
        if is_name(DIMENSIONS[place]) {
            names[count] = DIMENSIONS[place];
            count += 1;
        }
        place += 1;
    }
    names
};

const fn is_name(dimension: Dimension) -> bool {
    let place = dimension.place();
    !place.has_label() && place.is_of_articles()
}
