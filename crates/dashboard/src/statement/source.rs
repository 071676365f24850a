//! Where the numbers of a question come from: the facts, or totals that hold the same for longer
//! spans or for all articles of a key. Whatever it is, the statement around it calls it `traffic`.

use sea_query::{
    Alias, Expr, ExprTrait as _, IntoTableRef as _, Query as Select, SelectStatement, UnionType,
};

use super::dialect::join;
use super::{Conditions, Design};
use crate::query::{Count, Field, Grouping, Period, Query, Translations};
use crate::rollup::calendar::{Grain, parts};
use crate::rollup::definition::{self, METRICS, grain_number};
use crate::schema::{Column, Dialect, Table};

/// The kinds of source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// The facts of each day.
    Facts,
    /// Totals by article, of days, months and years.
    Articles,
    /// Totals by country and article, of quarters; the facts for the rest.
    Countries,
    /// Totals by blog and the keys of one dimension, of days, months and years.
    Dimension(definition::Dimension),
}

impl Source {
    /// The source with the fewest rows that answers `query` exactly.
    pub(super) fn of(query: &Query, conditions: &Conditions, design: Design) -> Self {
        if design == Design::Daily {
            return Self::Facts;
        }
        let needs_each_article = query.grouping == Grouping::Articles
            || query.translations == Translations::Grouped
            || query.count == Some(Count::Articles)
            || !conditions.published.is_open()
            || !conditions.not_published.is_open();
        let mut dimensions: Vec<definition::Dimension> = Vec::new();
        let mut note = |dimension: definition::Dimension| {
            if dimension != definition::Dimension::Blog && !dimensions.contains(&dimension) {
                dimensions.push(dimension);
            }
        };
        of_grouping(query.grouping).into_iter().for_each(&mut note);
        query.split.iter().for_each(|_| note(definition::Dimension::Country));
        let mut names_articles = false;
        for condition in &conditions.values {
            match of_field(condition.field) {
                Some(dimension) => note(dimension),
                None => names_articles = true,
            }
        }
        match dimensions[..] {
            _ if needs_each_article || names_articles => {}
            [] => return Self::Dimension(definition::Dimension::Blog),
            [dimension] => return Self::Dimension(dimension),
            _ => {}
        }
        let by_country = dimensions.contains(&definition::Dimension::Country);
        if by_country { Self::Countries } else { Self::Articles }
    }

    /// The table that has the columns of the articles.
    pub(super) fn articles(self) -> Table {
        match self {
            Self::Dimension(_) => Table::Traffic,
            _ => Table::Articles,
        }
    }

    /// Begins a statement over the period.
    pub(super) fn select(
        self,
        query: &Query,
        period: Period,
        conditions: &Conditions,
        dialect: Dialect,
    ) -> SelectStatement {
        let traffic = Alias::new(Table::Traffic.name());
        if self == Self::Facts {
            let day = Expr::col((Table::Traffic, Column::Day));
            return Select::select()
                .from(Table::Traffic)
                .and_where(day.between(period.start().number(), period.end().number()))
                .take();
        }
        let grains = self.grains(query.grouping);
        // The articles' filters narrow the totals themselves, unless a translation counts for
        // another article than its own.
        let narrowing = (query.translations == Translations::Separate).then_some(conditions);
        let mut all: Option<SelectStatement> = None;
        for (grain, part) in parts(period, &grains) {
            let select = self.part(grain, part, narrowing, dialect);
            all = Some(match all {
                None => select,
                Some(mut all) => all.union(UnionType::All, select).take(),
            });
        }
        let all = all.unwrap_or_default();
        Select::select().from_subquery(all, traffic).take()
    }

    /// The spans it can be put together from, from long to short. Rows of time allow none that
    /// is longer than their own.
    fn grains(self, grouping: Grouping) -> Vec<Grain> {
        let longest = match grouping {
            Grouping::Days | Grouping::Weeks => Grain::Day,
            Grouping::Months => Grain::Month,
            _ => Grain::Year,
        };
        let all: &[Grain] = match self {
            Self::Countries => &[Grain::Quarter, Grain::Day],
            _ => &[Grain::Year, Grain::Month, Grain::Day],
        };
        all.iter().copied().filter(|grain| *grain <= longest).collect()
    }

