// A period beside an earlier one: which days that is, and two answers as one. Earlier days are whole
// weeks earlier, so that weekdays meet their own; whole months and quarters are compared with the
// one before in the calendar, by their sums and averages per day. A day that is not complete is left
// out, and so is the day that it would be compared with.

import type { Answer, Metrics, Row } from "./api";
import {
  addDays, buckets, calendarBefore, dayText, daysIn, daysOfKey, keyOf, type Period, periodText,
  within,
} from "./calendar";
import { type Grain, type Grouping, isGrain } from "./dimension";
import { added, NOTHING, type PerDay } from "./measure";
import { type Fault, faultsIn, faultsText, type KnownDays, without } from "./states";

export const COMPARES = ["none", "previous", "year"] as const;
export type Compare = (typeof COMPARES)[number];

/** 52 weeks, so that weekdays match. */
const YEAR_DAYS = 364;

/** An address names no more days than these one by one; then only the course is compared. */
const NAMED_DAYS = 150;

export interface Comparison {
  kind: Exclude<Compare, "none">;
  /** The days asked for, as far as there is data: what is not there yet is not compared. */
  now: Period;
  before: Period;
  /** How many days earlier those beside each day are: whole weeks. */
  back: number;
  /** Whether `before` is a month or quarter of the calendar, perhaps of other length. */
  calendar: boolean;
  /** Before it nothing is known: "no traffic" would be a guess. */
  firstDay: string;
  /** Days of both periods that are left out of their sums. */
  left: ReadonlySet<string>;
  /** Present days that cannot be beside theirs. */
  alone: ReadonlySet<string>;
  /** What is wrong with some of them. */
  faults: readonly (readonly [string, Fault])[];
}

function moved({ start, end }: Period, days: number): Period {
  return { start: addDays(start, days), end: addDays(end, days) };
}

/** What a period is compared with; null for nothing. */
export function comparisonOf(kind: Compare, period: Period, known: KnownDays): Comparison | null {
  const now = within(period, known);
  if (kind === "none" || !now) return null;
  const back = kind === "year" ? YEAR_DAYS : Math.ceil(daysIn(now) / 7) * 7;
  const whole = now.start === period.start && now.end === period.end;
  const month = kind === "previous" && whole ? calendarBefore(now) : null;
  const before = month ?? moved(now, -back);
  const beside = moved(now, -back);
  const faults = [
    ...faultsIn(now, known.incomplete),
    ...faultsIn(beside, known.incomplete),
    ...(month ? faultsIn(month, known.incomplete) : []),
  ].filter(([day], place, all) => all.findIndex(([other]) => other === day) === place);
  const wrong = new Set(faults.map(([day]) => day));
  const alone = new Set([...wrong].flatMap((day) => [day, addDays(day, back)])
    .filter((day) => day >= now.start && day <= now.end));
  // Of months each side leaves out its own days: they have averages per day.
  const left = month ? wrong : new Set([...alone].flatMap((day) => [day, addDays(day, -back)]));
  return { kind, now, before, back, calendar: month !== null, firstDay: known.start, left, alone,
    faults };
}

/** Whether the data has all earlier days, and sums of both periods can be asked for. */
function isKnown({ before, firstDay, now, left }: Comparison): boolean {
  const [a, b] = [without(now, left), without(before, left)];
  return before.start >= firstDay && a.period !== null && b.period !== null
    && a.inside.length + b.inside.length <= NAMED_DAYS;
}

/** How many days sums are of; null where as many are beside as many. */
export function perDay({ now, before, calendar, left }: Comparison): PerDay | null {
  const days = (period: Period) =>
    daysIn(period) - [...left].filter((day) => day >= period.start && day <= period.end).length;
  return calendar ? { now: days(now), before: days(before) } : null;
}

/** Earlier days beside some of the present ones. */
export interface EarlierDays extends Period {
  /** Those of them that are left out. */
  without: readonly string[];
  /** Whether days at their ends or among them are left out. */
  inPart: boolean;
}

