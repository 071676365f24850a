// Reads the injected JSON: a document of the right version, or a sentence about what is wrong.
// Lists that an older or shorter document leaves out become empty here, so that no component
// has to ask.

import { SCHEMA_VERSION, type ReportDocument, type Treatment } from "./document";

export type Reading =
  | { document: ReportDocument; problem: null }
  | { document: null; problem: string };

const LISTS = [
  "factors",
  "engines",
  "treatments",
  "crossings",
  "warnings",
  "environment",
  "repeat",
  "limitations",
] as const satisfies readonly (keyof ReportDocument)[];
const SECTIONS = ["run", "response"] as const satisfies readonly (keyof ReportDocument)[];

function problem(text: string): Reading {
  return { document: null, problem: text };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function withLists(treatment: Partial<Treatment>): Treatment {
  const { engine = "", levels = {}, blocks, requests_by_name, ...rest } = treatment;
  return {
    estimate: null,
    best_of_three: null,
    ratio: null,
    cpu_seconds_per_request: null,
    cores_used: null,
    requests_per_second: null,
    requests: null,
    failures: null,
    ...rest,
    engine,
    levels,
    blocks: blocks ?? [],
    requests_by_name: requests_by_name ?? [],
  };
}

/** Reads the text of the script element that the laboratory fills. */
export function readDocument(text: string): Reading {
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch {
    return problem("The data here is cut short or damaged. Make it again: crossover report RUN.");
  }
  if (!isRecord(raw)) {
    return problem("This is the report's empty page. crossover report RUN fills it with a run.");
  }
  if (raw.schema_version !== SCHEMA_VERSION) {
    return problem(
      `The data has schema version ${String(raw.schema_version)}, this page reads version ` +
        `${SCHEMA_VERSION}. Make the report with the program that made the run.`,
    );
  }
  for (const section of SECTIONS) {
    if (!isRecord(raw[section])) return problem(`The data has no section "${section}".`);
  }
  for (const list of LISTS) {
    if (raw[list] != null && !Array.isArray(raw[list])) {
      return problem(`In the data "${list}" is not a list.`);
    }
  }
  const lists = Object.fromEntries(LISTS.map((list) => [list, raw[list] ?? []]));
  const document = {
    conditions: "",
    ...raw,
    ...lists,
    verdict: { headline: "", sentences: [], ...(isRecord(raw.verdict) ? raw.verdict : {}) },
  } as unknown as ReportDocument;
  document.treatments = document.treatments.map(withLists);
  return { document, problem: null };
}
