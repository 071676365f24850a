// The answer as a matrix: a row for each pair of engines and combination of the other factors, a
// column for each level of the x axis, in a cell the ratio and what is shown by it.

import type { Cell, Csv } from "../../lib/csv";
import { type Bounds, capitalised, significant } from "../../lib/format";
import type { Level, Levels } from "../document/document";
import { xAxis } from "../chart/axis";
import { scaleOf } from "../chart/chart";
import type { Experiment } from "../document/experiment";
import { possessive } from "../document/names";
import { fasterOf, type Outcome, outcomesAt, type Pair, pairsOf } from "../document/outcome";

export interface MatrixCell {
  outcome: Outcome;
  ratio: string;
  /** '0.43 to 0.45'; empty without an interval. */
  interval: string;
  /** What the ratio does not say by itself. */
  word: "equal" | "?" | "";
  /** The engine shown faster, whose colour the cell has, by strength from 0 to 1. */
  winner: string | null;
  strength: number;
}

export interface MatrixRow {
  pair: Pair;
  label: string;
  fixed: Levels;
  cells: (MatrixCell | null)[];
}

export interface Matrix {
  /** What the columns are. */
  axis: string;
  levels: { value: Level["value"]; label: string }[];
  rows: MatrixRow[];
  pairs: Pair[];
  /** Rows differ in more than their pair. */
  isLabelled: boolean;
  /** Cells have room for intervals. */
  isRoomy: boolean;
  title: string;
  caption: string;
}

/** Beside the chart more columns have no room for intervals, which are told by hovering then. */
const ROOMY_COLUMNS = 5;

/** A ratio of four and more has a cell's full strength. */
const STRONGEST = Math.log(4);

/** Two digits where it is below 1, as the headline has it, otherwise three. */
function ratioText(ratio: number): string {
  return ratio >= 0.1 && ratio < 0.995 ? ratio.toFixed(2) : significant(ratio);
}

function intervalText({ low, high }: Bounds): string {
  if (low === null || high === null) return "";
  const [from, to] = [low, high].map(ratioText);
  return from === to ? `${significant(low)} to ${significant(high)}` : `${from} to ${to}`;
}

function cellOf(outcome: Outcome): MatrixCell {
  const { ratio, verdict } = outcome;
  const winner = fasterOf(outcome);
  return {
    outcome,
    ratio: ratioText(ratio.value),
    interval: intervalText(ratio),
    word: verdict === "equal" ? "equal" : verdict === "undecided" ? "?" : "",
    winner,
    strength: winner ? Math.min(1, Math.abs(Math.log(ratio.value)) / STRONGEST) : 0,
  };
}

/** 'Time of PostgreSQL 18 as a multiple of SQLite's': of rates the response's own name. */
function titleOf(experiment: Experiment, pairs: readonly Pair[]): string {
  const { response } = experiment.document;
  const what = response.lower_is_better && response.unit ? "time" : response.label.toLowerCase();
  const bases = [...new Set(pairs.map((pair) => pair.base))].map((e) => experiment.nameOf(e));
  const [base = ""] = bases;
  const [pair] = pairs;
  const of = pairs.length === 1 && pair ? possessive(experiment.nameOf(pair.engine), what)
    : `each engine's ${what}`;
  const by = bases.length === 1 ? possessive(base) : "the other's";
  const text = `${of}, as a multiple of ${by}`;
  return capitalised(text);
}

function captionOf(
  experiment: Experiment, cells: readonly (MatrixCell | null)[], isRoomy: boolean,
): string {
  const { response } = experiment.document;
  const has = (word: MatrixCell["word"]) => cells.some((cell) => cell?.word === word);
  const parts = [
    response.lower_is_better ? "Below 1: faster" : "Above 1: faster",
    "coloured as the faster engine",
    has("equal") ? "equal: the same within the margin" : null,
    has("?") ? "?: undecided" : null,
    isRoomy && cells.some((cell) => cell?.interval)
      ? `small: the 95% interval${has("?") ? ", alone; verdicts stand for all cells together" : ""}`
      : null,
  ];
  return `${parts.filter((part) => part !== null).join("; ")}.`;
}

/** Null where the x axis has a single level, or nothing was compared. */
export function matrixOf(experiment: Experiment): Matrix | null {
  const { swept, others } = experiment;
  const pairs = pairsOf(experiment);
  if (!swept || swept.levels.length < 2 || pairs.length === 0) return null;
  const combinations = experiment.combinations(others);
  // As below the axis of the chart: '2' instead of '2 clients'.
  const levels = xAxis(scaleOf(swept)).levels.map(({ value, label }) => ({ value, label }));
  const rows = pairs.flatMap((pair) => {
    const of = combinations.map((fixed): MatrixRow => ({
      pair,
      label: experiment.describe(fixed),
      fixed,
      cells: levels.map(({ value }) => {
        const outcome = outcomesAt(experiment, fixed, value).find((one) =>
          one.engine === pair.engine && one.base === pair.base);
        return outcome ? cellOf(outcome) : null;
      }),
    })).filter((row) => row.cells.some((cell) => cell !== null));
    return of;
  });
  if (rows.length === 0) return null;
  const isRoomy = levels.length <= ROOMY_COLUMNS;
  return {
    axis: swept.label,
    levels,
    rows,
    pairs,
    isLabelled: combinations.length > 1 || (pairs.length === 1 && rows[0]?.label !== ""),
    isRoomy,
    title: titleOf(experiment, pairs),
    caption: captionOf(experiment, rows.flatMap((row) => row.cells), isRoomy),
  };
}

/** A row for each cell, its numbers in full. */
export function matrixCsv({ document, swept }: Experiment, { rows, levels }: Matrix): Csv {
  const names = document.factors.map((factor) => factor.name);
  return {
    header: [...names, "engine", "base", "ratio", "low", "high", "verdict"],
    rows: rows.flatMap(({ fixed, cells }) => cells.flatMap((cell, index): Cell[][] => {
      if (!cell) return [];
      const { engine, base, ratio, verdict } = cell.outcome;
      const at = swept ? { ...fixed, [swept.name]: levels[index]?.value ?? "" } : fixed;
      return [[...names.map((name) => at[name]), engine, base, ratio.value, ratio.low, ratio.high,
        verdict]];
    })),
  };
}