/** The earlier days beside some of the present ones; null where not all of them are known. */
export function daysBeside(days: Period, { now, back, firstDay, alone }: Comparison): EarlierDays | null {
  const part = within(days, now);
  if (!part) return null;
  const { period, inside } = without(part, alone);
  const before = period && moved(period, -back);
  if (!before || before.start < firstDay) return null;
  return { ...before, without: inside.map((day) => addDays(day, -back)),
    inPart: inside.length > 0 || daysIn(before) < daysIn(part) };
}

/** What sums of both sides are asked by; null where nothing can be beside them. */
export interface Asked {
  grouping: Grouping;
  period: Period;
  notDays: readonly string[];
}

/**
 * What the earlier days are asked by to be beside rows; null where nothing can. Of weeks, months
 * and years it is days: those beside a month are seldom a month.
 */
export function earlierAsked(grouping: Grouping, comparison: Comparison): Asked | null {
  const { now, before, back, firstDay, left } = comparison;
  if (isGrain(grouping)) {
    const beside = moved(now, -back);
    const start = before.start < beside.start ? before.start : beside.start;
    const period = { start, end: before.end > beside.end ? before.end : beside.end };
    return period.end >= firstDay ? { grouping: "days", period, notDays: [] } : null;
  }
  if (!isKnown(comparison)) return null;
  const { period, inside } = without(before, left);
  return period && { grouping, period, notDays: inside };
}

/** What the present days that are compared are asked by; null where they are all of them. */
export function presentAsked(grouping: Grouping, comparison: Comparison): Asked | null {
  const { now, left, alone } = comparison;
  if (isGrain(grouping)) {
    return alone.size > 0 ? { grouping: "days", period: now, notDays: [] } : null;
  }
  if (!isKnown(comparison)) return null;
  const { period, inside } = without(now, left);
  const all = inside.length === 0 && period?.start === now.start && period.end === now.end;
  return period && !all ? { grouping, period, notDays: inside } : null;
}

/** The API's own comparison, where it sets the same days beside each row; null where none does. */
export function apiComparison(
  grouping: Grouping, comparison: Comparison,
): readonly (readonly [string, string])[] | null {
  const { kind, now, before, back, calendar, left } = comparison;
  if (!isKnown(comparison) || calendar) return null;
  const begins = (period: Period, later: number) => (isGrain(grouping)
    ? buckets(period, grouping).map(({ days }) => addDays(days.start, later)).join() : "");
  // The first week with the first: only where they begin on the same days of both periods.
  if (begins(now, 0) !== begins(before, back)) return null;
  const inside = [now, before].flatMap((period) =>
    [...left].filter((day) => day >= period.start && day <= period.end));
  if (inside.length > NAMED_DAYS) return null;
  return [["compare", kind === "year" ? kind : "previous_weekdays"],
    ...[...new Set(inside)].toSorted().map((day) => ["not_day", day] as const)];
}

/** Days added up by the rows that they are, or are beside. */
function byKey(
  days: readonly Row[], grain: Grain, { back, alone, now }: Comparison,
): ReadonlyMap<string, Metrics> {
  const found = new Map<string, Metrics>();
  for (const row of days) {
    const day = addDays(row.key, back);
    if (alone.has(day) || day < now.start || day > now.end) continue;
    const key = keyOf(day, grain);
    found.set(key, added(found.get(key) ?? NOTHING, row));
  }
  return found;
}

function sumOf(days: readonly Row[], period: Period, left: ReadonlySet<string>): Metrics {
  return days.filter(({ key }) => key >= period.start && key <= period.end && !left.has(key))
    .reduce<Metrics>(added, NOTHING);
}

/**
 * The present answer with the earlier one (by `earlierAsked`) beside it, and what is compared of the
 * present (by `presentAsked`) where that is not all. What had traffic before and has none now is a
 * row too, so that rows add up to the totals.
 */
