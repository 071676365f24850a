// The page meets a good document, an empty page, a cut file and a document of another version.

import { expect, test } from "vitest";
import { readDocument } from "../../src/report/read";
import { FIXTURES } from "../fixtures/experiments";

test.each(Object.entries(FIXTURES))("reads the document %s unchanged", (_, make) => {
  const document = make();
  expect(readDocument(JSON.stringify(document))).toEqual({ document, problem: null });
});

test.each([
  ["the empty page", '"__CROSSOVER_REPORT__"', "crossover report RUN fills it"],
  ["a cut file", '{"schema_version": 1, "run": {', "cut short"],
  ["a newer version", '{"schema_version": 2}', "schema version 2, this page reads version 1"],
  ["no version", "{}", "schema version undefined"],
  ["no run", '{"schema_version": 1}', 'no section "run"'],
  ["a list that is none", '{"schema_version":1,"run":{},"response":{},"factors":{}}', '"factors"'],
])("%s is a sentence, not a crash", (_, text, problem) => {
  const reading = readDocument(text);
  expect(reading.document).toBeNull();
  expect(reading.problem).toContain(problem);
});

test("a document without its optional lists gets empty ones", () => {
  const { document } = readDocument(
    '{"schema_version":1,"run":{},"response":{},"treatments":[{"engine":"sqlite","levels":{}}]}',
  );
  expect(document).toMatchObject({ warnings: [], crossings: [], verdict: { sentences: [] } });
  expect(document?.treatments[0]).toMatchObject({ blocks: [], requests_by_name: [], ratio: null });
});
