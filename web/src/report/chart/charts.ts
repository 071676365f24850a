// The report's charts as plain data: which lines, points and brackets each panel shows. Drawing
// (option.ts), tables and downloads all read this, so they cannot disagree.

import type { Crossing, Estimate, Factor, Levels, LevelValue } from "../document";
import { agrees, boundsName, type Experiment, estimateOf, levelLabel } from "../experiment";
import type { Bounds } from "../../lib/format";
import type { YKind } from "./axis";
import { engineStyle, levelStyle, type LineStyle } from "./style";

export type BoundsKind = "interval" | "range" | "none";

export interface Point {
  level: LevelValue;
  label: string;
  /** Null where nothing was measured. */
  bounds: Bounds | null;
  kind: BoundsKind;
}

export interface Line {
  name: string;
  style: LineStyle;
  points: Point[];
}

/** Two measured levels between which two lines cross. */
export interface Bracket {
  low: number;
  high: number;
}

export interface Chart {
  /** Unique in the page; part of a download's file name. */
  id: string;
  title: string;
  /** What the y axis shows. */
  measure: string;
  unit: string | null;
  kind: YKind;
  factor: Factor;
  lines: Line[];
  brackets: Bracket[];
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

function kindOf(estimate: Estimate): BoundsKind {
  if (estimate.low === null || estimate.high === null) return "none";
  return estimate.method === "RangeOnly" ? "range" : "interval";
}

function point(factor: Factor, level: LevelValue, value: Estimate | number | null): Point {
  const label = levelLabel(factor, level);
  if (value === null) return { level, label, bounds: null, kind: "none" };
  if (typeof value === "number") {
    return { level, label, bounds: { value, low: null, high: null }, kind: "none" };
  }
  return { level, label, bounds: value, kind: kindOf(value) };
}

type Value = (engine: string, levels: Levels) => Estimate | number | null;

/** One line per engine over the levels of `factor`, the other levels held fixed. */
function engineLines(experiment: Experiment, factor: Factor, fixed: Levels, value: Value): Line[] {
  return experiment.engines
    .map((engine, index) => ({
      name: engine,
      style: engineStyle(index),
      points: factor.levels.map((level) =>
        point(factor, level.value, value(engine, { ...fixed, [factor.name]: level.value })),
      ),
    }))
    .filter((line) => line.points.some((p) => p.bounds !== null));
}

function response(experiment: Experiment, request: string | null): Value {
  return (engine, levels) => estimateOf(experiment.treatment(engine, levels), request);
}

/** Says that a line has gaps, and where: missing data is named, never bridged. */
function gaps(lines: readonly Line[]): string[] {
  return lines.flatMap((line) => {
    const missing = line.points.filter((p) => p.bounds === null).map((p) => p.label);
    return missing.length ? [`Not measured: ${line.name} at ${missing.join(", ")}.`] : [];
  });
}

/**
 * Drops a leading "4 clients, articles: " where titles already say so. What is left begins with a
 * capital, unless it begins with an engine's name.
 */
function withoutPrefix(
  sentence: string,
  titles: readonly string[],
  engines: readonly string[],
): string {
  const prefix = `${titles.filter((title) => title !== "").join(", ")}: `;
  const rest = sentence.startsWith(prefix) ? sentence.slice(prefix.length) : sentence;
  if (engines.some((engine) => rest.startsWith(engine))) return rest;
  return rest.charAt(0).toUpperCase() + rest.slice(1);
}

/** Each bracket once, though several pairs of engines may cross in it. */
function bracketsOf(crossings: readonly Crossing[]): Bracket[] {
  const brackets = crossings.flatMap((c) =>
    c.kind === "bracketed" && c.low !== null && c.high !== null
      ? [{ low: c.low, high: c.high }]
      : [],
  );
  return [...new Map(brackets.map((b) => [`${b.low} ${b.high}`, b])).values()];
}

function crossingCaptions(
  crossings: readonly Crossing[],
  title: string,
  engines: readonly string[],
): Chart["captions"] {
  // Several crossings of one pair of lines share a sentence.
  return [...new Set(crossings.map((c) => c.sentence))].map((sentence) => {
    const of = crossings.filter((crossing) => crossing.sentence === sentence);
    return {
      text: withoutPrefix(sentence, [title, of[0]?.request ?? ""], engines),
      marked: of.some((crossing) => crossing.kind === "bracketed"),
    };
  });
}

/** How the bounds of charts that show these estimates are to be read. */
function boundsNote(estimates: readonly Estimate[], of: "mean" | "ratio"): string {
  const names = [...new Set(estimates.map(boundsName))];
  const replicates = estimates.map((estimate) => estimate.replicates);
  const [least, most] = [Math.min(...replicates), Math.max(...replicates)];
  const blocks = least === most ? (most === 1 ? "1 block" : `${most} blocks`)
    : `${least} to ${most} blocks`;
  const [name = ""] = names;
  if (names.length === 0) return "";
  if (names.length > 1) {
    return `Bands are intervals of the ${of}, whiskers without a band only ranges; ${blocks}.`;
  }
  if (name.startsWith("range")) {
    return `Whiskers: the range of ${blocks}, smallest to largest; not an interval.`;
  }
  return name === "no interval" ? `Without an interval: ${blocks}.`
    : `Bands: ${name} of the ${of}, ${blocks}.`;
}

function meansNote({ document }: Experiment): string {
  return boundsNote(document.treatments.flatMap((t) => t.estimate ?? []), "mean");
}

/** All engines over the swept factor, a panel per combination of the other factors. */
export function bySwept(experiment: Experiment, request: string | null = null): Chart[] {
  const { swept, document } = experiment;
  if (!swept) return [];
  const label = document.response.label;
  return experiment.combinations(experiment.others).map((fixed, index) => {
    const title = experiment.describe(fixed) || "All engines";
    const lines = engineLines(experiment, swept, fixed, response(experiment, request));
    const crossings = experiment.crossings(fixed, request);
    return {
      id: `${request ?? "mean"}-by-${swept.name}-${index + 1}`,
      title,
      measure: request === null ? label : `${request}: ${label.toLowerCase()}`,
      unit: document.response.unit,
      kind: "measure",
      factor: swept,
      lines,
      brackets: bracketsOf(crossings),
      captions: [
        ...crossingCaptions(crossings, experiment.describe(fixed), experiment.engines),
        ...gaps(lines).map((text) => ({ text, marked: false })),
      ],
    };
  });
}

/** The same panels for the ratio to the first engine: what verdicts are computed from. */
function ratioCharts(experiment: Experiment): Chart[] {
  const base = experiment.document.treatments.find((t) => t.ratio)?.ratio?.to;
  if (!base) return [];
  const value: Value = (engine, levels) => {
    const treatment = experiment.treatment(engine, levels);
    if (engine === base) return treatment?.estimate ? 1 : null;
    return treatment?.ratio?.estimate ?? null;
  };
  return bySwept(experiment).map((chart, index) => ({
    ...chart,
    id: `ratio-${index + 1}`,
    measure: `Ratio to ${base}`,
    unit: null,
    kind: "ratio",
    lines: refill(experiment, chart, index, value),
    captions: [],
  }));
}

function cpuCharts(experiment: Experiment): Chart[] {
  const value: Value = (engine, levels) =>
    experiment.treatment(engine, levels)?.cpu_seconds_per_request ?? null;
  const charts = bySwept(experiment).map((chart, index) => ({
    ...chart,
    id: `cpu-${index + 1}`,
    measure: "CPU time per request",
    unit: "s",
    lines: refill(experiment, chart, index, value),
    brackets: [],
    captions: [],
  }));
  return charts.some((chart) => chart.lines.length > 0) ? charts : [];
}

function refill(experiment: Experiment, chart: Chart, index: number, value: Value): Line[] {
  const fixed = experiment.combinations(experiment.others)[index] ?? {};
  return engineLines(experiment, chart.factor, fixed, value);
}

/** Each engine by itself: a line per combination of the other factors. */
function byEngine(experiment: Experiment): ChartRow["charts"] {
  const { swept, document } = experiment;
  if (!swept) return [];
  const combinations = experiment.combinations(experiment.others);
  return experiment.engines.map((engine, engineIndex) => {
    const lines = combinations.map((fixed, index) => ({
      name: experiment.describe(fixed),
      style: levelStyle(engineIndex, index),
      points: swept.levels.map((level) => {
        const levels = { ...fixed, [swept.name]: level.value };
        return point(swept, level.value, response(experiment, null)(engine, levels));
      }),
    })).filter((line) => line.points.some((p) => p.bounds !== null));
    return {
      id: `engine-${engineIndex + 1}`,
      title: engine,
      measure: document.response.label,
      unit: document.response.unit,
      kind: "measure" as const,
      factor: swept,
      lines,
      brackets: [],
      captions: gaps(lines).map((text) => ({ text, marked: false })),
    };
  });
}

/** All engines over another factor, a panel per level of the swept one. */
function byOther(experiment: Experiment, inner: Factor): Chart[] {
  const { swept, document } = experiment;
  if (!swept) return [];
  const rest = experiment.others.filter((factor) => factor !== inner);
  return experiment.combinations([swept, ...rest]).flatMap((fixed, index) => {
    const lines = engineLines(experiment, inner, fixed, response(experiment, null));
    const levels = inner.levels.filter((level) =>
      document.treatments.some((t) => agrees({ ...fixed, [inner.name]: level.value }, t.levels)),
    );
    if (levels.length < 2) return [];
    return {
      id: `by-${inner.name}-${index + 1}`,
      title: experiment.describe(fixed),
      measure: document.response.label,
      unit: document.response.unit,
      kind: "measure" as const,
      factor: inner,
      lines,
      brackets: [],
      captions: gaps(lines).map((text) => ({ text, marked: false })),
    };
  });
}

/** Each engine by itself; with one engine alone this is the main row. */
function engineRow(experiment: Experiment, title: string): ChartRow {
  const charts = byEngine(experiment);
  const longest = charts.toSorted((a, b) => b.lines.length - a.lines.length)[0];
  const legend = longest?.lines ?? null;
  return { id: "engine", title, note: meansNote(experiment), charts, legend };
}

/** Every row of charts over all requests, in reading order; rows that say nothing are left out. */
export function chartRows(experiment: Experiment): ChartRow[] {
  const { swept, others, document } = experiment;
  if (!swept) return [];
  const note = meansNote(experiment);
  const ratioBounds = document.treatments.flatMap((t) => t.ratio?.estimate ?? []);
  const several = experiment.combinations(others).length > 1;
  const alone = experiment.engines.length < 2;
  const over = swept.label.toLowerCase();
  const title = `${document.response.label} by ${over}`;
  const ratios = ratioCharts(experiment);
  const { lower_is_better } = document.response;
  const better = lower_is_better ? "Below 1× is faster." : "Above 1× is better.";
  const inner = others.toSorted((a, b) => b.levels.length - a.levels.length)[0];
  const rows: ChartRow[] = [
    several && alone
      ? engineRow(experiment, title)
      : { id: "mean", title, note, charts: bySwept(experiment), legend: null },
    {
      id: "ratio",
      title: `${ratios[0]?.measure ?? ""} by ${over}`,
      note: `${better} Logarithmic, so that half and double look alike. ` +
        boundsNote(ratioBounds, "ratio"),
      charts: ratios,
      legend: null,
    },
    {
      id: "cpu",
      title: `CPU time per request by ${over}`,
      note: "Of the whole server side, all cores together.",
      charts: cpuCharts(experiment),
      legend: null,
    },
    ...(several && !alone ? [engineRow(experiment, `Each engine by ${over}`)] : []),
    {
      id: "other",
      title: `${document.response.label} by ${inner?.label.toLowerCase() ?? ""}`,
      note,
      charts: inner && inner.levels.length > 1 ? byOther(experiment, inner) : [],
      legend: null,
    },
  ];
  return rows.filter((row) => row.charts.length > 0);
}

/** A sentence for readers who do not see the chart. */
export function description(chart: Chart): string {
  const names = chart.lines.map((line) => line.name).join(", ");
  const captions = chart.captions.map((caption) => caption.text).join(" ");
  return `${chart.measure} by ${chart.factor.label.toLowerCase()}, ${chart.title}: ${names}. ` +
    `${captions} The numbers are in the table below.`;
}
