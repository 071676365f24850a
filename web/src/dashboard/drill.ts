// What a click on a row, bar or line does to the view: go into it, or with alt leave it out.

import { daysOfKey, type Period, within } from "./calendar";
import { type Dimension, type Grouping, isGrain, wordsOf } from "./dimension";
import { keysOf, type Publication, type View, withFilter } from "./view";

/** Into another question: what was searched and sorted belonged to the old rows. */
function fresh(view: View): View {
  return { ...view, search: "", sort: null };
}

function yearOf(key: string): Publication {
  return { from: `${key}-01-01`, to: `${key}-12-31` };
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
  if (grouping === "article_years") return { ...inside, by, published: yearOf(key) };
  const { dimension } = wordsOf(grouping);
  return dimension ? { ...onlyValue(inside, dimension, key), by } : view;
}

/** Whether rows of a grouping can be left out: days of traffic cannot, the period says which. */
export function canExclude(grouping: Grouping): boolean {
  return !isGrain(grouping);
}

/** Years that touch become one range, since the API has one. */
function joined(range: Publication, year: Publication): Publication {
  const [from, to] = [Number(range.from.slice(0, 4)), Number(range.to.slice(0, 4))];
  const whole = range.from.endsWith("-01-01") && range.to.endsWith("-12-31");
  const one = Number(year.from.slice(0, 4));
  if (!whole || one < from - 1 || one > to + 1) return year;
  return {
    from: one < from ? year.from : range.from,
    to: one > to ? year.to : range.to,
  };
}

/** Everything but a row; the view itself where that cannot be asked. */
export function excluded(view: View, grouping: Grouping, key: string): View {
  if (!canExclude(grouping)) return view;
  if (grouping === "article_years") {
    return { ...view, notPublished: joined(view.notPublished, yearOf(key)) };
  }
  const { dimension } = wordsOf(grouping);
  return dimension ? withoutValue(view, dimension, key) : view;
}
