// The table of a plan with steps as values: a row for each statement, a column for each step of each
// engine at which anything was measured, and how both engines compare at their best.

import type { Cell, Csv } from "../../lib/csv";
import { interval, significant } from "../../lib/format";
import type {
  AtBest, Estimate, EngineSteps, StepRow, StepsPart, StepTime,
} from "../document/document";

/** A verdict that is told by its sign and words; colour only repeats it. */
export interface Mark {
  kind: NonNullable<StepTime["verdict"]>;
  sign: string;
  words: string;
  /** With the interval. */
  title: string;
}

export interface Comparison {
  kind: AtBest["verdict"] | "missing";
  words: string;
  /** The interval, in the same form. */
  range: string;
}

const SIGNS: Record<Mark["kind"], string> = {
  faster: "▲", slower: "▼", equal: "=", undecided: "?",
};

export const timeAt = (row: StepRow, engine: string, step: string): StepTime | undefined =>
  row.times.find((time) => time.engine === engine && time.step === step);

/** The engines with the steps at which some statement was measured. */
export function measuredSteps({ engines, rows }: StepsPart): EngineSteps[] {
  return engines.map((of) => ({
    ...of,
    steps: of.steps.filter((step) =>
      rows.some((row) => timeAt(row, of.engine, step)?.response_time_ms_mean)),
  }));
}

/** What a step brought against the last one before it that was measured. */
export function gainOf(time: StepTime | undefined): Mark | null {
  const { verdict: kind, ratio_to_step_before: ratio, step_before: before } = time ?? {};
  if (!kind || !ratio || before == null) return null;
  const words = {
    faster: `${significant(1 / ratio.value)} times as fast`,
    slower: `${significant(ratio.value)} times as slow`,
    equal: "equal",
    undecided: "undecided",
  }[kind];
  const title = `Time by that at “${before}”: ${interval(ratio)}${confidence(ratio)}`;
  return { kind, sign: SIGNS[kind], words, title };
}

const confidence = ({ method, confidence_level: level }: Estimate) =>
  method === "RangeOnly" ? ", smallest and largest block" : `, ${level * 100}% interval`;

export function meanTitle({ response_time_ms_mean: mean }: StepTime): string {
  return mean ? `${interval(mean)} ms${confidence(mean)}` : "";
}

/** Both engines at their best. */
export function atBest(row: StepRow, first: string, other: string, engine: string): Comparison {
  const best = row.best.find((one) => one.engine === engine);
  if (!best) return { kind: "missing", words: "not compared", range: "" };
  const { ratio, verdict: kind } = best;
  const side = (value: number) =>
    value < 1 ? [first, significant(1 / value)] as const : [other, significant(value)] as const;
  const [name, factor] = side(ratio.value);
  const words = kind === "faster" || kind === "slower" ? `${name} ${factor} times as fast` : kind;
  return { kind, words, range: rangeOf(ratio, side) };
}

function rangeOf({ low, high }: Estimate, side: (value: number) => readonly [string, string]) {
  if (low === null || high === null) return "";
  const [near, far] = [side(low), side(high)];
  // The smaller factor first.
  if (near[0] === far[0]) {
    const ordered = low < 1 ? [far, near] : [near, far];
    return `${near[0]} ${ordered.map(([, factor]) => factor).join(" to ")} times as fast`;
  }
  return `${near.join(" ")} to ${far.join(" ")} times as fast`;
}

/** A line for each statement, engine and step, as `--format csv` has them. */
export function stepsCsv(part: StepsPart): Csv {
  const bounds = (of: Estimate | null | undefined): Cell[] => [of?.value, of?.low, of?.high];
  const names = (name: string) => [name, `${name}_low`, `${name}_high`];
  return {
    header: ["statement", "executions", "engine", "step", "response_time_ms_mean", "low", "high",
      ...names("ratio_to_step_before"), "verdict", ...names("ratio_at_best"), "verdict_at_best"],
    rows: part.rows.flatMap((row) => row.times.map((time): Cell[] => {
      const isBest = part.engines.some((of) => of.engine === time.engine && of.best === time.step);
      const best = isBest ? row.best.find((one) => one.engine === time.engine) : undefined;
      return [row.statement, row.executions, time.engine, time.step,
        ...bounds(time.response_time_ms_mean), ...bounds(time.ratio_to_step_before), time.verdict,
        ...bounds(best?.ratio), best?.verdict];
    })),
  };
}
