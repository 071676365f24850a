// Axes computed here, not by the chart library: positions on a linear or logarithmic scale and
// ticks at readable values. The library's own logarithmic axis turns a bound of 0 into infinity
// and cannot put a tick at every measured level.

import type { LevelValue } from "../document/document";
import type { XScale } from "./chart";
import { clean, multiples, niceStep } from "../../lib/chart/ticks";
import { shownUnit, significant, withUnit } from "../../lib/format";

export interface Tick {
  /** Where the tick lies on the axis, in the axis's own coordinate. */
  at: number;
  label: string;
}

export interface Axis {
  min: number;
  max: number;
  ticks: Tick[];
  /** From a value to the axis's coordinate; null for what a logarithm cannot show. */
  position: (value: number) => number | null;
}

export type YScale = "linear" | "log";
/** The x axis as the plan says, or as the reader wants it. */
export type XChoice = "plan" | "linear" | "log";
export type YKind = "measure" | "ratio";

const WANTED_TICKS = 5;

function plain(value: number): string {
  return value.toLocaleString("en-US", { maximumSignificantDigits: 4 });
}

function measureLabel(value: number, unit: string | null, of: number): string {
  if (value === 0) return "0";
  const shown = shownUnit(unit, of);
  return withUnit(plain(clean(value * shown.factor)), shown.unit);
}

/** An axis from zero to just above the largest value. */
function fromZero(largest: number, unit: string | null): Axis {
  const step = niceStep((largest > 0 ? largest : 1) / WANTED_TICKS);
  const max = clean(Math.ceil(largest / step - 0.02) * step) || step;
  // One unit for the whole axis: the one in which a step reads well.
  const of = Math.max(step * 2, max / 2);
  const ticks = multiples(0, max, step).map((value) => ({
    at: value,
    label: measureLabel(value, unit, of),
  }));
  return { min: 0, max: Math.max(max, largest * 1.02), ticks, position: (value) => value };
}

/** Readable values between two bounds on a logarithmic scale, at most about six of them. */
export function logTicks(low: number, high: number): number[] {
  const decades = (mantissas: readonly number[]) => {
    const ticks: number[] = [];
    for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e += 1) {
      for (const m of mantissas) {
        const value = clean(m * 10 ** e);
        if (value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9)) ticks.push(value);
      }
    }
    return ticks;
  };
  const [many, some, powers] = [decades([1, 2, 5]), decades([1, 3]), decades([1])];
  if (many.length < 3) return multiples(low, high, niceStep((high - low) / (WANTED_TICKS + 1)));
  const fitting = [many, some, powers].find((ticks) => ticks.length <= 6);
  const every = Math.ceil(powers.length / 6);
  return fitting ?? powers.filter((_, index) => index % every === 0);
}

function logarithmic(values: readonly number[], label: (value: number) => string): Axis {
  const positive = values.filter((value) => value > 0 && Number.isFinite(value));
  const [low, high] = positive.length
    ? [Math.min(...positive), Math.max(...positive)]
    : [1, 10];
  const room = Math.max(Math.log(high / low) * 0.07, 0.02);
  const [min, max] = [Math.log(low) - room, Math.log(high) + room];
  const ticks = logTicks(Math.exp(min), Math.exp(max));
  return {
    min,
    max,
    ticks: ticks.map((value) => ({ at: Math.log(value), label: label(value) })),
    // What is not positive (a wide interval's lower end) is drawn down to the axis's foot.
    position: (value) => (value > 0 ? Math.log(value) : min),
  };
}

/** The y axis of a chart whose values and bounds are `values`. */
export function yAxis(
  values: readonly number[],
  kind: YKind,
  scale: YScale,
  unit: string | null,
): Axis {
  if (kind === "ratio") return logarithmic([...values, 1], (value) => `${plain(value)}×`);
  if (scale === "log") {
    return logarithmic(values, (value) => measureLabel(value, unit, value));
  }
  return fromZero(Math.max(0, ...values.filter(Number.isFinite)), unit);
}

/**
 * The x axis of a factor. Every measured level has a tick; labels are placed where they fit,
 * planned levels first (`fittingLabels`). Levels that are not numbers are at equal distances.
 */
