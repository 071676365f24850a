// The chart over time as a value: its points in order, also those without traffic, its lines, and
// in words what it shows. Drawing (option.ts), table, description and downloads all read it.

import type { Answer, Row } from "../data/api";
import {
  addDays, type Bucket, buckets, bucketTick, dayText, partText, type Period, periodText, within,
} from "../data/calendar";
import {
  type Compare, type Comparison, comparisonOf, daysBeside, type EarlierDays, leftOutText, lineName,
} from "../data/compare";
import type { Grain } from "../data/dimension";
import { changeText, METRIC_NAMES, NOTHING, valueOf, valueText } from "../data/measure";
import { daysText, faultSentences, faultText, isGap, type KnownDays, sentence } from "../data/states";
import type { Split } from "../tables/table";
import type { Metric } from "../view/view";

export interface Line {
  /** The country's key of a split; empty for the line of all traffic. */
  key: string;
  name: string;
  kind: "present" | "previous" | "country";
  /** Null where nothing is known. */
  values: readonly (number | null)[];
}

export interface Point extends Bucket {
  /** Whether no day of it was imported. */
  gap: boolean;
  /** What is wrong with its days; empty where nothing is. */
  fault: string;
}

export interface TimeChart {
  metric: Metric;
  grain: Grain;
  points: readonly Point[];
  /** The days that a comparison sets beside each point; null where not all are known. */
  earlier: readonly (EarlierDays | null)[];
  lines: readonly Line[];
  /** What is compared of the present at each point, if anything is. */
  compared: readonly (number | null)[];
  /** Sentences below the chart. */
  notes: readonly string[];
}

export interface ChartInput {
  answer: Answer;
  period: Period;
  /** The days that the data covers: outside nothing is known, inside no row means no traffic. */
  known: KnownDays;
  grain: Grain;
  metric: Metric;
  compare: Compare;
  split: Split | null;
}

/** A gap has no value; a day that another program wrote has its own. */
function valuesBy(rows: readonly Row[], points: readonly Point[], metric: Metric) {
  const found = new Map(rows.map((row) => [row.key, row]));
  return points.map(({ key, gap }) => {
    const row = found.get(key);
    return row || !gap ? valueOf(row ?? NOTHING, metric) : null;
  });
}

function comparedValues(
  rows: readonly Row[], points: readonly Point[], metric: Metric,
): (number | null)[] {
  const found = new Map(rows.map((row) => [row.key, row]));
  return points.map(({ key }) => {
    const row = found.get(key);
    return valueOf(row?.comparable ?? row ?? NOTHING, metric);
  });
}

function previousValues(
  rows: readonly Row[], points: readonly Bucket[], earlier: TimeChart["earlier"], metric: Metric,
) {
  const found = new Map(rows.map((row) => [row.key, row.previous]));
  return points.map(({ key }, place) =>
    (earlier[place] ? valueOf(found.get(key) ?? NOTHING, metric) : null));
}

function countryLines(
  { countries, rows }: Split, points: readonly Point[], metric: Metric,
): Line[] {
  return countries.map(({ key, label }) => ({
    key,
    name: label,
    kind: "country" as const,
    values: valuesBy(rows.filter((row) => row.country === key), points, metric),
  }));
}

function partNote(points: readonly Bucket[], grain: Grain): string[] {
  if (grain === "days") return [];
  const [first, last] = [points[0], points.at(-1)];
  const one = grain.slice(0, -1);
  return [first, last === first ? undefined : last].flatMap((point, place) => {
    if (!point || point.whole) return [];
    const name = points.length === 1 ? "only" : place === 0 ? "first" : "last";
    return [`The ${name} ${one} is only ${periodText(point.days)}.`];
  });
}

/** What the line of the earlier days leaves out, and how that looks. */
function leftOutNote(comparison: Comparison | null, grain: Grain, split: boolean): string[] {
  const text = comparison && !split ? leftOutText(comparison) : "";
  if (!comparison || !text) return [];
  const look = grain === "days" ? `the line of ${lineName(comparison).toLowerCase()} is broken there`
    : "rings are sums without such days";
  return [sentence(`${text}; ${look}`)];
}

function compareNote(
  comparison: Comparison | null, grain: Grain, split: boolean,
): string[] {
  if (!comparison) return [];
  if (split) return ["Lines by country are of this period only; the numbers below are compared."];
  const { back, firstDay, now } = comparison;
  const one = grain.slice(0, -1);
  const reaches = addDays(now.start, -back) >= firstDay;
  return [
    ...(grain === "days" ? [] : [`Every ${one} is compared with as many days, ${back} days earlier.`]),
    ...(reaches ? [] : [`There is no data before ${dayText(firstDay)}.`]),
  ];
}