    /// The rows of one run of spans.
    fn part(
        self,
        grain: Grain,
        part: Period,
        narrowing: Option<&Conditions>,
        dialect: Dialect,
    ) -> SelectStatement {
        let table = match (self, grain) {
            (Self::Dimension(_), _) => Table::DimensionTotals,
            (Self::Countries, Grain::Quarter) => Table::CountryQuarters,
            (Self::Articles, Grain::Year) => Table::ArticleYears,
            (Self::Articles, Grain::Month) => Table::ArticleMonths,
            (Self::Articles, _) => Table::ArticleDays,
            _ => Table::Traffic,
        };
        let mut select = Select::select();
        let day = Expr::col((table, Column::Day));
        let of_part = day.between(part.start().number(), part.end().number());
        select.column((table, Column::Day));
        match self {
            Self::Dimension(dimension) => {
                select.column((table, Column::BlogId));
                if let Some(column) = dimension.column() {
                    select.expr_as(Expr::col((table, Column::Key)), column);
                }
                select.from(table);
                let grain = Expr::cust(grain_number(grain).to_string());
                select.and_where(Expr::col((table, Column::Grain)).eq(grain));
                let number = Expr::cust(dimension.number().to_string());
                select.and_where(Expr::col((table, Column::Dimension)).eq(number));
            }
            _ => {
                select.column((table, Column::ArticleId));
                if self == Self::Countries {
                    select.column((table, Column::CountryId));
                }
                from_articles(&mut select, table, narrowing, dialect);
            }
        }
        for metric in METRICS {
            select.column((table, metric));
        }
        select.and_where(of_part);
        select
    }
}

/// The rows of a table by articles, with the filters on articles applied. `article_days` is kept
/// by article, so its rows are looked up for each article; all others by day, so their articles
/// are looked up for each row.
fn from_articles(
    select: &mut SelectStatement,
    table: Table,
    narrowing: Option<&Conditions>,
    dialect: Dialect,
) {
    let narrowing = narrowing.filter(|conditions| conditions.need_articles());
    let refers = Expr::col((Table::Articles, Column::Id)).equals((table, Column::ArticleId));
    if table == Table::ArticleDays {
        select.from(Table::Articles);
        join(select, table.into_table_ref(), refers, dialect);
    } else {
        select.from(table);
        if narrowing.is_some() {
            join(select, Table::Articles.into_table_ref(), refers, dialect);
        }
    }
    if let Some(conditions) = narrowing {
        conditions.add_of_articles(select);
    }
}

/// The dimension of totals that a grouping needs; rows of time need none.
fn of_grouping(grouping: Grouping) -> Option<definition::Dimension> {
    use definition::Dimension;
    match grouping {
        Grouping::Products => Some(Dimension::Product),
        Grouping::Teams => Some(Dimension::Team),
        Grouping::Authors => Some(Dimension::Author),
        Grouping::Languages => Some(Dimension::Language),
        Grouping::HumanLanguages => Some(Dimension::HumanLanguage),
        Grouping::Countries => Some(Dimension::Country),
        Grouping::ArticleYears => Some(Dimension::PublicationYear),
        Grouping::Blogs => Some(Dimension::Blog),
        Grouping::Articles
        | Grouping::Days
        | Grouping::Weeks
        | Grouping::Months
        | Grouping::Years => None,
    }
}

/// The dimension of totals that a filter needs; none for single articles.
fn of_field(field: Field) -> Option<definition::Dimension> {
    use definition::Dimension;
    match field {
        Field::Blog => Some(Dimension::Blog),
        Field::Author => Some(Dimension::Author),
        Field::Team => Some(Dimension::Team),
        Field::Product => Some(Dimension::Product),
        Field::Language => Some(Dimension::Language),
        Field::HumanLanguage => Some(Dimension::HumanLanguage),
        Field::Country => Some(Dimension::Country),
        Field::Article => None,
    }
}
