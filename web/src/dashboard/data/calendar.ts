// Days as ISO texts and what is done with them: periods by name, the days, weeks, months or years
// inside a period. No time zones: a day is a day of the data.

import { GRAINS, type Grain } from "./dimension";

/** Both days count. */
export interface Period {
  start: string;
  end: string;
}

/** The first and the last day that the API takes. */
export const FIRST_DAY = "0001-01-01";
export const LAST_DAY = "9999-12-31";

const DAY_MS = 86_400_000;
const MONTHS = [
  "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
] as const;

/** Days since 1970-01-01. */
export function dayNumber(day: string): number {
  return Math.round(Date.parse(`${day}T00:00:00Z`) / DAY_MS);
}

export function dayOf(number: number): string {
  return new Date(number * DAY_MS).toISOString().slice(0, 10);
}

/** Whether a text is a day that exists, as the API takes it. */
export function isDay(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text) || text < FIRST_DAY) return false;
  const time = Date.parse(`${text}T00:00:00Z`);
  return Number.isFinite(time) && new Date(time).toISOString().startsWith(text);
}

export function addDays(day: string, days: number): string {
  return dayOf(dayNumber(day) + days);
}

export function daysIn(period: Period): number {
  return dayNumber(period.end) - dayNumber(period.start) + 1;
}

/** The first day of the month that lies `months` after the day's. */
function monthStart(day: string, months = 0): string {
  const number = Number(day.slice(0, 4)) * 12 + Number(day.slice(5, 7)) - 1 + months;
  const year = String(Math.floor(number / 12)).padStart(4, "0");
  return `${year}-${String((number % 12) + 1).padStart(2, "0")}-01`;
}

/** '3 May 2021'; with `year` false '3 May'. */
export function dayText(day: string, year = true): string {
  const text = `${Number(day.slice(8))}\u00a0${MONTHS[Number(day.slice(5, 7)) - 1] ?? ""}`;
  return year ? `${text}\u00a0${day.slice(0, 4)}` : text;
}

/** '3 to 9 May 2021', '28 Dec 2020 to 3 Jan 2021', '3 May 2021'. */
export function periodText({ start, end }: Period): string {
  if (start === end) return dayText(start);
  if (start.slice(0, 7) === end.slice(0, 7)) return `${Number(start.slice(8))} to ${dayText(end)}`;
  return `${dayText(start, start.slice(0, 4) !== end.slice(0, 4))} to ${dayText(end)}`;
}

export const PRESETS = [
  ["last-7", "Last 7 days"],
  ["last-30", "Last 30 days"],
  ["last-90", "Last 90 days"],
  ["this-month", "This month"],
  ["last-month", "Last month"],
  ["this-quarter", "This quarter"],
  ["last-quarter", "Last quarter"],
  ["this-year", "This year"],
  ["last-year", "Last year"],
  ["all", "All days"],
] as const;
export type Preset = (typeof PRESETS)[number][0];

/** The days that a preset means; `known` are the days that the data covers, up to today. */
export function presetPeriod(preset: Preset, known: Period): Period {
  const end = known.end;
  const month = Number(end.slice(5, 7)) - 1;
  const before = (start: string, months: number): Period =>
    ({ start: monthStart(start, -months), end: addDays(start, -1) });
  const quarter = monthStart(end, -(month % 3));
  const year = monthStart(end, -month);
  switch (preset) {
    case "last-7": return { start: addDays(end, -6), end };
    case "last-30": return { start: addDays(end, -29), end };
    case "last-90": return { start: addDays(end, -89), end };
    case "this-month": return { start: monthStart(end), end };
    case "last-month": return before(monthStart(end), 1);
    case "this-quarter": return { start: quarter, end };
    case "last-quarter": return before(quarter, 3);
    case "this-year": return { start: year, end };
    case "last-year": return before(year, 12);
    case "all": return { start: known.start, end: known.end };
  }
}

/** The month or quarter before a whole one; null for any other period. */
export function calendarBefore({ start, end }: Period): Period | null {
  const months = [1, 3].find((count) => addDays(monthStart(start, count), -1) === end);
  const begins = start === monthStart(start) && (months !== 3 || Number(start.slice(5, 7)) % 3 === 1);
  return months && begins
    ? { start: monthStart(start, -months), end: addDays(start, -1) } : null;
}

