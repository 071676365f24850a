// Warnings are ranked by whether they can change the answer; every kind of the program has a rank.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { possessive } from "../../src/report/document/names";
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
  const [, variants = ""] = readFileSync(source, "utf8").split("pub enum Warning {");
  const names = [...variants.slice(0, variants.indexOf("\n}")).matchAll(/^ {4}([A-Z]\w+)/gm)];
  const kinds = names.map(([, name]) =>
    (name ?? "").replace(/(?!^)[A-Z]/g, (letter) => `_${letter}`).toLowerCase());
  expect(kinds.length).toBeGreaterThan(20);
  expect(kinds.filter((kind) => !KNOWN_KINDS.includes(kind))).toEqual([]);
});

test("the first words of a warning end between two words", () => {
  expect(beginning("Short enough.")).toBe("Short enough.");
  expect(beginning("The hypervisor took up to 12% of the time away", 20)).toBe("The hypervisor …");
});

test("an engine that is no product is not given an apostrophe", () => {
  expect(possessive("PostgreSQL 18", "time")).toBe("PostgreSQL 18's time");
  expect(possessive("a folder of files", "time")).toBe("the time of a folder of files");
});
