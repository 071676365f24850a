// What a chart is: lines of points with their bounds over one axis, and what is marked on it.
// Drawing (option.ts, series.ts), tables, descriptions and downloads all read this one value, so
// they cannot disagree. Nothing here knows what an experiment is.

import type { Factor, Level, LevelValue } from "../document/document";
import { type Bounds, MISSING, quantity } from "../../lib/format";
import type { YKind } from "./axis";
import type { LineStyle } from "./style";

export type BoundsKind = "interval" | "range" | "none";

export interface Point {
  level: LevelValue;
  label: string;
  /** Null where nothing was measured. */
  bounds: Bounds | null;
  kind: BoundsKind;
  /** Drawn without a symbol, since it is one of many along a curve. */
  plain?: boolean;
}

export interface Line {
  name: string;
  /** What a reader calls it, where that is not its name in tables. */
  title?: string;
  style: LineStyle;
  points: Point[];
}

/** The x axis: levels in their order. */
export interface XScale extends Pick<Factor, "label" | "unit" | "scale"> {
  levels: (Pick<Level, "value" | "label"> & Partial<Level>)[];
  /** Points of a line are joined; false between engines or designs, which have no between. */
  joined: boolean;
  /** The scale is part of what the chart says, so the reader's choice does not change it. */
  fixed?: boolean;
}

/** A part of the x axis that is marked and named: a measured bracket, or (low = high) one place. */
export interface Span {
  low: LevelValue;
  high: LevelValue;
  label: string;
  /** Shaded as this line: where it is shown to be ahead. */
  style?: LineStyle;
}

export interface Chart {
  /** Unique in the page; part of a download's file name. */
  id: string;
  /** What the chart is about, before its title, where the title only says at which levels. */
  subject?: string;
  title: string;
  /** What the y axis shows. */
  measure: string;
  unit: string | null;
  kind: YKind;
  x: XScale;
  lines: Line[];
  spans: Span[];
  /** Lines are named at their ends, so that no legend is needed. */
  namedEnds?: boolean;
  /** Sentences below the chart; `marked` ones explain a shaded bracket. */
  captions: { text: string; marked: boolean }[];
}

/** Charts that belong side by side and may share their y axis. */
export interface ChartRow {
  id: string;
  title: string;
  note: string;
  charts: Chart[];
  /** Lines that are not engines need a legend of their own. */
  legend: Pick<Line, "name" | "style">[] | null;
}

/** The title of a chart that stands alone: 'articles, 4 clients'. */
export function heading({ subject, title }: Pick<Chart, "subject" | "title">): string {
  return [subject, title].filter(Boolean).join(", ");
}

/** Every value and bound that a chart draws. */
export function valuesOf(chart: Chart): number[] {
  return chart.lines.flatMap((line) =>
    line.points.flatMap(({ bounds }) =>
      bounds ? [bounds.value, bounds.low ?? bounds.value, bounds.high ?? bounds.value] : [],
    ),
  );
}

/** A factor as an axis: joined where something lies between its levels. */
export function scaleOf(factor: Factor): XScale {
  const numeric = factor.levels.every((level) => typeof level.value === "number");
  return { ...factor, joined: numeric || factor.swept };
}

/** What names a point's value in words: '52.1 ms', '1.20 times'. */
export function valueText(chart: Pick<Chart, "kind" | "unit">, bounds: Bounds | null): string {
  if (!bounds) return MISSING;
  return quantity(bounds.value, chart.unit) + (chart.kind === "ratio" ? "×" : "");
}

export const titleOf = ({ title, name }: Line): string => title ?? name;

/** Lines told one by one in a description; more are only counted. */
const TOLD_LINES = 4;

/** How each line goes from its first measured level to its last. */
function courses(chart: Chart): string {
  const told = chart.lines.slice(0, TOLD_LINES).map((line) => {
    const measured = line.points.filter((point) => point.bounds !== null);
    const [first, last] = [measured[0], measured.at(-1)];
    if (!first || !last) return `${titleOf(line)} ${MISSING}`;
    const start = `${titleOf(line)} ${valueText(chart, first.bounds)} at ${first.label}`;
    return first === last ? start : `${start}, ${valueText(chart, last.bounds)} at ${last.label}`;
  });
  const more = chart.lines.length - told.length;
  return `${told.join("; ")}${more > 0 ? `; and ${more} more` : ""}.`;
}

/** What is shaded, in words: 'SQLite faster from week to month'. */
function shaded({ spans, x }: Chart): string[] {
  const name = (level: LevelValue) =>
    x.levels.find(({ value }) => value === level)?.label || String(level);
  return spans.filter((span) => span.style).map(({ low, high, label }) =>
    `${label} ${low === high ? `at ${name(low)}` : `from ${name(low)} to ${name(high)}`}.`);
}

/** The chart for readers who do not see it: its finding first, then how its lines go. */
export function description(chart: Chart): string {
  const findings = [...shaded(chart), ...chart.captions.map((caption) => caption.text)];
  const by = `${chart.measure} by ${chart.x.label.toLowerCase()}`;
  const what = `${[by, chart.title].filter(Boolean).join(", ")}.`;
  return [what, ...findings, courses(chart), "All numbers are in the table below."].join(" ");
}