export function chartOf(input: ChartInput): TimeChart {
  const { answer: { rows }, period, known, grain, metric, compare, split } = input;
  const shown = within(period, known);
  const parts = shown ? buckets(shown, grain) : [];
  const points = parts.map((part): Point => {
    const fault = faultText(part.days, known.incomplete);
    const gap = isGap(part.days, known.incomplete);
    return { ...part, whole: part.whole && fault === "", gap, fault };
  });
  const asked = comparisonOf(compare, period, known);
  const earlier = points.map(({ days }) => asked && daysBeside(days, asked));
  const comparison = earlier.some(Boolean) ? asked : null;
  const lines: Line[] = split ? countryLines(split, points, metric) : [
    { key: "", name: "This period", kind: "present", values: valuesBy(rows, points, metric) },
    ...(comparison ? [{ key: "", name: lineName(comparison), kind: "previous" as const,
      values: previousValues(rows, points, earlier, metric) }] : []),
  ];
  const outside = shown && (shown.start > period.start || shown.end < period.end)
    ? [`There is data from ${periodText(known)} only.`] : [];
  const leftOut = leftOutNote(comparison, grain, split !== null);
  const notes = [...partNote(parts, grain), ...outside, 
    ...(leftOut.length > 0 || !shown ? [] : faultSentences(shown, known.incomplete)),
    ...compareNote(comparison, grain, split !== null), ...leftOut];
  const compared = comparison && !split ? comparedValues(rows, points, metric) : [];
  return { metric, grain, points, earlier, lines, compared, notes };
}

/**
 * A point in words; of one that the period cuts off, how many of its days are in it, and what is
 * wrong with them.
 */
export function pointText({ points, grain }: TimeChart, place: number): string {
  const point = points[place];
  if (!point) return "";
  return [partText(point.key, grain, point.days), point.fault].filter(Boolean).join(", ");
}

/** The days that the line of the comparison shows at a point; empty where none are known. */
export function earlierText({ earlier }: TimeChart, place: number): string {
  const days = earlier[place];
  if (!days) return "";
  return [periodText(days), days.without.length > 0 ? `without ${daysText(days.without)}` : ""]
    .filter(Boolean).join(" ");
}

/** Label below the axis at a point. It has the year where points of several years meet. */
export function tickText({ points, grain }: TimeChart, place: number): string {
  const point = points[place];
  if (!point) return "";
  const years = points[0]?.key.slice(0, 4) !== points.at(-1)?.key.slice(0, 4);
  return bucketTick(point.key, grain, years);
}

/** The days from one point to another, both included: what a brush chooses. */
export function daysBetween({ points }: TimeChart, a: number, b: number, period: Period): Period {
  const at = (place: number) => points[Math.min(Math.max(place, 0), points.length - 1)];
  const [from, to] = [at(Math.min(a, b)), at(Math.max(a, b))];
  return { start: from?.days.start ?? period.start, end: to?.days.end ?? period.end };
}

function extremes(chart: TimeChart, line: Line): string {
  const known = line.values.flatMap((value, place) => (value === null ? [] : [{ value, place }]));
  const most = known.toSorted((a, b) => b.value - a.value)[0];
  const [first, last] = [known[0], known.at(-1)];
  if (!most || !first || !last) return `${line.name}: no traffic`;
  const at = line.kind === "previous" ? earlierText : pointText;
  const told = ({ value, place }: { value: number; place: number }) =>
    `${valueText(value, chart.metric)} at ${at(chart, place)}`;
  if (known.length === 1) return `${line.name}: ${told(first)}`;
  return `${line.name}: from ${told(first)} to ${told(last)}, at most ${told(most)}`;
}

/** The chart for readers who do not see it. */
export function chartDescription(chart: TimeChart, period: Period): string {
  const by = `${METRIC_NAMES[chart.metric]} by ${chart.grain.slice(0, -1)}`;
  const what = `${by}, ${periodText(period)}.`;
  const lines = chart.lines.map((line) => `${extremes(chart, line)}.`);
  return [what, ...lines, ...chart.notes, "All numbers are in the table below."].join(" ");
}

/** The change of a point against the comparison; empty without one. */
export function pointChange({ lines, compared }: TimeChart, place: number): string {
  const previous = lines[1];
  if (previous?.kind !== "previous") return "";
  return changeText(compared[place] ?? null, previous.values[place] ?? null);
}
