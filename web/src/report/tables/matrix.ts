// The answer as a matrix: a row for each pair of engines and combination of the other factors, a
// column for each level of the x axis, in a cell the ratio and what is shown by it.

import type { Cell, Csv } from "../../lib/csv";
import { type Bounds, significant } from "../../lib/format";
import type { Level, Levels } from "../document/document";
import { type Experiment, levelLabel } from "../document/experiment";
import { fasterOf, type Outcome, outcomesAt, type Pair, pairsOf, speedTitle } from "../document/outcome";

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

/** Beside the chart more columns have no room for intervals, which appear on hovering then. */
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
  const { speed, verdict } = outcome;
  const winner = fasterOf(outcome);
  return {
    outcome,
    ratio: ratioText(speed.value),
    interval: intervalText(speed),
    word: verdict === "equal" ? "equal" : verdict === "undecided" ? "?" : "",
    winner,
    strength: winner ? Math.min(1, Math.abs(Math.log(speed.value)) / STRONGEST) : 0,
  };
}

/** 'PostgreSQL 18: times as fast as SQLite': of rates their throughput. */
function titleOf(experiment: Experiment, pairs: readonly Pair[]): string {
  const primary = pairs.filter((pair) => pair.family === "primary");
  const bases = [...new Set(primary.map((pair) => pair.base))].map((e) => experiment.nameOf(e));
  const [base = ""] = bases;
  const [pair] = pairs;
  const by = bases.length === 1 && pairs.length === primary.length ? base : "the other";
  const title = speedTitle(experiment, by);
  const of = pairs.length === 1 && pair ? experiment.nameOf(pair.engine) : "Each engine";
  return `${of}: ${title.slice(0, 1).toLowerCase()}${title.slice(1)}`;
}

/** Pairs that are named; more are counted. */
const NAMED_PAIRS = 3;

/** 'Not compared: A and B', the pairs that have no verdict of their own. */
function notCompared({ document, nameOf }: Experiment): string | null {
  const pairs = document.summary.not_compared ?? [];
  if (pairs.length === 0) return null;
  if (pairs.length > NAMED_PAIRS) return `${pairs.length} pairs were not compared`;
  const names = pairs.map(({ a, b }) => `${nameOf(a)} and ${nameOf(b)}`);
  return `not compared: ${names.join(", ")}`;
}

function captionOf(
  experiment: Experiment, cells: readonly (MatrixCell | null)[], isRoomy: boolean,
): string {
  const has = (word: MatrixCell["word"]) => cells.some((cell) => cell?.word === word);
  const parts = [
    "Above 1: faster",
    "coloured as the faster engine",
    has("equal") ? "equal: the same within the margin" : null,
    has("?") ? "?: undecided" : null,
    cells.some((cell) => cell === null) ? "–: not compared" : null,
    notCompared(experiment),
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
  const levels = swept.levels
    .map(({ value }) => ({ value, label: levelLabel(swept, value) }))
    .toSorted((a, b) => (typeof a.value === "number" && typeof b.value === "number"
      ? a.value - b.value : 0));
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
    header: [...names, "engine", "base", "family", "times_as_fast", "low", "high", "verdict"],
    rows: rows.flatMap(({ fixed, cells }) => cells.flatMap((cell, index): Cell[][] => {
      if (!cell) return [];
      const { engine, base, family, speed, verdict } = cell.outcome;
      const at = swept ? { ...fixed, [swept.name]: levels[index]?.value ?? "" } : fixed;
      return [[...names.map((name) => at[name]), engine, base, family, speed.value, speed.low,
        speed.high, verdict]];
    })),
  };
}
