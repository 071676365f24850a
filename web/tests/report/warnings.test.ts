// Warnings are ranked by whether they can change the answer; every kind of the program has a rank.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { engineNames, possessive } from "../../src/report/document/names";
import { beginning, KNOWN_KINDS, ranked } from "../../src/report/document/warnings";

const warning = (kind: string) => ({ kind, message: kind, advice: "" });

test("what can turn the answer comes first, remarks last, unknown kinds between", () => {
  const kinds = ["resumed", "drift", "of_tomorrow", "failures", "shared_cores", "answers_differ"];
  const { doubts, remarks } = ranked(kinds.map(warning));
  expect(doubts.map((one) => one.kind)).toEqual(
    ["answers_differ", "failures", "drift", "of_tomorrow"]);
  expect(remarks.map((one) => one.kind)).toEqual(["shared_cores", "resumed"]);
});

test("the program's kinds are all known", () => {
  const source = new URL("../../../crates/report/src/warning/mod.rs", import.meta.url);
  const kinds = [...readFileSync(source, "utf8").matchAll(/Self::\w+(?: \{ \.\. \})? => "(\w+)"/g)];
  expect(kinds.length).toBeGreaterThan(20);
  expect(kinds.map(([, kind]) => kind).filter((kind) => !KNOWN_KINDS.includes(kind ?? ""))).toEqual(
    []);
});

test("the first words of a warning end between two words", () => {
  expect(beginning("Short enough.")).toBe("Short enough.");
  expect(beginning("The hypervisor took up to 12% of the time away", 20)).toBe("The hypervisor …");
});

test("engines have the names of the headline, unless two would have the same", () => {
  const names = (engines: [string, string][]) =>
    [...engineNames(engines.map(([name, version]) => ({ name, version, settings: [] }))).values()];
  expect(names([["sqlite", "SQLite 3.53.1"], ["postgres:18", "PostgreSQL 18.1"],
    ["postgres:newest", "PostgreSQL 18.1"], ["mariadb", "MariaDB 11.8.2"], ["dir", ""],
    ["http://127.0.0.1:8080", "unknown"]])).toEqual(["SQLite", "postgres:18", "postgres:newest",
    "MariaDB 11.8", "a folder of files", "http://127.0.0.1:8080"]);
  expect(names([["sqlite[cache_size=-2000,mmap_size=0]", "SQLite 3.53.1"],
    ["postgres:14[label=ours]", "PostgreSQL 14.20"]])).toEqual(
    ["SQLite (cache_size=-2000, mmap_size=0)", "ours"]);
  expect(possessive("PostgreSQL 18", "time")).toBe("PostgreSQL 18's time");
  expect(possessive("a folder of files", "time")).toBe("the time of a folder of files");
});
