// Reads the injected JSON: one document or several of the right version, or a sentence about what
// is wrong. Lists that an older or shorter document leaves out become empty here, so that no
// component has to ask.

import { SCHEMA_VERSION, type ReportDocument, type Treatment, type Warning } from "./document";

export type Reading =
  | {
    documents: [ReportDocument, ...ReportDocument[]];
    commonAxes: boolean;
    /** Doubts about comparing the runs of the page. */
    warnings: Warning[];
    problem: null;
  }
  | { documents: null; problem: string };

const LISTS = [
  "factors",
  "engines",
  "treatments",
  "crossings",
  "effects",
  "thresholds",
  "warnings",
  "environment",
  "repeat",
  "limitations",
] as const satisfies readonly (keyof ReportDocument)[];
const SECTIONS = ["run", "response"] as const satisfies readonly (keyof ReportDocument)[];

type Read = { document: ReportDocument } | { problem: string };
type Fields = Record<string, unknown>;

function isRecord(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function withLists(treatment: Partial<Treatment>): Treatment {
  const { engine = "", levels = {}, ...rest } = treatment;
  return {
    estimate: null,
    best_of_three: null,
    ratio: null,
    cpu_seconds_per_request: null,
    cores_used: null,
    requests_per_second: null,
    requests: 0,
    failures: 0,
    wrong_answers: 0,
    timed_out: 0,
    void_trials: 0,
    offered_per_second: null,
    saturated: false,
    ...rest,
    engine,
    levels,
    blocks: rest.blocks ?? [],
    percentiles: rest.percentiles ?? [],
    percentile_curve: rest.percentile_curve ?? [],
    counters: rest.counters ?? [],
    notes: rest.notes ?? [],
    plans: rest.plans ?? [],
    requests_by_name: rest.requests_by_name ?? [],
  };
}

function readOne(raw: unknown): Read {
  if (!isRecord(raw)) return { problem: "The data of a run is not a document." };
  if (raw.schema_version !== SCHEMA_VERSION) {
    return {
      problem: `The data has schema version ${String(raw.schema_version)}, this page reads ` +
        `version ${SCHEMA_VERSION}. Make the report with the program that made the run.`,
    };
  }
  for (const section of SECTIONS) {
    if (!isRecord(raw[section])) return { problem: `The data has no section "${section}".` };
  }
  for (const list of LISTS) {
    if (raw[list] != null && !Array.isArray(raw[list])) {
      return { problem: `In the data "${list}" is not a list.` };
    }
  }
  const lists = Object.fromEntries(LISTS.map((list) => [list, raw[list] ?? []]));
  const document = {
    conditions: "",
    plans: {},
    ...raw,
    ...lists,
    summary: {
      headline: "",
      lead: "",
      sentences: [],
      verdicts: [],
      ...(isRecord(raw.summary) ? raw.summary : {}),
    },
  } as unknown as ReportDocument;
  document.treatments = document.treatments.map(withLists);
  return { document };
}

/** Reads the text of the script element that the laboratory fills. */
export function readReport(text: string): Reading {
  const problem = (sentence: string): Reading => ({ documents: null, problem: sentence });
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch {
    return problem("The data here is cut short or damaged. Make it again: crossover report RUN.");
  }
  if (!isRecord(raw)) {
    return problem("This is the report's empty page. crossover report RUN fills it with a run.");
  }
  const several = Array.isArray(raw.documents) ? raw.documents : [raw];
  const documents: ReportDocument[] = [];
  for (const one of several) {
    const read = readOne(one);
    if ("problem" in read) return problem(read.problem);
    documents.push(read.document);
  }
  const [first, ...others] = documents;
  if (!first) return problem("The data holds no run. crossover report RUN fills it.");
  // A bare document's warnings are its own.
  const shared = Array.isArray(raw.documents) && Array.isArray(raw.warnings) ? raw.warnings : [];
  return {
    documents: [first, ...others],
    commonAxes: raw.common_axes === true,
    warnings: shared as Warning[],
    problem: null,
  };
}
