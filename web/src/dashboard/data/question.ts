// From a view to the addresses that its parts ask: the chart over time, the rows, the countries
// that rows are split by, an article's page.

import { autoGrain, type Period, possibleGrains, presetPeriod } from "./calendar";
import { apiComparison, type Asked, comparisonOf } from "./compare";
import type { Grain, Grouping } from "./dimension";
import type { KnownDays } from "./states";
import { filterWords, type View, withFilter } from "../view/view";

/** How many countries a split shows by name. */
export const SPLIT_COUNTRIES = 5;

/** The days that a view is about; `known` are those that the data covers, up to today. */
export function periodOf(view: View, known: Period): Period {
  return typeof view.period === "string" ? presetPeriod(view.period, known) : view.period;
}

/** The grain of the chart over time: the reader's, if the period allows it. */
export function grainOf(view: View, period: Period): Grain {
  const grain = view.grain;
  return grain !== "auto" && possibleGrains(period).includes(grain) ? grain : autoGrain(period);
}

/** Whether the rows shown are split: countries themselves cannot be. */
export function splitsRows(view: View): boolean {
  return view.split && view.by !== "countries";
}

type Words = readonly (readonly [string, string])[];

/** An address of the query API, relative to the page. */
export function queryAddress(
  grouping: Grouping, period: Period, view: View, more: Words = [],
): string {
  // A value that a saved link names may be gone by now: nothing has it.
  const lenient: Words = view.filters.length > 0 ? [["unknown_values", "allowed"]] : [];
  const words: Words = [["start", period.start], ["end", period.end], ...filterWords(view),
    ...lenient, ...more];
  const pairs = words.map(([name, value]) => [name, value]);
  return `api/query/${grouping}?${new URLSearchParams(pairs).toString()}`;
}

/** The address of one side of a comparison. */
export function askedAddress({ grouping, period, notDays }: Asked, view: View): string {
  return queryAddress(grouping, period, view, notDays.map((day) => ["not_day", day] as const));
}

/** The API's own column of a metric; averages are computed here from its two parts. */
export function sortWord(view: View): [string, string] {
  return ["sort", view.metric === "engagement" ? "-sessions" : `-${view.metric}`];
}

/** The countries with the most of the view's metric. */
export function topCountriesAddress(period: Period, view: View): string {
  return queryAddress("countries", period, view,
    [sortWord(view), ["limit", String(SPLIT_COUNTRIES)]]);
}

/** Rows of `grouping` split by these countries only. */
export function splitAddress(
  grouping: Grouping, period: Period, view: View, countries: readonly string[],
): string {
  const chosen = withFilter(view, { dimension: "country", exclude: false, keys: countries });
  return queryAddress(grouping, period, chosen, [["split", "country"]]);
}

/**
 * All rows as CSV from the server itself, a row for each country: compared where the API sets the
 * same days beside a row as the page does.
 */
export function everyCountryAddress(
  grouping: Grouping, period: Period, view: View, known: KnownDays,
): string {
  const comparison = comparisonOf(view.compare, period, known);
  const compare: Words = comparison ? apiComparison(grouping, comparison) ?? [] : [];
  // Beside days that are not there yet the API would set earlier ones too.
  return queryAddress(grouping, comparison?.now ?? period, view,
    [...compare, ["split", "country"], ["format", "csv"]]);
}

/** A view of one article, or of it and its translations, under the other filters. */
export function articleView(view: View, uuids: readonly string[]): View {
  const articles = { dimension: "article", exclude: false, keys: uuids } as const;
  return withFilter({ ...view, grouped: false }, articles);
}
