// What traffic can be grouped and filtered by: the names of the query API beside the words of the
// pages. A further grouping is a name here and its words below.

export const GROUPINGS = [
  "articles",
  "authors",
  "teams",
  "products",
  "languages",
  "human_languages",
  "countries",
  "article_years",
  "blogs",
  "days",
  "weeks",
  "months",
  "years",
] as const;
export type Grouping = (typeof GROUPINGS)[number];

/** Dimensions that a filter can name values of. */
export const DIMENSIONS = [
  "article",
  "author",
  "team",
  "product",
  "language",
  "human_language",
  "country",
  "blog",
] as const;
export type Dimension = (typeof DIMENSIONS)[number];

/** Groupings by time, from fine to coarse. */
export const GRAINS = ["days", "weeks", "months", "years"] as const;
export type Grain = (typeof GRAINS)[number];

interface Words {
  /** One row: 'Author'. */
  one: string;
  /** All rows: 'Authors'. */
  many: string;
  /** The filter whose keys the rows have. */
  dimension: Dimension | null;
}

const WORDS: Record<Grouping, Words> = {
  articles: { one: "Article", many: "Articles", dimension: "article" },
  authors: { one: "Author", many: "Authors", dimension: "author" },
  teams: { one: "Team", many: "Teams", dimension: "team" },
  products: { one: "Product", many: "Products", dimension: "product" },
  languages: { one: "Computer language", many: "Computer languages", dimension: "language" },
  human_languages: { one: "Language", many: "Languages", dimension: "human_language" },
  countries: { one: "Country", many: "Countries", dimension: "country" },
  article_years: { one: "Year of publication", many: "Years of publication", dimension: null },
  blogs: { one: "Blog", many: "Blogs", dimension: "blog" },
  days: { one: "Day", many: "Days", dimension: null },
  weeks: { one: "Week", many: "Weeks", dimension: null },
  months: { one: "Month", many: "Months", dimension: null },
  years: { one: "Year", many: "Years", dimension: null },
};

export function wordsOf(grouping: Grouping): Words {
  return WORDS[grouping];
}

/** The grouping whose rows have this dimension's keys. */
export function groupingOf(dimension: Dimension): Grouping {
  return GROUPINGS.find((grouping) => WORDS[grouping].dimension === dimension) ?? "articles";
}

/** A dimension in words: 'Computer language'. */
export function dimensionName(dimension: Dimension): string {
  return WORDS[groupingOf(dimension)].one;
}

export function isGrain(grouping: Grouping): grouping is Grain {
  return (GRAINS as readonly string[]).includes(grouping);
}
