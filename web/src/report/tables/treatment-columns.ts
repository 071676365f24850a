// The columns of the table of all treatments: how a reader sees each, and its numbers in full.

import { capitalised, columnUnit, count, interval, MISSING, significant } from "../../lib/format";
import type { Estimate, Ratio, Treatment } from "../document/document";
import { boundsName, type Experiment } from "../document/experiment";
import { speedOf, speedTitle } from "../document/outcome";
import { type Column, estimateCsv, strongIf } from "./columns";

export interface TreatmentColumn extends Column<Treatment> {
  has: (treatment: Treatment) => boolean;
  /** What a reader must know about the column, told below the table. */
  note?: string;
  /** Its absence says nothing: without a second engine there is no ratio to miss. */
  optional?: boolean;
}

export function scaled(value: number | null | undefined, factor: number): string {
  return value == null ? MISSING : significant(value * factor);
}

/** The names of bounds, once each, as a column's title has them in brackets. */
function boundsOf(estimates: readonly (Estimate | null | undefined)[]): string {
  const names = new Set(estimates.flatMap((estimate) => (estimate ? [boundsName(estimate)] : [])));
  return names.size > 0 ? ` (${[...names].join("; ")})` : "";
}

/** A column of one number. */
function plain(
  title: string,
  name: keyof Treatment & string,
  format: (value: number) => string,
  more: Partial<TreatmentColumn> = {},
): TreatmentColumn {
  const value = (treatment: Treatment) => {
    const found = treatment[name];
    return typeof found === "number" ? found : null;
  };
  return {
    title,
    show: (treatment) => {
      const found = value(treatment);
      return found === null ? MISSING : format(found);
    },
    csv: [[name, value]],
    has: (treatment) => value(treatment) !== null,
    ...more,
  };
}

/** `equal (slightly faster)` where a difference within the margin is shown too. */
function verdictOf({ verdict, difference }: Ratio): string {
  const besides = difference ? ` (slightly ${difference})` : "";
  return (verdict ?? "no verdict") + besides;
}

function ratioColumns(experiment: Experiment): TreatmentColumn[] {
  const { treatments } = experiment.document;
  const base = treatments.find((t) => t.ratio)?.ratio?.to ?? "";
  const has = (treatment: Treatment) => treatment.ratio !== null;
  return [
    {
      title: speedTitle(experiment, base) + boundsOf(treatments.map((t) => t.ratio?.estimate)),
      show: (t) => (t.ratio ? interval(speedOf(experiment, t.ratio.estimate)) : ""),
      csv: estimateCsv("ratio", (t) => t.ratio?.estimate),
      has,
      optional: true,
    },
    {
      title: "Verdict",
      show: (t) => (t.ratio ? verdictOf(t.ratio) : ""),
      csv: [["verdict", (t) => t.ratio?.verdict]],
      tone: (t) => strongIf(t.ratio?.verdict === "faster" || t.ratio?.verdict === "slower"),
      has,
      optional: true,
      note:
        "Verdicts are corrected for their number (Holm), so a ratio's interval may leave out 1 " +
        "and its verdict still be undecided. Undecided does not mean equal: equality is shown by " +
        "two one-sided tests within the plan's margin.",
    },
  ];
}

/** The mean response time beside a response that is a rate. */
function timeColumn(treatments: readonly Treatment[]): TreatmentColumn {
  const time = (treatment: Treatment) => treatment.response_time_ms_mean;
  const unit = columnUnit("ms", treatments.flatMap((t) => time(t)?.value ?? []));
  return {
    title: `Mean response time, ${unit.unit}${boundsOf(treatments.map(time))}`,
    show: (treatment) => interval(time(treatment), unit.factor),
    csv: estimateCsv("response_time_ms_mean", time),
    has: (treatment) => Boolean(time(treatment)),
  };
}

function statementsColumn(treatments: readonly Treatment[]): TreatmentColumn {
  const rate = (treatment: Treatment) => treatment.statements_per_second;
  return {
    title: `Statements per second${boundsOf(treatments.map(rate))}`,
    show: (treatment) => interval(rate(treatment)),
    csv: estimateCsv("statements_per_second", rate),
    has: (treatment) => Boolean(rate(treatment)),
    optional: true,
  };
}

/** Every column that a report may have, in reading order. */
export function treatmentColumns(experiment: Experiment): TreatmentColumn[] {
  const { document, unitOfWork } = experiment;
  const { treatments, response, run } = document;
  const unit = columnUnit(response.unit, treatments.flatMap((t) => t.estimate?.value ?? []));
  const cpu = columnUnit("s", treatments.flatMap((t) => t.cpu_seconds_per_request ?? []));
  const inUnit = unit.unit ? `, ${unit.unit}` : "";
  return [
    {
      title: `${response.label}${inUnit}${boundsOf(treatments.map((t) => t.estimate))}`,
      note: "The value is the geometric mean over blocks, the quantity whose ratio is judged.",
      show: (t) => interval(t.estimate, unit.factor),
      csv: estimateCsv(response.name, (t) => t.estimate),
      has: () => true,
    },
    {
      title: `Arithmetic mean${inUnit}`,
      show: (t) => (t.arithmetic_mean ? scaled(t.arithmetic_mean, unit.factor) : "within 5%"),
      csv: [["arithmetic_mean", (t) => t.arithmetic_mean]],
      has: (t) => Boolean(t.arithmetic_mean),
      optional: true,
      note:
        "The arithmetic mean is shown where it is more than 5% above the geometric mean: rare slow " +
        "blocks weigh in it.",
    },
    ...ratioColumns(experiment),
    ...(run.of_the_article && response.lower_is_better ? [
      plain(`Best of three${inUnit}`, "best_of_three", (value) => scaled(value, unit.factor), {
        note:
          "Best of three is the article's own statistic, the smallest of three values. A minimum " +
          "favours the noisier engine, so no verdict rests on it.",
      }),
    ] : []),
    ...(response.lower_is_better
      ? [plain("Requests per second", "requests_per_second", (value) => significant(value))]
      : [timeColumn(treatments), statementsColumn(treatments)]),
    plain("Offered per second", "offered_per_second", (value) => significant(value), {
      optional: true,
    }),
    plain(`CPU time per ${unitOfWork}, ${cpu.unit}`, "cpu_seconds_per_request",
      (value) => scaled(value, cpu.factor)),
    plain("Cores used", "cores_used", (value) => significant(value)),
    plain(`${capitalised(unitOfWork)}s`, "requests", count),
    plain("Failures", "failures", count, { tone: (t) => strongIf(t.failures) }),
    plain("Void trials", "void_trials", count, {
      has: (t) => Boolean(t.void_trials), tone: (t) => strongIf(t.void_trials), optional: true,
    }),
  ];
}
