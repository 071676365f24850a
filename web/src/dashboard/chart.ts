// The chart over time as a value: its points in order, also those without traffic, its lines, and
// in words what it shows. Drawing (option.ts), table, description and downloads all read it.

import type { Answer, Metrics, Row } from "./api";
import {
  type Bucket, buckets, bucketText, bucketTick, type Compare, daysOfKey, pairedKey, type Period, periodText,
  within,
} from "./calendar";
import type { Grain } from "./dimension";
import { changeText, METRIC_NAMES, NOTHING, valueOf, valueText } from "./measure";
import type { Split } from "./table";
import type { Metric } from "./view";

export interface Line {
  /** The country's key of a split; empty for the line of all traffic. */
  key: string;
  name: string;
  kind: "present" | "previous" | "country";
  /** Null where nothing is known. */
  values: readonly (number | null)[];
}

export interface TimeChart {
  metric: Metric;
  grain: Grain;
  points: readonly Bucket[];
  lines: readonly Line[];
  /** Sentences below the chart. */
  notes: readonly string[];
}

export interface ChartInput {
  answer: Answer;
  period: Period;
  /** The days that the data covers: outside nothing is known, inside no row means no traffic. */
  known: Period;
  grain: Grain;
  metric: Metric;
  compare: Compare;
  split: Split | null;
}

function valuesBy(rows: readonly Row[], points: readonly Bucket[], metric: Metric) {
  const found = new Map(rows.map((row) => [row.key, row]));
  return points.map(({ key }) => valueOf(found.get(key) ?? NOTHING, metric));
}

function previousValues(input: ChartInput, points: readonly Bucket[]) {
  const { answer: { rows }, period, known, grain, metric, compare } = input;
  const found = new Map<string, Metrics | undefined>(rows.map((row) => [row.key, row.previous]));
  return points.map(({ key }) => {
    const previous = found.get(key);
    // Before the data begins nothing is known, although the API adds up to nothing there.
    const days = daysOfKey(pairedKey(key, grain, compare, period), grain);
    return previous && days.end >= known.start ? valueOf(previous, metric) : null;
  });
}

function countryLines(
  { countries, rows }: Split, points: readonly Bucket[], metric: Metric,
): Line[] {
  return countries.map(({ key, label }) => ({
    key,
    name: label,
    kind: "country" as const,
    values: valuesBy(rows.filter((row) => row.country === key), points, metric),
  }));
}

export const COMPARED: Record<Exclude<Compare, "none">, string> = {
  previous: "The period before",
  year: "The year before",
};

function partNote(points: readonly Bucket[], grain: Grain, period: Period): string[] {
  if (grain === "days") return [];
  const [first, last] = [points[0], points.at(-1)];
  const one = grain.slice(0, -1);
  const told = [first, last === first ? undefined : last].flatMap((point, place) => {
    if (!point || point.whole) return [];
    const part = within(point.days, period);
    const name = points.length === 1 ? "only" : place === 0 ? "first" : "last";
    return part ? [`The ${name} ${one} is only ${periodText(part)}.`] : [];
  });
  return told;
}

export function chartOf(input: ChartInput): TimeChart {
  const { answer, period, known, grain, metric, compare, split } = input;
  const shown = within(period, known);
  const points = shown ? buckets(shown, grain) : [];
  const lines: Line[] = split
    ? countryLines(split, points, metric)
    : [
      { key: "", name: "This period", kind: "present",
        values: valuesBy(answer.rows, points, metric) },
      ...(compare === "none" ? [] : [{ key: "", name: COMPARED[compare], kind: "previous" as const,
        values: previousValues(input, points) }]),
    ];
  const outside = shown && (shown.start > period.start || shown.end < period.end)
    ? [`There is data from ${periodText(known)} only.`] : [];
  const notes = [...partNote(points, grain, period), ...outside];
  return { metric, grain, points, lines, notes };
}

/** A point's own days that the period holds, in words. */
export function pointText({ points, grain }: TimeChart, place: number): string {
  const point = points[place];
  return point ? bucketText(point.key, grain) : "";
}

/** The days that the line of the comparison shows at a point. */
export function previousText(
  { points, grain }: TimeChart, place: number, compare: Compare, period: Period,
): string {
  const point = points[place];
  if (!point || compare === "none") return "";
  return bucketText(pairedKey(point.key, grain, compare, period), grain);
}

/** What stands below the axis at a point. Years are told where points of several years meet. */
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
  const days = { start: from?.days.start ?? period.start, end: to?.days.end ?? period.end };
  return within(days, period) ?? days;
}

function extremes(chart: TimeChart, line: Line): string {
  const known = line.values.flatMap((value, place) => (value === null ? [] : [{ value, place }]));
  const most = known.toSorted((a, b) => b.value - a.value)[0];
  const [first, last] = [known[0], known.at(-1)];
  if (!most || !first || !last) return `${line.name}: no traffic`;
  const told = ({ value, place }: { value: number; place: number }) =>
    `${valueText(value, chart.metric)} at ${pointText(chart, place)}`;
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
export function pointChange({ lines }: TimeChart, place: number): string {
  const [present, previous] = lines;
  if (previous?.kind !== "previous") return "";
  return changeText(present?.values[place] ?? null, previous.values[place] ?? null);
}
