// What is shown of pairs of engines: who is faster at a level, and each pair's ratio there. Read
// from the answer's own verdicts, never from the means, which say nothing of certainty.

import type { Bounds } from "../../lib/format";
import type { Levels, LevelValue, PairVerdict } from "./document";
import { agrees, type Experiment } from "./experiment";

/** Two engines of which one's response is given as a multiple of the other's. */
export interface Pair {
  engine: string;
  base: string;
}

export interface Outcome extends Pair {
  ratio: Bounds;
  /** What is shown of `engine`. */
  verdict: PairVerdict["verdict"];
}

const OPPOSITE = {
  faster: "slower", slower: "faster", equal: "equal", undecided: "undecided",
} as const;

/** The pair as every table has it: the plan's first engine, if it is one of both, is the base. */
function oriented(verdict: PairVerdict, first: string | undefined): Outcome {
  const { a, b, ratio, low, high } = verdict;
  if (a !== first) {
    return { engine: a, base: b, ratio: { value: ratio, low, high }, verdict: verdict.verdict };
  }
  const inverse = (value: number | null) => (value === null ? null : 1 / value);
  return {
    engine: b,
    base: a,
    ratio: { value: 1 / ratio, low: inverse(high), high: inverse(low) },
    verdict: OPPOSITE[verdict.verdict],
  };
}

/** Every outcome at these levels; of a factor of texts the level is among a verdict's levels. */
export function outcomesAt(experiment: Experiment, fixed: Levels, level: LevelValue): Outcome[] {
  const { swept, document, engines } = experiment;
  const at = swept ? { ...fixed, [swept.name]: level } : fixed;
  return document.summary.verdicts
    .filter((one) => {
      const own = one.level === null || !swept
        ? one.levels : { ...one.levels, [swept.name]: one.level };
      return agrees(own, at) && agrees(at, own);
    })
    .map((one) => oriented(one, engines[0]));
}

/** The pairs that were compared, in the order of the answer. */
export function pairsOf({ document, engines }: Experiment): Pair[] {
  const all = document.summary.verdicts.map((one) => {
    const { engine, base } = oriented(one, engines[0]);
    return [JSON.stringify([engine, base]), { engine, base }] as const;
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
