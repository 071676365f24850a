// The table of a plan with steps as values: a row for each statement, a column for each step of each
// engine at which anything was measured, and how both engines compare at their best.

import type { Cell, Csv } from "../../lib/csv";
import { interval, significant } from "../../lib/format";
import type {
  AtBest, Estimate, StepRow, StepsPart, StepTime,
} from "../document/document";

/** A verdict as its sign and words; colour only repeats it. */
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
  /** Its interval: `95%: 4.44 to 4.56`; with the engines where `words` name none. */
  range: string;
}

/** The same verdict as one on the other engine. */
const OF_THE_OTHER: Record<Mark["kind"], Mark["kind"]> = {
  faster: "slower", slower: "faster", equal: "equal", undecided: "undecided",
};

/** The ratio b/a of a ratio a/b. */
const inverse = ({ value, low, high, ...rest }: Estimate): Estimate => ({
  ...rest, value: 1 / value, low: high === null ? null : 1 / high, high: low === null ? null : 1 / low,
});

const SIGNS: Record<Mark["kind"], string> = {
  faster: "▲", slower: "▼", equal: "=", undecided: "?",
};

/** The heading of the changes to carry out, which is also their link. */
export const toDoTitle = (part: StepsPart | null): string => {
  if (part?.to_do_is_advice !== false) return "What to do";
  return `What ${part.engines.length === 1 ? "it" : "each engine"} had at its best`;
};

export const timeAt = (row: StepRow, engine: string, step: string): StepTime | undefined =>
  row.times.find((time) => time.engine === engine && time.step === step);

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
  const isNamed = kind === "faster" || kind === "slower";
  const words = isNamed ? `${name} ${factor} times as fast` : kind;
  return { kind, words, range: rangeOf(ratio, side, isNamed) };
}

function rangeOf(
  ratio: Estimate,
  side: (value: number) => readonly [string, string],
  isNamed: boolean,
) {
  const { low, high, method, confidence_level: level } = ratio;
  if (low === null || high === null) return "";
  const kind = method === "RangeOnly" ? "blocks" : `${level * 100}%`;
  const [near, far] = [side(low), side(high)];
  // The smaller factor first.
  if (near[0] === far[0]) {
    const ordered = low < 1 ? [far, near] : [near, far];
    const factors = ordered.map(([, factor]) => factor).join(" to ");
    return isNamed ? `${kind}: ${factors}` : `${kind}: ${near[0]} ${factors} times as fast`;
  }
  return `${kind}: ${near.join(" ")} to ${far.join(" ")} times as fast`;
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
        ...bounds(best && inverse(best.ratio)), best && OF_THE_OTHER[best.verdict]];
    })),
  };
}
