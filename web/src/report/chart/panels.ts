// From an experiment to its charts: one panel per combination of the factors that are not the
// x axis, one line per engine (or per combination, where an engine has a panel to itself).

import type { Estimate, Factor, Levels, LevelValue } from "../document/document";
import { agrees, type Experiment, estimateOf, levelLabel } from "../document/experiment";
import { bracketsOf, crossingCaptions, gaps, troubles } from "./captions";
import { type Chart, type Line, type Point, scaleOf, type Span, type XScale } from "./chart";
import { speedOf, speedTitle } from "../document/outcome";
import { engineStyle, levelStyle } from "./style";

type Value = (engine: string, levels: Levels) => Estimate | number | null;

function point(level: LevelValue, label: string, value: Estimate | number | null): Point {
  if (value === null) return { level, label, bounds: null, kind: "none" };
  if (typeof value === "number") {
    return { level, label, bounds: { value, low: null, high: null }, kind: "none" };
  }
  const bare = value.low === null || value.high === null;
  const kind = bare ? "none" : value.method === "RangeOnly" ? "range" : "interval";
  return { level, label, bounds: value, kind };
}

const measured = (line: Line) => line.points.some((p) => p.bounds !== null);

/** One line per engine over the levels of `factor`, the other levels held fixed. */
function engineLines(experiment: Experiment, factor: Factor, fixed: Levels, value: Value): Line[] {
  const lines = experiment.engines.map((engine) => ({
    name: engine,
    style: engineStyle(experiment.place(engine)),
    points: factor.levels.map(({ value: level }) =>
      point(level, levelLabel(factor, level), value(engine, { ...fixed, [factor.name]: level })),
    ),
  }));
  return lines.filter(measured);
}

/** One point per engine, each at its own place: what an experiment shows at a single level. */
function engineRow(
  experiment: Experiment,
  levels: Levels,
  value: Value,
): Pick<Chart, "x" | "lines"> {
  const lines = experiment.engines.map((engine) => ({
    name: engine,
    style: engineStyle(experiment.place(engine)),
    points: [point(engine, engine, value(engine, levels))],
  }));
  const present = lines.filter(measured);
  const places = present.map(({ name }) => ({ value: name, label: name }));
  const x: XScale = {
    label: "Engine", unit: null, scale: "linear", levels: places, joined: false,
  };
  return { x, lines: present };
}

/** Lines over the x axis; with a single level the engines themselves are the x axis. */
function overSwept(experiment: Experiment, fixed: Levels, value: Value) {
  const { swept } = experiment;
  if (swept && swept.levels.length > 1) {
    return { x: scaleOf(swept), lines: engineLines(experiment, swept, fixed, value) };
  }
  const only = swept?.levels[0];
  const levels = swept && only ? { ...fixed, [swept.name]: only.value } : fixed;
  return engineRow(experiment, levels, value);
}

export function response(request: string | null, experiment: Experiment): Value {
  return (engine, levels) => estimateOf(experiment.treatment(engine, levels), request);
}

/** The factor over which throughput scales. */
const CLIENTS = "clients";

/** The number of processors on an axis of clients: where a peak is likely. */
function coresOf({ document, swept }: Experiment): Span[] {
  const cores = document.throughput?.cores;
  if (cores === undefined || swept?.name !== CLIENTS) return [];
  const levels = swept.levels.map((level) => Number(level.value));
  if (cores < Math.min(...levels) || cores > Math.max(...levels)) return [];
  return [{ low: cores, high: cores, label: cores === 1 ? "1 core" : `${cores} cores` }];
}

/** All engines over the x axis, a panel per combination of the other factors. */
export function bySwept(experiment: Experiment, request: string | null = null): Chart[] {
  const { document } = experiment;
  const label = document.response.label;
  return experiment.combinations(experiment.others).map((fixed, index) => {
    const drawn = overSwept(experiment, fixed, response(request, experiment));
    const crossings = experiment.crossings(fixed, request);
    return {
      id: `${request ?? "mean"}-${index + 1}`,
      subject: request ?? label,
      title: experiment.describe(fixed),
      measure: request === null ? label : `${request}: ${label.toLowerCase()}`,
      unit: document.response.unit,
      kind: "measure",
      ...drawn,
      spans: drawn.x.joined
        ? [...bracketsOf(experiment, crossings), ...coresOf(experiment)]
        : [],
      captions: [
        ...crossingCaptions(experiment, crossings, fixed),
        ...gaps(drawn.lines),
        ...(request === null ? troubles(experiment, fixed) : []),
      ],
    };
  });
}

