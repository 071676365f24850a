// The one chart that shows the answer: the first combination of levels, with what is shown of its
// engines shaded behind the lines and the lines named at their ends.

import type { Levels, LevelValue } from "../document/document";
import { type Experiment, levelLabel } from "../document/experiment";
import { outcomesAt, winnerAt } from "../document/outcome";
import { boundsNote, gaps, troubles } from "./captions";
import type { Chart, ChartRow, Span } from "./chart";
import { allRows } from "./rows";
import { engineStyle } from "./style";

/** More names beside each other would be far from their lines. */
const MOST_NAMED = 8;

/** The levels from left to right. */
function levelsOf({ swept }: Experiment): LevelValue[] {
  const levels = (swept?.levels ?? []).map((level) => level.value);
  return levels.every((level) => typeof level === "number")
    ? levels.toSorted((a, b) => Number(a) - Number(b)) : levels;
}

/**
 * Neighbouring levels at which the same engine is shown faster than every other; none where one is
 * everywhere, since a shade over all says no more than the headline.
 */
export function winnerSpans(experiment: Experiment, fixed: Levels): Span[] {
  const runs: { winner: string | null; low: LevelValue; high: LevelValue }[] = [];
  for (const level of levelsOf(experiment)) {
    const winner = winnerAt(experiment, fixed, level);
    const run = runs.at(-1);
    if (run && run.winner === winner) run.high = level;
    else runs.push({ winner, low: level, high: level });
  }
  if (runs.length < 2) return [];
  const word = experiment.engines.length > 2 ? "fastest" : "faster";
  return runs.flatMap(({ winner, low, high }) => (winner === null ? [] : [{
    low, high, label: `${experiment.nameOf(winner)} ${word}`,
    style: engineStyle(experiment.place(winner)),
  }]));
}

/** Names of engines as people call them, shades of who is faster, names at the ends of lines. */
export function withAnswer(experiment: Experiment, chart: Chart, fixed: Levels): Chart {
  const lines = chart.lines.map((line) => ({ ...line, title: experiment.nameOf(line.name) }));
  const spans = chart.x.joined ? [...winnerSpans(experiment, fixed), ...chart.spans] : chart.spans;
  const namedEnds = chart.x.joined && lines.length > 1 && lines.length <= MOST_NAMED;
  return { ...chart, lines, spans, namedEnds };
}

/** What the shades mean, and at which levels no engine is shown to be faster. */
function shadesNote(experiment: Experiment, chart: Chart, fixed: Levels): string[] {
  const { swept } = experiment;
  const shades = chart.spans.filter((span) => span.style);
  const brackets = chart.spans.filter((span) => !span.style && span.low !== span.high);
  if (!swept || shades.length === 0) return [];
  const open = levelsOf(experiment).filter((level) =>
    outcomesAt(experiment, fixed, level).length > 0 && winnerAt(experiment, fixed, level) === null);
  const where = open.map((level) => levelLabel(swept, level)).join(", ");
  return [
    `In its colour: where an engine is shown to be ${experiment.engines.length > 2
      ? "the fastest" : "faster"}.${brackets.length > 0 ? " Grey: where the lines cross." : ""}` +
      `${where ? ` None is shown to be ahead at ${where}.` : ""}`,
  ];
}

export interface Lead {
  chart: Chart;
  /** What belongs to the chart in a row: its note, for downloads too. */
  row: ChartRow;
  fixed: Levels;
}

/** Null where nothing was measured. */
export function leadOf(experiment: Experiment): Lead | null {
  const row = allRows(experiment)[0];
  const first = row?.charts[0];
  if (!row || !first) return null;
  const fixed = experiment.combinations(experiment.others)[0] ?? {};
  const isOfEngines = row.id === "mean";
  const chart = isOfEngines ? withAnswer(experiment, first, fixed)
    : { ...first, namedEnds: first.lines.length > 1 && first.lines.length <= MOST_NAMED };
  const place = experiment.describe(isOfEngines ? fixed : {});
  const estimates = experiment.document.treatments.flatMap((t) => t.estimate ?? []);
  const lead: Chart = {
    ...chart,
    id: "lead",
    subject: "",
    title: [row.title, isOfEngines ? place : first.title].filter(Boolean).join(", "),
    captions: [
      ...shadesNote(experiment, chart, fixed).map((text) => ({ text, marked: false })),
      // The headline says where the lines cross; what is missing or failed stays.
      ...gaps(chart.lines),
      ...(isOfEngines ? troubles(experiment, fixed) : []),
    ],
  };
  const note = boundsNote(estimates, "mean", chart.x.joined);
  return { chart: lead, fixed, row: { ...row, id: "lead", title: "", note, charts: [lead] } };
}
