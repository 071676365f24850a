// What tells the runs of one page apart: their names, and the facts in which they differ.

import { moment } from "../../lib/format";
import type { ReportDocument } from "./document";

export interface RunLabel {
  /** On buttons and above columns: 'Run 1'. */
  short: string;
  /** With what tells it from the others. */
  long: string;
}

/** Names of environment entries that say which machine it was, most telling first. */
const MACHINE = ["Machine", "Host", "CPU", "Memory"];

/** A row per fact: its name and, per run, its value; empty where the run does not tell. */
export interface Fact {
  name: string;
  values: string[];
}

/** Everything that the runs state about themselves, by name, in the order of first appearance. */
function statements(document: ReportDocument): Map<string, string> {
  const { run } = document;
  const rows: [string, string][] = [
    ["Title", run.title],
    ["Conditions", document.conditions],
    ["Mode", run.mode],
    ["Blocks", String(run.blocks)],
    ["Program", `crossover ${run.crossover_version}`],
    ...document.environment.map(({ name, value }): [string, string] => [name, value]),
    ...document.engines.flatMap((engine): [string, string][] => [
      [engine.name, engine.version],
      ...engine.settings.map(({ name, value }): [string, string] =>
        [`${engine.name}: ${name}`, value]),
    ]),
  ];
  return new Map(rows);
}

/** The facts that are not the same in every run. */
export function differences(documents: readonly ReportDocument[]): Fact[] {
  const all = documents.map(statements);
  const names = new Set(all.flatMap((facts) => [...facts.keys()]));
  return [...names]
    .map((name) => ({ name, values: all.map((facts) => facts.get(name) ?? "") }))
    .filter(({ values }) => new Set(values).size > 1);
}

/** A name for each run, with the first fact that tells them all apart. */
export function runLabels(documents: readonly ReportDocument[]): RunLabel[] {
  const facts = differences(documents).filter(
    ({ name }) => name === "Title" || MACHINE.some((part) => name.startsWith(part)),
  );
  const telling = facts.find(({ values }) => new Set(values).size === documents.length) ?? facts[0];
  return documents.map((document, index) => {
    const short = `Run ${index + 1}`;
    const rest = telling?.values[index] || moment(document.run.started);
    return { short, long: `${short}: ${rest}` };
  });
}
