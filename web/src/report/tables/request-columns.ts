// The table of each request alone: one row for a request, an engine and a set of levels, with time,
// how often as fast as the first engine, and what is shown by it.

import { capitalised, columnUnit, interval, MISSING, share } from "../../lib/format";
import type { Levels, Treatment } from "../document/document";
import type { Experiment } from "../document/experiment";
import { speedOf, speedTitle } from "../document/outcome";
import { type Column, estimateCsv, strongIf, text } from "./columns";

type RequestResult = Treatment["requests_by_name"][number];

export interface RequestRow {
  request: string;
  engine: string;
  levels: Levels;
  result: RequestResult;
}

/** Engines stand under each other at each set of levels, these under each other for a request. */
export function requestRows({ document, requests, engines }: Experiment): RequestRow[] {
  const places = [...new Map(document.treatments.map(({ levels }) =>
    [JSON.stringify(levels), levels] as const)).keys()];
  const rows = document.treatments.flatMap(({ engine, levels, requests_by_name }) =>
    requests_by_name.map((result) => ({ request: result.name, engine, levels, result })));
  const order = ({ request, engine, levels }: RequestRow) => [
    requests.indexOf(request), places.indexOf(JSON.stringify(levels)), engines.indexOf(engine),
  ];
  return rows
    .map((row) => ({ row, at: order(row) }))
    .toSorted((x, y) => {
      const index = x.at.findIndex((value, i) => value !== y.at[i]);
      return index < 0 ? 0 : (x.at[index] ?? 0) - (y.at[index] ?? 0);
    })
    .map(({ row }) => row);
}

/** Whether a row is of a statement that writes, whose effects are counted. */
export function writes(rows: readonly RequestRow[]): boolean {
  return rows.some(({ result }) => typeof result.without_effect_fraction === "number");
}

/** What is shown of an engine against the first, which is compared with none. */
function verdictOf(experiment: Experiment, { engine, result }: RequestRow): string {
  if (result.ratio) return result.ratio.verdict;
  return engine === experiment.engines[0] ? "" : "not compared";
}

export function requestColumns(
  experiment: Experiment, rows: readonly RequestRow[],
): Column<RequestRow>[] {
  const { document, engines } = experiment;
  const unit = columnUnit("ms", rows.flatMap(({ result }) => result.estimate?.value ?? []));
  const isCompared = engines.length > 1;
  const withoutEffect = ({ result }: RequestRow) => result.without_effect_fraction ?? null;
  const effects: Column<RequestRow>[] = writes(rows)
    ? [{ title: "Without effect",
      show: ({ result }) =>
        (typeof result.without_effect_fraction === "number" ? share(result.without_effect_fraction) : ""),
      csv: [["without_effect_fraction", withoutEffect]] }]
    : [];
  const speed = ({ result }: RequestRow) =>
    (result.ratio ? speedOf(experiment, result.ratio.estimate) : null);
  return [
    text(capitalised(experiment.unitOfWork), "request", (row) => row.request, { heading: "name" }),
    text("Where", "where", ({ levels }) => experiment.describeAll(levels),
      { hidden: document.factors.length === 0 }),
    text("Engine", "engine", (row) => row.engine),
    { title: `Geometric mean, ${unit.unit}`,
      show: ({ result }) => (result.estimate ? interval(result.estimate, unit.factor) : MISSING),
      csv: estimateCsv("response_time_ms_mean", ({ result }) => result.estimate) },
    ...effects,
    { title: speedTitle(experiment, engines[0] ?? ""), hidden: !isCompared,
      show: (row) => (row.result.ratio ? interval(speed(row)) : ""),
      csv: [["times_as_fast", (row) => speed(row)?.value], ["low", (row) => speed(row)?.low],
        ["high", (row) => speed(row)?.high]] },
    text("Verdict", "verdict", (row) => verdictOf(experiment, row), {
      hidden: !isCompared,
      tone: ({ result }) =>
        strongIf(result.ratio?.verdict === "faster" || result.ratio?.verdict === "slower"),
    }),
  ];
}