/** The panels of `bySwept` again, showing another value. */
function again(
  experiment: Experiment,
  value: Value,
  measure: string,
  change: (index: number) => Partial<Chart>,
): Chart[] {
  const combinations = experiment.combinations(experiment.others);
  const charts = bySwept(experiment).map((chart, index) => ({
    ...chart,
    ...overSwept(experiment, combinations[index] ?? {}, value),
    captions: [],
    subject: measure,
    measure,
    ...change(index),
  }));
  return charts.some((chart) => chart.lines.length > 0) ? charts : [];
}

/** The ratio to the first engine: what verdicts are computed from. */
export function ratioCharts(experiment: Experiment): Chart[] {
  const base = experiment.document.treatments.find((t) => t.ratio)?.ratio?.to;
  if (!base) return [];
  const value: Value = (engine, levels) => {
    const treatment = experiment.treatment(engine, levels);
    if (engine === base) return treatment?.estimate ? 1 : null;
    const ratio = treatment?.ratio?.estimate;
    return ratio ? { ...ratio, ...speedOf(experiment, ratio) } : null;
  };
  const measure = speedTitle(experiment, base);
  return again(experiment, value, measure, (index) => ({
    id: `ratio-${index + 1}`, unit: null, kind: "ratio",
  }));
}

export function cpuCharts(experiment: Experiment): Chart[] {
  const value: Value = (engine, levels) =>
    experiment.treatment(engine, levels)?.cpu_seconds_per_request ?? null;
  return again(experiment, value, `CPU time per ${experiment.unitOfWork}`, (index) => ({
    id: `cpu-${index + 1}`, unit: "s", spans: [],
  }));
}

/** Throughput by that at one client: how far an engine scales, apart from how fast it is. */
export function scalingCharts(experiment: Experiment): Chart[] {
  const { throughput } = experiment.document;
  if (!throughput || experiment.swept?.name !== CLIENTS) return [];
  const value: Value = (engine, levels) => {
    const of = throughput.scaling.find((one) => one.engine === engine && agrees(one.levels, levels));
    return of?.over_one_client.find((at) => at.clients === levels[CLIENTS])?.estimate ?? null;
  };
  return again(experiment, value, "Throughput by that at 1 client", (index) => ({
    id: `scaling-${index + 1}`, unit: null, kind: "ratio", spans: coresOf(experiment),
  }));
}

/** Response times beside a response that is a rate. */
export function timeCharts(experiment: Experiment): Chart[] {
  const value: Value = (engine, levels) =>
    experiment.treatment(engine, levels)?.response_time_ms_mean ?? null;
  return again(experiment, value, "Mean response time", (index) => ({
    id: `time-${index + 1}`, unit: "ms", spans: [],
  }));
}

/** Each engine by itself: a line per combination of the other factors. */
export function byEngine(experiment: Experiment): Chart[] {
  const { swept, document } = experiment;
  if (!swept || swept.levels.length < 2) return [];
  const value = response(null, experiment);
  const combinations = experiment.combinations(experiment.others);
  return experiment.engines.map((engine, place) => {
    const all = combinations.map((fixed, index) => ({
      name: experiment.describe(fixed),
      style: levelStyle(experiment.place(engine), index),
      points: swept.levels.map(({ value: level }) =>
        point(level, levelLabel(swept, level), value(engine, { ...fixed, [swept.name]: level })),
      ),
    }));
    const lines = all.filter(measured);
    return {
      id: `engine-${place + 1}`,
      title: experiment.nameOf(engine),
      measure: document.response.label,
      unit: document.response.unit,
      kind: "measure" as const,
      x: scaleOf(swept),
      lines,
      spans: coresOf(experiment),
      captions: gaps(lines),
    };
  });
}

/** All engines over another factor, a panel per level of the swept one. */
export function byOther(experiment: Experiment, inner: Factor): Chart[] {
  const { swept, document } = experiment;
  if (!swept) return [];
  const rest = experiment.others.filter((factor) => factor !== inner);
  return experiment.combinations([swept, ...rest]).flatMap((fixed, index) => {
    const levels = inner.levels.filter(
      (level) => experiment.treatmentsAt({ ...fixed, [inner.name]: level.value }).length > 0,
    );
    if (levels.length < 2) return [];
    const lines = engineLines(experiment, inner, fixed, response(null, experiment));
    return {
      id: `by-${inner.name}-${index + 1}`,
      subject: document.response.label,
      title: experiment.describe(fixed),
      measure: document.response.label,
      unit: document.response.unit,
      kind: "measure" as const,
      x: scaleOf(inner),
      lines,
      spans: [],
      captions: gaps(lines),
    };
  });
}
