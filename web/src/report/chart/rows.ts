// The rows of charts over all requests, in reading order. A row that would say nothing is left
// out: ratios of one engine, engines one by one where their lines would be too many to follow.

import type { Experiment } from "../document/experiment";
import { boundsNote, meansNote } from "./captions";
import type { Chart, ChartRow } from "./chart";
import {
  byEngine, byOther, bySwept, cpuCharts, ratioCharts, scalingCharts, timeCharts,
} from "./panels";

/** More lines of one colour in a panel cannot be told apart. */
const FOLLOWED_LINES = 6;

/** A row that says in another way what the first row says has no more panels than this. */
const MOST_PANELS = 12;

/** Bands need lines to lie along. */
const joinedIn = (charts: readonly Chart[]) => charts.some((chart) => chart.x.joined);

/** Each engine by itself; with one engine alone this is the main row. */
function engineRow(experiment: Experiment, title: string): ChartRow {
  const charts = byEngine(experiment);
  const longest = charts.toSorted((a, b) => b.lines.length - a.lines.length)[0];
  const note = meansNote(experiment, joinedIn(charts));
  return { id: "engine", title, note, charts, legend: longest?.lines ?? null };
}

function ratioRow(experiment: Experiment, over: string): ChartRow {
  const { treatments } = experiment.document;
  const charts = ratioCharts(experiment);
  const estimates = treatments.flatMap((t) => t.ratio?.estimate ?? []);
  const note = "Above 1× is faster. Logarithmic, so that half and double look alike. " +
    boundsNote(estimates, "ratio", joinedIn(charts));
  return { id: "ratio", title: `${charts[0]?.measure ?? ""} ${over}`, note, charts, legend: null };
}

/** Over another factor that is crossed with the swept one; the one with the most levels. */
function otherRow(experiment: Experiment): ChartRow {
  const crossed = experiment.others.filter((f) => !f.alone && f.levels.length > 1);
  const inner = crossed.toSorted((a, b) => b.levels.length - a.levels.length)[0];
  const all = inner ? byOther(experiment, inner) : [];
  const charts = all.length <= MOST_PANELS ? all : [];
  return {
    id: "other",
    title: `${experiment.document.response.label} by ${inner?.label.toLowerCase() ?? ""}`,
    note: meansNote(experiment, joinedIn(charts)),
    charts,
    legend: null,
  };
}

/** Every row over all requests; the first chart of the first row is the one that leads the page. */
export function allRows(experiment: Experiment): ChartRow[] {
  const { swept, others, document, base } = experiment;
  const lines = experiment.combinations(others).length;
  const followed = lines > 1 && lines <= FOLLOWED_LINES;
  const alone = experiment.engines.length < 2 && followed && (swept?.levels.length ?? 0) > 1;
  const single = (swept?.levels.length ?? 0) < 2;
  const over = single ? "by engine" : `by ${swept?.label.toLowerCase()}`;
  const title = `${document.response.label} ${over}`;
  const charts = bySwept(experiment);
  const means = meansNote(experiment, joinedIn(charts));
  const note = [base && `Base: ${base}.`, means].filter(Boolean).join(" ");
  const rows: ChartRow[] = [
    alone
      ? engineRow(experiment, title)
      : { id: "mean", title, note, charts, legend: null },
    ratioRow(experiment, over),
    {
      id: "scaling",
      title: `Throughput by that at 1 client, ${over}`,
      note: "How far each engine scales, apart from how fast it is at 1 client. Logarithmic.",
      charts: scalingCharts(experiment),
      legend: null,
    },
    {
      id: "time",
      title: `Mean response time ${over}`,
      note: "From the first try to the last answer; under closed load it grows with the clients.",
      charts: timeCharts(experiment),
      legend: null,
    },
    {
      id: "cpu",
      title: `CPU time per ${experiment.unitOfWork} ${over}`,
      note: "Of the whole server side, all cores together.",
      charts: cpuCharts(experiment),
      legend: null,
    },
    ...(followed && !alone ? [engineRow(experiment, `Each engine ${over}`)] : []),
    otherRow(experiment),
  ];
  return rows.filter((row) => row.charts.some((chart) => chart.lines.length > 0));
}

/** The rows below the chart that leads the page, which is not drawn twice. */
export function chartRows(experiment: Experiment): ChartRow[] {
  const [first, ...others] = allRows(experiment);
  if (!first) return [];
  const charts = first.charts.slice(1);
  return charts.length > 0 ? [{ ...first, charts }, ...others] : others;
}
