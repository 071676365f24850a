// Warnings are grouped by whether they can change the answer, and told in few words.

import { expect, test } from "vitest";
import { possessive } from "../../src/report/document/names";
import { beginning, grouped } from "../../src/report/document/warnings";

const warning = (kind: string, changes_answer: boolean) =>
  ({ kind, changes_answer, message: kind, advice: "" });

test("what can change the answer is apart from remarks, in the program's order", () => {
  const all = [warning("failures", true), warning("drift", true), warning("resumed", false)];
  const { doubts, remarks } = grouped(all);
  expect(doubts.map((one) => one.kind)).toEqual(["failures", "drift"]);
  expect(remarks.map((one) => one.kind)).toEqual(["resumed"]);
});

test("the first words of a warning end between two words", () => {
  expect(beginning("Short enough.")).toBe("Short enough.");
  expect(beginning("The hypervisor took up to 12% of the time away", 20)).toBe("The hypervisor …");
});

test("an engine that is no product is not given an apostrophe", () => {
  expect(possessive("PostgreSQL 18", "time")).toBe("PostgreSQL 18's time");
  expect(possessive("a folder of files", "time")).toBe("the time of a folder of files");
});
