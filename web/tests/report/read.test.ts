// The page meets a good document, an empty page, a cut file and a document of another version.

import { expect, test } from "vitest";
import { readReport } from "../../src/report/document/read";
import { FIXTURES } from "../fixtures/experiments";

test.each(Object.entries(FIXTURES))("reads the document %s unchanged", (_, make) => {
  const document = make();
  expect(readReport(JSON.stringify(document))).toEqual({
    documents: [document], commonAxes: false, warnings: [], problem: null,
  });
});

test.each([
  ["the empty page", '"__CROSSOVER_REPORT__"', "crossover report RUN fills it"],
  ["a cut file", '{"schema_version": 3, "run": {', "cut short"],
  ["a newer version", '{"schema_version": 4}', "schema version 4, this page reads version 3"],
  ["no version", "{}", "schema version undefined"],
  ["no run", '{"schema_version": 3}', 'no section "run"'],
  ["a list that is none", '{"schema_version":3,"run":{},"response":{},"factors":{}}', '"factors"'],
])("%s is a sentence, not a crash", (_, text, problem) => {
  const reading = readReport(text);
  expect(reading.documents).toBeNull();
  expect(reading.problem).toContain(problem);
});

test("a document without its optional lists gets empty ones", () => {
  const { documents } = readReport(
    '{"schema_version":3,"run":{},"response":{},"treatments":[{"engine":"sqlite","levels":{}}]}',
  );
  const document = documents?.[0];
  expect(document).toMatchObject({
    warnings: [], crossings: [], effects: [], plans: {}, summary: { sentences: [] },
  });
  expect(document?.treatments[0]).toMatchObject({
    blocks: [], requests_by_name: [], percentile_curve: [], notes: [], ratio: null,
  });
});

test("several runs come in one page; one that cannot be read is named, not left out", () => {
  const make = FIXTURES.article;
  const page = { schema_version: 3, documents: [make?.(), make?.()], common_axes: true };
  const reading = readReport(JSON.stringify(page));
  expect(reading).toMatchObject({ commonAxes: true, problem: null });
  expect(reading.documents).toHaveLength(2);
  const newer = { ...page, documents: [make?.(), { schema_version: 9 }] };
  expect(readReport(JSON.stringify(newer)).problem).toContain("schema version 9");
  expect(readReport('{"schema_version": 3, "documents": []}').problem).toContain("no run");
});