/** The period of the same length right before (-1) or after (1). */
export function neighbour(period: Period, direction: -1 | 1): Period {
  const days = daysIn(period) * direction;
  return { start: addDays(period.start, days), end: addDays(period.end, days) };
}

/** A day, week, month or year of a chart. */
export interface Bucket {
  /** As the API names it. */
  key: string;
  /** Those of its days that the period holds. */
  days: Period;
  /** Whether these are all. */
  whole: boolean;
}

function bucketOf(day: string, grain: Grain): { key: string; days: Period } {
  switch (grain) {
    case "days": return { key: day, days: { start: day, end: day } };
    case "weeks": {
      // 1970-01-01 was a Thursday.
      const number = dayNumber(day);
      const monday = number - (((number + 3) % 7) + 7) % 7;
      return { key: dayOf(monday), days: { start: dayOf(monday), end: dayOf(monday + 6) } };
    }
    case "months": {
      const days = { start: monthStart(day), end: addDays(monthStart(day, 1), -1) };
      return { key: day.slice(0, 7), days };
    }
    case "years": {
      const year = day.slice(0, 4);
      return { key: year, days: { start: `${year}-01-01`, end: `${year}-12-31` } };
    }
  }
}

/** What a row of time stands for: its days. */
export function daysOfKey(key: string, grain: Grain): Period {
  return bucketOf(key.length === 4 ? `${key}-01-01` : key.length === 7 ? `${key}-01` : key, grain)
    .days;
}

/** A bucket in words: '3 May 2021', 'week of 3 May 2021', 'May 2021', '2021'. */
export function bucketText(key: string, grain: Grain): string {
  if (grain === "days") return dayText(key);
  if (grain === "weeks") return `week of ${dayText(key)}`;
  if (grain === "years") return key;
  return `${MONTHS[Number(key.slice(5, 7)) - 1] ?? ""}\u00a0${key.slice(0, 4)}`;
}

/** A bucket where there is little room. */
export function bucketTick(key: string, grain: Grain, years: boolean): string {
  if (grain === "days" || grain === "weeks") return dayText(key, years);
  return bucketText(key, grain);
}

/** The day, week, month or year that a day is of, as the API names it. */
export function keyOf(day: string, grain: Grain): string {
  return bucketOf(day, grain).key;
}

/** Every bucket of a period, in order, also those without traffic. */
export function buckets(period: Period, grain: Grain): Bucket[] {
  const found: Bucket[] = [];
  let day = period.start;
  while (day <= period.end) {
    const { key, days: all } = bucketOf(day, grain);
    const days = within(all, period) ?? all;
    found.push({ key, days, whole: daysIn(days) === daysIn(all) });
    day = addDays(all.end, 1);
  }
  return found;
}

/** A bucket in words; of one that is cut off, how many days are left: 'May 2021, 12 days'. */
export function partText(key: string, grain: Grain, limits: Period): string {
  const all = daysOfKey(key, grain);
  const part = within(all, limits) ?? all;
  const [name, days] = [bucketText(key, grain), daysIn(part)];
  return days === daysIn(all) ? name : `${name}, ${days} ${days === 1 ? "day" : "days"}`;
}

/** The part of a period that lies within another; null where they do not meet. */
export function within(period: Period, limits: Period): Period | null {
  const start = period.start > limits.start ? period.start : limits.start;
  const end = period.end < limits.end ? period.end : limits.end;
  return start <= end ? { start, end } : null;
}

const DAYS_UP_TO = 100;
const WEEKS_UP_TO = 800;

/** The grain that gives a chart of this period some 30 to 120 points. */
export function autoGrain(period: Period): Grain {
  const days = daysIn(period);
  return days <= DAYS_UP_TO ? "days" : days <= WEEKS_UP_TO ? "weeks" : "months";
}

/** The grains that a chart of this period can have without thousands of points. */
export function possibleGrains(period: Period): Grain[] {
  const days = daysIn(period);
  return GRAINS.filter((grain) => {
    if (grain === "days") return days <= 1100;
    if (grain === "weeks") return days > 7 && days <= 7700;
    return grain === "months" ? days > 31 : days > 366;
  });
}

/** A period around this one, twice as long, as far as there is data. */
export function widened(period: Period, known: Period): Period {
  const more = Math.ceil(daysIn(period) / 2);
  const wide = { start: addDays(period.start, -more), end: addDays(period.end, more) };
  return within(wide, known) ?? period;
}
