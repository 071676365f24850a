// The words around charts: where lines cross, what is missing or failed, how to read bounds.

import type { Crossing, Estimate, Levels, Treatment } from "../document/document";
import { boundsName, type Experiment } from "../document/experiment";
import { capitalised, count, significant } from "../../lib/format";
import { type Chart, type Line, type Span, titleOf } from "./chart";

type Captions = Chart["captions"];

const unmarked = (texts: readonly string[]): Captions =>
  texts.map((text) => ({ text, marked: false }));

/** Says that a line has gaps, and where: missing data is named, never bridged. */
export function gaps(lines: readonly Line[]): Captions {
  return unmarked(lines.flatMap((line) => {
    const missing = line.points.filter((p) => p.bounds === null).map((p) => p.label);
    return missing.length ? [`Not measured: ${titleOf(line)} at ${missing.join(", ")}.`] : [];
  }));
}

/** What went wrong in a panel's treatments: wrong answers, void trials, a load not kept up with. */
export function troubles(experiment: Experiment, fixed: Levels): Captions {
  const { swept } = experiment;
  const treatments = experiment.treatmentsAt(fixed);
  const where = ({ engine, levels }: Treatment) => {
    const level = swept ? experiment.describe({ [swept.name]: levels[swept.name] ?? "" }) : "";
    return level ? `${engine} at ${level}` : engine;
  };
  const told = (name: string, text: (treatment: Treatment) => string | false) => {
    const parts = treatments.map(text).filter((part) => part !== false);
    return parts.length > 0 ? [`${name}: ${parts.join("; ")}.`] : [];
  };
  return unmarked([
    ...told("Failures", (t) => Boolean(t.failures)
      && `${where(t)}, ${count(t.failures)} of ${count(t.requests)}`),
    ...told("Void trials", (t) => Boolean(t.void_trials) && `${where(t)}, ${count(t.void_trials)}`),
    ...told("The offered load was not kept up with", (t) => Boolean(t.saturated) && where(t)),
  ]);
}

/**
 * Drops a leading "4 clients, articles: " where titles already say so. What is left begins with a
 * capital, unless it begins with an engine's name.
 */
function withoutPrefix(
  sentence: string,
  prefixes: readonly string[],
  engines: readonly string[],
): string {
  const prefix = prefixes.find((candidate) => sentence.startsWith(`${candidate}: `));
  const rest = prefix ? sentence.slice(prefix.length + 2) : sentence;
  if (engines.some((engine) => rest.startsWith(engine))) return rest;
  return capitalised(rest);
}

/** The sentences of these crossings, without what the panel's title says already. */
export function crossingCaptions(
  experiment: Experiment,
  crossings: readonly Crossing[],
  fixed: Levels,
): Captions {
  // Several crossings of one pair of lines share a sentence.
  return [...new Set(crossings.map((c) => c.sentence))].map((sentence) => {
    const of = crossings.filter((crossing) => crossing.sentence === sentence);
    const request = of[0]?.request ?? "";
    const title = experiment.describe(fixed);
    const titles = [title, title.replace(/(, )?base$/, ""), experiment.describeAll(fixed)];
    const prefixes = titles.flatMap((words) =>
      [[words, request], [words]].map((parts) => parts.filter(Boolean).join(", ")));
    return {
      text: withoutPrefix(sentence, prefixes.filter(Boolean), experiment.engines),
      marked: of.some((crossing) => crossing.kind === "bracketed"),
    };
  });
}

/** Each bracket once, though several pairs of engines may cross in it. */
export function bracketsOf(experiment: Experiment, crossings: readonly Crossing[]): Span[] {
  const levels = experiment.swept?.levels ?? [];
  const name = (value: number) => {
    const label = levels.find((level) => level.value === value)?.label;
    return label || significant(value);
  };
  const brackets = crossings.flatMap(({ kind, low, high }) => {
    if (kind !== "bracketed" || low === null || high === null) return [];
    const [from, to] = [name(low), name(high)];
    // '112 to 126 days': a unit that both share is said once.
    const [unit, shared] = [to, from].map((text) => / \D+$/.exec(text)?.[0]);
    const start = unit && unit === shared ? from.slice(0, -unit.length) : from;
    return [{ low, high, label: `${start} to ${to}` }];
  });
  return [...new Map(brackets.map((bracket) => [bracket.label, bracket])).values()];
}

/** How to read the bounds of charts that show these estimates. */
export function boundsNote(
  estimates: readonly Estimate[],
  of: "mean" | "ratio",
  joined: boolean,
): string {
  const names = [...new Set(estimates.map(boundsName))];
  const replicates = estimates.map((estimate) => estimate.replicates);
  const [least, most] = [Math.min(...replicates), Math.max(...replicates)];
  const blocks = least === most ? (most === 1 ? "1 block" : `${most} blocks`)
    : `${least} to ${most} blocks`;
  const [name = ""] = names;
  if (names.length === 0) return "";
  if (names.length > 1) {
    if (!joined) return `Whiskers: intervals of the ${of}, or only ranges; ${blocks}.`;
    return `Bands are intervals of the ${of}, whiskers without a band only ranges; ${blocks}.`;
  }
  if (name.startsWith("range")) {
    return `Whiskers: the range of ${blocks}, smallest to largest; not an interval.`;
  }
  return name === "no interval" ? `Without an interval: ${blocks}.`
    : `${joined ? "Bands" : "Whiskers"}: ${name} of the ${of}, ${blocks}.`;
}

export function meansNote({ document }: Experiment, joined: boolean): string {
  return boundsNote(document.treatments.flatMap((t) => t.estimate ?? []), "mean", joined);
}
