// A period beside an earlier one: which days that is, and two answers as one. A week, month or year
// is compared with the days so many days before its own, also where the period cuts it off: so both
// sides are always of as many days, and all of them add up to the totals.

import type { Answer, Metrics, Row } from "./api";
import {
  addDays, buckets, dayText, daysIn, daysOfKey, keyOf, type Period, periodText, within,
} from "./calendar";
import { type Grain, type Grouping, isGrain } from "./dimension";
import { added, NOTHING } from "./measure";

export const COMPARES = ["none", "previous", "year"] as const;
export type Compare = (typeof COMPARES)[number];

/** 52 weeks, so that weekdays match. */
const YEAR_DAYS = 364;

export interface Comparison {
  kind: Exclude<Compare, "none">;
  /** The days asked for, as far as there is data: what is not there yet is not compared. */
  now: Period;
  before: Period;
  /** How many days earlier those are. */
  back: number;
  /** Before it nothing is known: "no traffic" would be a guess. */
  firstDay: string;
}

function moved({ start, end }: Period, days: number): Period {
  return { start: addDays(start, days), end: addDays(end, days) };
}

/** What a period is compared with; null for nothing. */
export function comparisonOf(kind: Compare, period: Period, known: Period): Comparison | null {
  const now = within(period, known);
  if (kind === "none" || !now) return null;
  const back = kind === "year" ? YEAR_DAYS : daysIn(now);
  return { kind, now, before: moved(now, -back), back, firstDay: known.start };
}

/** Whether the data has all earlier days. */
function isKnown({ before, firstDay }: Comparison): boolean {
  return before.start >= firstDay;
}

/** The earlier days beside some of the present ones; null where not all of them are known. */
export function daysBeside(days: Period, { now, back, firstDay }: Comparison): Period | null {
  const part = within(days, now);
  const before = part && moved(part, -back);
  return before && before.start >= firstDay ? before : null;
}

/**
 * What the earlier days are asked by to stand beside rows; null where nothing can. Of weeks, months
 * and years it is days: those beside a month are seldom a month.
 */
export function earlierGrouping(grouping: Grouping, comparison: Comparison): Grouping | null {
  if (isGrain(grouping)) return comparison.before.end >= comparison.firstDay ? "days" : null;
  return isKnown(comparison) ? grouping : null;
}

/**
 * Whether the API, which pairs the first week with the first, sets the same days beside each row:
 * where weeks, months or years begin on the same days of both periods.
 */
export function isPairedByApi(grouping: Grouping, comparison: Comparison): boolean {
  if (!isKnown(comparison)) return false;
  if (!isGrain(grouping)) return true;
  const { now, before, back } = comparison;
  const begins = (period: Period, later: number) =>
    buckets(period, grouping).map(({ days }) => addDays(days.start, later)).join();
  return begins(now, 0) === begins(before, back);
}

function byPresentKey(days: readonly Row[], grain: Grain, back: number): Map<string, Metrics> {
  const found = new Map<string, Metrics>();
  for (const row of days) {
    const key = keyOf(addDays(row.key, back), grain);
    found.set(key, added(found.get(key) ?? NOTHING, row));
  }
  return found;
}

/**
 * The present answer with the earlier one (by `earlierGrouping`) beside it. What had traffic before
 * and has none now is a row too, so that rows add up to the totals.
 */
export function beside(
  now: Answer, before: Answer, grouping: Grouping, comparison: Comparison,
): Answer {
  const grain = isGrain(grouping) ? grouping : null;
  const found: ReadonlyMap<string, Metrics> = grain
    ? byPresentKey(before.rows, grain, comparison.back)
    : new Map(before.rows.map((row) => [row.key, row]));
  const known = (key: string) => !grain || daysBeside(daysOfKey(key, grain), comparison) !== null;
  const present = now.rows.map((row): Row =>
    (known(row.key) ? { ...row, previous: found.get(row.key) ?? NOTHING } : row));
  const here = new Set(now.rows.map(({ key }) => key));
  const labels = new Map(before.rows.map(({ key, label }) => [key, label]));
  const gone = [...found].filter(([key]) => !here.has(key) && known(key)).map(
    ([key, previous]): Row => ({ ...NOTHING, key, label: labels.get(key) ?? key, previous }));
  const rows = [...present, ...gone];
  const totals = isKnown(comparison) ? { ...now.totals, previous: before.totals } : now.totals;
  return { totals, row_count: rows.length, rows };
}

/** Whether anything in an answer has something earlier beside it. */
export function isCompared({ totals, rows }: Answer): boolean {
  return totals.previous !== undefined || rows.some(({ previous }) => previous !== undefined);
}

/** What a comparison is with, in words; also where the data does not reach back that far. */
export function compareText(comparison: Comparison): string {
  const { kind, now, before, firstDay } = comparison;
  const missing = `there is no data before ${dayText(firstDay)}`;
  if (before.end < firstDay) return `Nothing to compare with: ${missing}`;
  const days = daysIn(now);
  const what = kind === "year"
    ? `${periodText(before)}: 52 weeks earlier, so that weekdays match`
    : `${days === 1 ? "the day" : `the ${days} days`} before: ${periodText(before)}`;
  const limits = isKnown(comparison) ? ""
    : `; ${missing}, so only the course over time is compared`;
  return `Compared with ${what}${limits}`;
}