export interface XAxis {
  min: number;
  max: number;
  levels: { at: number; value: LevelValue; label: string; planned: boolean }[];
  position: (value: LevelValue) => number | null;
}

const isNumber = (value: LevelValue): value is number => typeof value === "number";

/** Whether a reader can choose between a linear and a logarithmic x axis. */
export function hasXChoice(x: XScale): boolean {
  const positive = x.levels.filter(({ value }) => isNumber(value) && value > 0);
  return !x.fixed && x.levels.length > 2 && positive.length === x.levels.length;
}

/** Whether the axis is drawn on a logarithmic scale. */
export function isLogarithmic(x: XScale, choice: XChoice = "plan"): boolean {
  const scale = choice === "plan" || x.fixed ? x.scale : choice;
  return scale === "log" && x.levels.length > 1
    && x.levels.every(({ value }) => isNumber(value) && value > 0);
}

/** The axis holds all levels of `x`, and the values in `reached` besides. */
export function xAxis(
  x: XScale,
  choice: XChoice = "plan",
  reached: readonly LevelValue[] = [],
): XAxis {
  const numeric = x.levels.every((level) => isNumber(level.value));
  const logScale = isLogarithmic(x, choice);
  const position = (value: LevelValue): number | null => {
    if (!numeric) {
      const index = x.levels.findIndex((level) => level.value === value);
      return index < 0 ? null : index;
    }
    if (!isNumber(value)) return null;
    return logScale ? (value > 0 ? Math.log(value) : null) : value;
  };
  const labels = tickLabels(x);
  const levels = x.levels
    .map((level) => ({
      at: position(level.value) ?? 0,
      value: level.value,
      label: labels.get(level.value) ?? String(level.value),
      planned: !level.bisected,
    }))
    .toSorted((a, b) => a.at - b.at);
  const places = [...levels.map((level) => level.at), ...reached.flatMap((v) => position(v) ?? [])];
  const [low, high] = [Math.min(...places), Math.max(...places)];
  const room = high > low ? (numeric ? (high - low) * 0.05 : 0.5) : 1;
  return { min: low - room, max: high + room, levels, position };
}

/**
 * What stands below the ticks. '4 clients' and 'server_cpus 4' are '4' where the axis's name says
 * the rest of every label; among 'week' and 'month' it stays '120 days'.
 */
function tickLabels(factor: XScale): Map<LevelValue, string> {
  const rest = (factor.unit ?? factor.label).toLowerCase().replace(/s$/, "");
  const labels = factor.levels.map((level) => {
    const number = typeof level.value === "number" ? level.value : Number.NaN;
    const value = Number.isInteger(number) || Number.isNaN(number)
      ? String(level.value)
      : significant(number);
    const text = level.label || value;
    const words = text.toLowerCase().split(" ").filter((word) => word !== value.toLowerCase());
    const word = words.join(" ").replace(/s$/, "");
    const short = word === "" || word === rest ? value : null;
    return { level: level.value, text, short };
  });
  const all = labels.every((label) => label.short !== null);
  return new Map(labels.map(({ level, text, short }) => [level, all ? (short ?? text) : text]));
}

/**
 * The levels whose labels fit side by side, none nearer than its own width and a gap. Planned
 * levels come first, then the ends of a bracket (`wanted`), then what bisection added besides.
 */
export function fittingLabels(
  axis: XAxis,
  width: number,
  charWidth: number,
  wanted: readonly LevelValue[] = [],
): Set<number> {
  const scale = width / (axis.max - axis.min);
  const spans: [number, number][] = [];
  const chosen = new Set<number>();
  const last = axis.levels.length - 1;
  const rank = (level: XAxis["levels"][number], index: number): number => {
    if (index === 0 || index === last) return 0;
    if (level.planned) return 1;
    return wanted.includes(level.value) ? 2 : 3;
  };
  const order = axis.levels
    .map((level, index) => ({ level, index, rank: rank(level, index) }))
    .toSorted((a, b) => a.rank - b.rank || a.index - b.index);
  for (const { level, index } of order) {
    const centre = (level.at - axis.min) * scale;
    const half = (level.label.length * charWidth) / 2 + 4;
    const free = spans.every(([from, to]) => centre + half < from || centre - half > to);
    if (!free) continue;
    spans.push([centre - half, centre + half]);
    chosen.add(index);
  }
  return chosen;
}