export function beside(
  now: Answer, before: Answer, compared: Answer | null, grouping: Grouping, comparison: Comparison,
): Answer {
  const grain = isGrain(grouping) ? grouping : null;
  const { left } = comparison;
  const byName = (rows: readonly Row[]) => new Map(rows.map((row): [string, Metrics] => [row.key, row]));
  const found = grain ? byKey(before.rows, grain, comparison) : byName(before.rows);
  const own = compared && (grain
    ? byKey(compared.rows, grain, { ...comparison, back: 0 }) : byName(compared.rows));
  const known = (key: string) => !grain || daysBeside(daysOfKey(key, grain), comparison) !== null;
  const part = (key: string) => (own ? { comparable: own.get(key) ?? NOTHING } : {});
  const present = now.rows.map((row): Row => (known(row.key)
    ? { ...row, ...part(row.key), previous: found.get(row.key) ?? NOTHING } : row));
  const here = new Set(now.rows.map(({ key }) => key));
  const labels = new Map(before.rows.map(({ key, label }) => [key, label]));
  const gone = [...found].filter(([key]) => !here.has(key) && known(key)).map(
    ([key, previous]): Row => ({ ...NOTHING, key, label: labels.get(key) ?? key, previous }));
  const rows = [...present, ...gone];
  const totals = isKnown(comparison) ? {
    ...now.totals,
    ...(compared ? { comparable: grain ? sumOf(compared.rows, comparison.now, left) : compared.totals } : {}),
    previous: grain ? sumOf(before.rows, comparison.before, left) : before.totals,
  } : now.totals;
  const days = perDay(comparison);
  const leftOut = leftOutText(comparison);
  return { totals, row_count: rows.length, rows, ...(days ? { perDay: days } : {}),
    ...(leftOut ? { leftOut } : {}) };
}

/** Whether anything in an answer has something earlier beside it. */
export function isCompared({ totals, rows }: Answer): boolean {
  return totals.previous !== undefined || rows.some(({ previous }) => previous !== undefined);
}

/** 'a week', '5 weeks'. */
function weeksText(days: number): string {
  return days === 7 ? "a week" : `${days / 7} weeks`;
}

/** What the line of a comparison is. */
export function lineName({ kind, calendar, back }: Comparison): string {
  if (kind === "year") return "The year before";
  return calendar ? `${weeksText(back)} earlier`.replace(/^a/, "A") : "The period before";
}

/** What sums of both sides leave out: 'left out on both sides: never imported: 3 May 2021'. */
export function leftOutText({ faults, calendar }: Comparison): string {
  return faults.length === 0 ? "" : `left out${calendar ? "" : " on both sides"}: ${faultsText(faults)}`;
}

/** What a comparison is with, in words; also where the data does not reach back that far. */
export function compareText(comparison: Comparison): string {
  const { now, before, back, calendar, firstDay, faults } = comparison;
  const missing = `there is no data before ${dayText(firstDay)}`;
  const weekdays = `${weeksText(back)} earlier, so that weekdays match`;
  if (before.end < firstDay) return `Nothing to compare with: ${missing}`;
  if (faults.length > 0 && !without(now, comparison.left).period) {
    return `Nothing to compare: no day is complete on both sides (${faultsText(faults)})`;
  }
  const what = calendar
    ? `the ${daysIn(now) > 31 ? "quarter" : "month"} before, ${periodText(before)}; ` +
      `the line is ${weekdays}`
    : `${periodText(before)}: ${weekdays}`;
  const out = faults.length === 0 ? "" : `; ${leftOutText(comparison)}`;
  const limits = before.start < firstDay ? `; ${missing}, so only the course over time is compared`
    : isKnown(comparison) ? "" : "; with these days left out only the course is compared";
  return `Compared with ${what}${out}${limits}`;
}
