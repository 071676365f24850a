// Which days were imported, and how far: a day that never was is a gap, not a day without traffic,
// and a part of a day is compared with no whole one.

import type { View } from "../view/view";
import { addDays, dayNumber, dayOf, daysIn, type Period, periodText, within } from "./calendar";

/** Days of a blog side by side, as the API tells them; no others were imported. */
export interface DaySpan extends Period {
  blog: string;
  state: "complete" | "provisional" | "partial";
}

/** What is wrong with a day; `today` is not over. */
export type Fault = "missing" | "partial" | "today";

/** The days that are not whole. */
export type Incomplete = ReadonlyMap<string, Fault>;

/** The days that the data covers, and what is wrong with some of them. */
export interface KnownDays extends Period {
  incomplete?: Incomplete;
}

export const FAULT_TEXTS: Record<Fault, string> = {
  missing: "never imported",
  partial: "imported in part",
  today: "not over",
};

/** A blog without an import for longer than a quarter has ended; one that is behind lacks days. */
const BEHIND_DAYS = 92;

function isAsked(filters: View["filters"]): (blog: string) => boolean {
  const ofBlogs = filters.filter(({ dimension }) => dimension === "blog");
  return (blog) => ofBlogs.every(({ keys, exclude }) => keys.includes(blog) !== exclude);
}

/** Of each day that is covered: blogs that should have it, have it, and have all of it. */
function counted(spans: readonly DaySpan[], known: Period) {
  const first = dayNumber(known.start);
  const days = Array.from({ length: daysIn(known) }, () => ({ wanted: 0, there: 0, whole: 0 }));
  const each = (from: number, to: number, what: (day: (typeof days)[number]) => void) => {
    for (const day of days.slice(Math.max(0, from - first), Math.max(0, to - first + 1))) what(day);
  };
  const extents = new Map<string, [number, number]>();
  for (const { blog, start, end, state } of spans) {
    const [from, to] = [dayNumber(start), dayNumber(end)];
    each(from, to, (day) => {
      day.there += 1;
      day.whole += Number(state !== "partial");
    });
    const known = extents.get(blog) ?? [from, to];
    extents.set(blog, [Math.min(from, known[0]), Math.max(to, known[1])]);
  }
  for (const [from, to] of extents.values()) {
    each(from, to + BEHIND_DAYS, (day) => (day.wanted += 1));
  }
  return days;
}

/** What is wrong with days, of the blogs that a view asks for. */
export function incompleteDays(
  spans: readonly DaySpan[], filters: View["filters"], known: Period, today: string,
): Incomplete {
  const asked = isAsked(filters);
  const own = spans.filter(({ blog }) => asked(blog));
  const found = new Map<string, Fault>();
  // Of what another program wrote nothing is known.
  if (own.length > 0) {
    for (const [place, { wanted, there, whole }] of counted(own, known).entries()) {
      const fault = there === 0 ? "missing" : whole < wanted ? "partial" : null;
      if (fault) found.set(addDays(known.start, place), fault);
    }
  }
  if (today <= known.end && found.get(today) !== "missing") found.set(today, "today");
  return found;
}

/** Those of a period's days that have a fault, in order. */
export function faultsIn(period: Period, incomplete: Incomplete = new Map()): [string, Fault][] {
  return [...incomplete].filter(([day]) => day >= period.start && day <= period.end)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
}

/** Whether no day of a period was imported. */
export function isGap(period: Period, incomplete: Incomplete = new Map()): boolean {
  const faults = faultsIn(period, incomplete);
  return faults.length === daysIn(period) && faults.every(([, fault]) => fault === "missing");
}

/** A text as a sentence of its own. */
export function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** Each fault of a period as a sentence: 'Never imported: 3 May 2021.' */
export function faultSentences(period: Period, incomplete?: Incomplete): string[] {
  const faults = faultsIn(period, incomplete);
  return (Object.keys(FAULT_TEXTS) as Fault[]).flatMap((wanted) => {
    const own = faults.filter(([, fault]) => fault === wanted);
    return own.length > 0 ? [sentence(faultsText(own))] : [];
  });
}

/** Why there is nothing to show of a period: a day that was never imported is none without traffic. */
export function emptyText(period: Period, known: KnownDays, filtered: boolean): string {
  const covered = within(period, known);
  const outside = covered && daysIn(covered) === daysIn(period) ? []
    : [`There is data from ${periodText(known)} only.`];
  if (!covered) return outside.join(" ");
  if (isGap(covered, known.incomplete)) {
    const days = daysIn(covered) === 1 ? `${periodText(covered)} was never imported.`
      : `No day of ${periodText(covered)} was imported.`;
    return [days, ...outside].join(" ");
  }
  const at = daysIn(covered) === 1 ? "on" : "in";
  const none = `No traffic ${filtered ? "matches these filters " : ""}${at} ${periodText(covered)}.`;
  return [none, ...faultSentences(covered, known.incomplete), ...outside].join(" ");
}

/** What is wrong with the days of a point: 'never imported', '2 days never imported'. */
export function faultText(period: Period, incomplete: Incomplete = new Map()): string {
  const faults = faultsIn(period, incomplete);
  const all = daysIn(period);
  return (Object.keys(FAULT_TEXTS) as Fault[]).flatMap((wanted) => {
    const days = faults.filter(([, fault]) => fault === wanted).length;
    const which = days === all ? "" : wanted === "today" ? "today " : `${days} ${days === 1 ? "day" : "days"} `;
    return days === 0 ? [] : [`${which}${FAULT_TEXTS[wanted]}`];
  }).join(", ");
}

/** Runs of days that one sentence names. */
const NAMED_RUNS = 4;

/** '3 May 2021, 5 to 7 May 2021 and 12 further days'. */
export function daysText(days: readonly string[]): string {
  const runs: Period[] = [];
  for (const day of days) {
    const last = runs.at(-1);
    if (last && addDays(last.end, 1) === day) last.end = day;
    else runs.push({ start: day, end: day });
  }
  const more = runs.slice(NAMED_RUNS).reduce((sum, run) => sum + daysIn(run), 0);
  const named = runs.slice(0, NAMED_RUNS).map(periodText).join(", ");
  return `${named}${more > 0 ? ` and ${more} further ${more === 1 ? "day" : "days"}` : ""}`;
}

/** Days and what is wrong with them: 'never imported: 3 May 2021; not over: 9 May 2021'. */
export function faultsText(faults: readonly (readonly [string, Fault])[]): string {
  return (Object.keys(FAULT_TEXTS) as Fault[]).flatMap((wanted) => {
    const days = faults.filter(([, fault]) => fault === wanted).map(([day]) => day);
    return days.length === 0 ? [] : [`${FAULT_TEXTS[wanted]}: ${daysText(days)}`];
  }).join("; ");
}

/** A period without days: shorter where they are at its ends, and those that are inside it. */
export function without(period: Period, days: ReadonlySet<string>): {
  period: Period | null;
  inside: string[];
} {
  let [from, to] = [dayNumber(period.start), dayNumber(period.end)];
  while (from <= to && days.has(dayOf(from))) from += 1;
  while (to >= from && days.has(dayOf(to))) to -= 1;
  if (from > to) return { period: null, inside: [] };
  const left = { start: dayOf(from), end: dayOf(to) };
  const inside = [...days].filter((day) => day >= left.start && day <= left.end).toSorted();
  return { period: left, inside };
}
