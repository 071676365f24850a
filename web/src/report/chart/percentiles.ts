// The percentile plot: response time over the share of requests that were answered within it. The
// x axis is that of HDR histograms, 1/(1-p) on a logarithmic scale, so that each further nine
// takes the same room (Tene). Only percentiles that the observations support are in the document.

import type { Levels, Treatment } from "../document/document";
import type { Experiment } from "../document/experiment";
import type { Chart, Line, Point, XScale } from "./chart";
import { engineStyle } from "./style";

/** Percentiles named on the axis, as far as the curves reach. */
const NAMED = [0, 0.5, 0.9, 0.95, 0.99, 0.999, 0.9999, 0.99999, 0.999999];

/** The place of a probability on the axis. */
export const nines = (p: number): number => 1 / Math.max(1 - p, 1e-12);

/** p99 for 0.99, p99.9 for 0.999, rounded in what lies beyond; the axis begins at 0. */
export function percentileName(p: number): string {
  const beyond = Number((1 - p).toPrecision(3));
  return p === 0 ? "0" : `p${Number(((1 - beyond) * 100).toPrecision(9))}`;
}

/** The combinations of all factors at which some engine has a curve. */
export function percentileCells(experiment: Experiment): Levels[] {
  return experiment.combinations(experiment.document.factors).filter((levels) =>
    experiment.treatmentsAt(levels).some((treatment) => treatment.percentile_curve.length > 1));
}

function curve({ percentile_curve }: Treatment): Point[] {
  const marked = new Set(NAMED.map((p) => indexOf(percentile_curve, p)));
  return percentile_curve.map(([p, value], index) => ({
    level: nines(p),
    label: percentileName(p),
    bounds: { value, low: null, high: null },
    kind: "none",
    plain: !marked.has(index),
  }));
}

/** The index of the curve's point at this percentile; -1 where the curve has none. */
function indexOf(curve: Treatment["percentile_curve"], p: number): number {
  return curve.findIndex(([at]) => Math.abs(at - p) <= (1 - p) * 1e-6);
}

/** One line per engine at these levels; null where no curve was recorded. */
export function percentileChart(experiment: Experiment, levels: Levels): Chart | null {
  const lines: Line[] = experiment.treatmentsAt(levels)
    .filter((treatment) => treatment.percentile_curve.length > 1)
    .map((treatment) => ({
      name: treatment.engine,
      style: engineStyle(experiment.place(treatment.engine)),
      points: curve(treatment),
    }));
  const most = Math.max(...lines.flatMap((line) => line.points.map((p) => Number(p.level))));
  if (lines.length === 0) return null;
  const named = NAMED.filter((p) => nines(p) <= most * 1.001);
  const x: XScale = {
    label: "Percentile",
    unit: null,
    scale: "log",
    levels: named.map((p) => ({ value: nines(p), label: percentileName(p) })),
    joined: true,
    fixed: true,
  };
  return {
    id: "percentiles",
    title: experiment.describe(levels) || "All engines",
    measure: "Response time",
    unit: "ms",
    kind: "measure",
    x,
    lines,
    spans: [],
    captions: reach(lines, most),
  };
}

/** Curves end where observations do, which is said rather than guessed on. */
function reach(lines: readonly Line[], most: number): Chart["captions"] {
  return lines.flatMap((line) => {
    const end = line.points.at(-1);
    if (!end || Number(end.level) >= most * 0.98) return [];
    const text = `${line.name} has observations enough up to ${end.label}.`;
    return [{ text, marked: false }];
  });
}
