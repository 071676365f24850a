// Runs side by side: what tells them apart is found among what they state about themselves.

import { expect, test } from "vitest";
import type { ReportDocument } from "../../src/report/document/document";
import { differences, runLabels } from "../../src/report/document/runs";
import { FIXTURES } from "../fixtures/experiments";

function run(change: (document: ReportDocument) => void): ReportDocument {
  const document = FIXTURES.article?.();
  if (!document) throw new Error("no fixture");
  change(document);
  return document;
}

const onCpu = (cpu: string) => run(({ environment }) => {
  const entry = environment.find(({ name }) => name === "CPU");
  if (entry) entry.value = cpu;
});
const withMemory = (value: string) => run(({ engines }) => {
  const setting = engines[1]?.settings.find(({ name }) => name === "work_mem");
  if (setting) setting.value = value;
});

test("machines are told apart by their processors", () => {
  const runs = [onCpu("2 cores"), onCpu("8 cores")];
  expect(runLabels(runs).map((label) => label.long)).toEqual(["Run 1: 2 cores", "Run 2: 8 cores"]);
  expect(differences(runs)).toEqual([{ name: "CPU", values: ["2 cores", "8 cores"] }]);
});

test("settings that differ are listed with their engine; what one run lacks is empty", () => {
  const bare = run((document) => { document.engines.pop(); });
  expect(differences([withMemory("4MB"), withMemory("16MB")])).toEqual(
    [{ name: "postgres:18: work_mem", values: ["4MB", "16MB"] }]);
  expect(differences([run(() => {}), bare])).toContainEqual(
    { name: "postgres:18", values: ["PostgreSQL 18.1", ""] });
});

test("runs that repeat each other are named by their moments", () => {
  const later = run((document) => { document.run.started = "2026-11-22T09:00:00Z"; });
  expect(differences([run(() => {}), later])).toEqual([]);
  expect(runLabels([run(() => {}), later])[1]?.long).toBe("Run 2: 22 November 2026, 09:00 UTC");
});
