// Everything that a reader chooses, as one value, and its form in the address of the page: words a
// person can read and write, those of the query API where it has them. Defaults are left out.

import { isDay, type Period, type Preset, PRESETS } from "../data/calendar";
import { type Compare, COMPARES } from "../data/compare";
import {
  type Dimension, DIMENSIONS, type Grain, GRAINS, type Grouping, GROUPINGS,
} from "../data/dimension";

export const METRICS = ["pageviews", "sessions", "engagement"] as const;
/** `engagement` is the average per session, in seconds. */
export type Metric = (typeof METRICS)[number];

export interface Filter {
  dimension: Dimension;
  exclude: boolean;
  keys: readonly string[];
}

/** Days of publication; an empty text is an open end. */
export interface Publication {
  from: string;
  to: string;
}

export interface Sort {
  column: string;
  descending: boolean;
}

export interface View {
  period: Preset | Period;
  compare: Compare;
  by: Grouping;
  /** Whether rows and lines are split by country. */
  split: boolean;
  metric: Metric;
  grain: Grain | "auto";
  filters: readonly Filter[];
  published: Publication;
  notPublished: Publication;
  grouped: boolean;
  search: string;
  /** Null for the order that the rows have by themselves. */
  sort: Sort | null;
  /** The UUID of the article whose page is open; empty for none. */
  open: string;
}

const OPEN: Publication = { from: "", to: "" };

export const DEFAULT_VIEW: View = {
  period: "last-30",
  compare: "none",
  by: "articles",
  split: false,
  metric: "pageviews",
  grain: "auto",
  filters: [],
  published: OPEN,
  notPublished: OPEN,
  grouped: false,
  search: "",
  sort: null,
  open: "",
};

function oneOf<T extends string>(word: string | null, known: readonly T[], fallback: T): T {
  return known.find((candidate) => candidate === word) ?? fallback;
}

function periodFrom(words: URLSearchParams): View["period"] {
  const [start, end] = [words.get("start") ?? "", words.get("end") ?? ""];
  if (isDay(start) && isDay(end) && start <= end) return { start, end };
  return oneOf(words.get("period"), PRESETS.map(([name]) => name), "last-30");
}

function publicationFrom(words: URLSearchParams, name: string): Publication {
  const [from, to] = [words.get(`${name}_from`) ?? "", words.get(`${name}_to`) ?? ""];
  const days = { from: isDay(from) ? from : "", to: isDay(to) ? to : "" };
  return days.from && days.to && days.to < days.from ? OPEN : days;
}

/** The parameter of a filter, in the API and in the address of the page. */
export function parameterOf({ dimension, exclude }: Pick<Filter, "dimension" | "exclude">): string {
  return exclude ? `not_${dimension}` : dimension;
}

function filtersFrom(words: URLSearchParams): Filter[] {
  return DIMENSIONS.flatMap((dimension) => [false, true].flatMap((exclude) => {
    const keys = [...new Set(words.getAll(parameterOf({ dimension, exclude })))].filter(Boolean);
    // The API takes one blog.
    const taken = dimension === "blog" && !exclude ? keys.slice(0, 1) : keys;
    return taken.length > 0 ? [{ dimension, exclude, keys: taken }] : [];
  }));
}

function sortFrom(word: string | null): Sort | null {
  if (!word || word === "-") return null;
  const descending = word.startsWith("-");
  return { column: descending ? word.slice(1) : word, descending };
}

/** Reads a view from the address of a page; what is absent or unknown is the default. */
export function viewFrom(search: string): View {
  const words = new URLSearchParams(search);
  return {
    period: periodFrom(words),
    compare: oneOf(words.get("compare"), COMPARES, "none"),
    by: oneOf(words.get("by"), GROUPINGS, "articles"),
    split: words.get("split") === "country",
    metric: oneOf(words.get("metric"), METRICS, "pageviews"),
    grain: oneOf(words.get("grain"), ["auto", ...GRAINS], "auto"),
    filters: filtersFrom(words),
    published: publicationFrom(words, "published"),
    notPublished: publicationFrom(words, "not_published"),
    grouped: words.get("translations") === "grouped",
    search: words.get("search") ?? "",
    sort: sortFrom(words.get("sort")),
    open: words.get("open") ?? "",
  };
}

/** What a view narrows, as the API's own parameters. */
export function filterWords(view: View): [string, string][] {
  const days = (name: string, { from, to }: Publication): [string, string][] =>
    [[`${name}_from`, from], [`${name}_to`, to]];
  const dates = [...days("published", view.published), ...days("not_published", view.notPublished)];
  return [
    ...view.filters.flatMap((filter) =>
      filter.keys.map((key): [string, string] => [parameterOf(filter), key])),
    ...dates.filter(([, day]) => day !== ""),
    ...(view.grouped ? [["translations", "grouped"] as [string, string]] : []),
  ];
}

/** The address of a view: `?period=last-90&by=authors&country=US`, or `./` for the default. */
export function searchOf(view: View): string {
  const { period, compare, by, split, metric, grain, search, sort, open } = view;
  const plain: [string, string, string][] = [
    ["compare", compare, "none"],
    ["by", by, "articles"],
    ["split", split ? "country" : "", ""],
    ["metric", metric, "pageviews"],
    ["grain", grain, "auto"],
    ["search", search, ""],
    ["sort", sort ? `${sort.descending ? "-" : ""}${sort.column}` : "", ""],
    ["open", open, ""],
  ];
  const days: [string, string][] = typeof period === "string"
    ? (period === DEFAULT_VIEW.period ? [] : [["period", period]])
    : [["start", period.start], ["end", period.end]];
  const words = new URLSearchParams([
    ...days,
    ...plain.flatMap(([name, value, usual]): [string, string][] =>
      (value === usual ? [] : [[name, value]])),
    ...filterWords(view),
  ]);
  const text = words.toString();
  return text ? `?${text}` : "./";
}

/** Whether anything narrows the rows besides the period. */
export function isFiltered(view: View): boolean {
  return filterWords({ ...view, grouped: false }).length > 0;
}

export function withoutFilters(view: View): View {
  return { ...view, filters: [], published: OPEN, notPublished: OPEN };
}

/**
 * The view with a filter's keys replaced; no keys remove it. A value is let in or left out, not
 * both: the opposite filter loses the keys.
 */
export function withFilter(view: View, filter: Filter): View {
  const others = view.filters.flatMap((other): Filter[] => {
    if (other.dimension !== filter.dimension) return [other];
    if (other.exclude === filter.exclude) return [];
    const keys = other.keys.filter((key) => !filter.keys.includes(key));
    return keys.length > 0 ? [{ ...other, keys }] : [];
  });
  const filters = filter.keys.length > 0 ? [...others, filter] : others;
  // In the order of the address, so that the same choices are the same view.
  const place = (one: Filter) => DIMENSIONS.indexOf(one.dimension) * 2 + Number(one.exclude);
  return { ...view, filters: filters.toSorted((a, b) => place(a) - place(b)) };
}

export function keysOf(view: View, dimension: Dimension, exclude: boolean): readonly string[] {
  return view.filters.find((f) => f.dimension === dimension && f.exclude === exclude)?.keys ?? [];
}
