// What is shown of pairs of engines: who is faster at a level, and how often as fast. Read from the
// answer's own verdicts, never from the means, which say nothing of certainty.

import type { Bounds } from "../../lib/format";
import type { Levels, LevelValue, PairVerdict } from "./document";
import { agrees, type Experiment } from "./experiment";

/** Two engines of which one's speed is given as a multiple of the other's. */
export interface Pair {
  engine: string;
  base: string;
  /** The verdicts with which its own are corrected. */
  family: PairVerdict["family"];
}

export interface Outcome extends Pair {
  /** How often as fast as the base `engine` is: above 1 is faster, of a time as of a rate. */
  speed: Bounds;
  /** What is shown of `engine`. */
  verdict: PairVerdict["verdict"];
}

const OPPOSITE = {
  faster: "slower", slower: "faster", equal: "equal", undecided: "undecided",
} as const;

/** A ratio b/a of a ratio a/b. */
export function inverse({ value, low, high }: Bounds): Bounds {
  const of = (bound: number | null) => (bound === null ? null : 1 / bound);
  return { value: 1 / value, low: of(high), high: of(low) };
}

/** How often as fast, of a ratio of responses. */
export function speedOf({ document }: Experiment, ratio: Bounds): Bounds {
  return document.response.lower_is_better ? inverse(ratio) : ratio;
}

/** The title of speeds: 'Times as fast as sqlite'. */
export function speedTitle({ document }: Experiment, base: string): string {
  return document.response.lower_is_better ? `Times as fast as ${base}`
    : `Times the throughput of ${base}`;
}

/** The pair as every table has it: the plan's first engine, if it is one of both, is the base. */
function oriented(experiment: Experiment, verdict: PairVerdict): Outcome {
  const { a, b, ratio, low, high, family } = verdict;
  const speed = speedOf(experiment, { value: ratio, low, high });
  if (a !== experiment.engines[0]) {
    return { engine: a, base: b, family, speed, verdict: verdict.verdict };
  }
  return { engine: b, base: a, family, speed: inverse(speed), verdict: OPPOSITE[verdict.verdict] };
}

/** Every outcome at these levels; of a factor of texts the level is among a verdict's levels. */
export function outcomesAt(experiment: Experiment, fixed: Levels, level: LevelValue): Outcome[] {
  const { swept, document } = experiment;
  const at = swept ? { ...fixed, [swept.name]: level } : fixed;
  return document.summary.verdicts
    .filter((one) => {
      const own = one.level === null || !swept
        ? one.levels : { ...one.levels, [swept.name]: one.level };
      return agrees(own, at) && agrees(at, own);
    })
    .map((one) => oriented(experiment, one));
}

/** The pairs that were compared, in the order of the answer. */
export function pairsOf(experiment: Experiment): Pair[] {
  const all = experiment.document.summary.verdicts.map((one) => {
    const { engine, base, family } = oriented(experiment, one);
    return [JSON.stringify([engine, base]), { engine, base, family }] as const;
  });
  return [...new Map(all).values()];
}

/** The engine that is shown faster, of a pair. */
export function fasterOf({ engine, base, verdict }: Outcome): string | null {
  if (verdict === "faster") return engine;
  return verdict === "slower" ? base : null;
}

/**
 * The engine that is shown faster than every other one that has a value there. Most pairs are not
 * compared with each other but with the base: who beats the base beats whom the base beats.
 */
export function winnerAt(experiment: Experiment, fixed: Levels, level: LevelValue): string | null {
  const { swept } = experiment;
  const at = swept ? { ...fixed, [swept.name]: level } : fixed;
  const present = experiment.engines.filter((e) => experiment.treatment(e, at)?.estimate);
  const beats = outcomesAt(experiment, fixed, level).flatMap((outcome) => {
    const winner = fasterOf(outcome);
    const loser = winner === outcome.engine ? outcome.base : outcome.engine;
    return winner ? [{ winner, loser }] : [];
  });
  const beatenBy = (engine: string) => {
    const beaten = new Set<string>();
    const add = (winner: string) => {
      for (const one of beats) {
        if (one.winner !== winner || beaten.has(one.loser)) continue;
        beaten.add(one.loser);
        add(one.loser);
      }
    };
    add(engine);
    return beaten;
  };
  const winners = present.filter((engine) => {
    const beaten = beatenBy(engine);
    return present.length > 1 && present.every((one) => one === engine || beaten.has(one));
  });
  return winners[0] ?? null;
}
