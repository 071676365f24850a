// What a click on a row, bar or line does to the view: go into it, or with alt leave it out.

import { addDays, dayNumber, daysOfKey, FIRST_DAY, LAST_DAY, type Period, within } from "../data/calendar";
import { type Dimension, type Grouping, isGrain, wordsOf } from "../data/dimension";
import { keysOf, type Publication, type View, withFilter } from "./view";

/** Into another question: what was searched and sorted belonged to the old rows. */
function fresh(view: View): View {
  return { ...view, search: "", sort: null };
}

/** Only this value of a dimension. */
export function onlyValue(view: View, dimension: Dimension, key: string): View {
  return withFilter(view, { dimension, exclude: false, keys: [key] });
}

/** All but this value of a dimension. */
export function withoutValue(view: View, dimension: Dimension, key: string): View {
  const keys = [...new Set([...keysOf(view, dimension, true), key])];
  return withFilter(view, { dimension, exclude: true, keys });
}

function daysOf({ from, to }: Publication): Period {
  return { start: from || FIRST_DAY, end: to || LAST_DAY };
}

function publicationOf({ start, end }: Period): Publication {
  return { from: start === FIRST_DAY ? "" : start, to: end === LAST_DAY ? "" : end };
}

function yearOf(key: string): Period {
  return { start: `${key}-01-01`, end: `${key}-12-31` };
}

/** Inside a row: an article opens its page, time becomes the period, all else a filter. */
export function drilled(view: View, grouping: Grouping, key: string, period: Period): View {
  const inside: View = fresh(view);
  if (grouping === "articles") return { ...inside, open: key };
  // A single row of the same grouping would say nothing new.
  const by = view.by === grouping ? "articles" : view.by;
  if (isGrain(grouping)) {
    const days = daysOfKey(key, grouping);
    return { ...inside, by, period: within(days, period) ?? days };
  }
  if (grouping === "article_years") {
    // Never more than was asked for before: of a year that was let in by half, that half.
    const both = within(yearOf(key), daysOf(view.published));
    return both ? { ...inside, by, published: publicationOf(both) } : view;
  }
  const { dimension } = wordsOf(grouping);
  return dimension ? { ...onlyValue(inside, dimension, key), by } : view;
}

/** Whether rows of a grouping can be left out: days of traffic cannot, the period says which. */
export function canExclude(grouping: Grouping): boolean {
  return !isGrain(grouping);
}

/** Both as one range, since the API has one; null where there are days between them. */
function joined(a: Period, b: Period): Period | null {
  const apart = (one: Period, other: Period) => dayNumber(other.start) - dayNumber(one.end) > 1;
  if (apart(a, b) || apart(b, a)) return null;
  return { start: a.start < b.start ? a.start : b.start, end: a.end > b.end ? a.end : b.end };
}

/** A range without a year that it begins or ends with; null where nothing is left of it. */
function shortened(range: Period, year: Period): Period | null {
  const rest = year.start <= range.start ? { start: addDays(year.end, 1), end: range.end }
    : year.end >= range.end ? { start: range.start, end: addDays(year.start, -1) } : null;
  return rest && within(rest, range);
}

function withoutYear(view: View, key: string): View {
  const year = yearOf(key);
  const { from, to } = view.notPublished;
  const whole = from || to ? joined(daysOf(view.notPublished), year) : year;
  if (whole) return { ...view, notPublished: publicationOf(whole) };
  const rest = shortened(daysOf(view.published), year);
  return rest ? { ...view, published: publicationOf(rest) } : view;
}

/** Everything but a row; the view itself where that cannot be asked. */
export function excluded(view: View, grouping: Grouping, key: string): View {
  if (!canExclude(grouping)) return view;
  if (grouping === "article_years") return withoutYear(view, key);
  const { dimension } = wordsOf(grouping);
  return dimension ? withoutValue(view, dimension, key) : view;
}
