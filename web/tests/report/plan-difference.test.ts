// Two plans of one statement: what differs is marked, the planner's numbers are not.

import { expect, test } from "vitest";
import { planDifference } from "../../src/report/document/plan-difference";

const marked = (lines: { text: string; only: boolean }[]) =>
  lines.filter((line) => line.only).map((line) => line.text.trim());

test("costs, rows and times do not make a line different", () => {
  const [a, b] = planDifference(
    "Sort  (cost=1.2..3.4 rows=5 width=8)\n  ->  Seq Scan on t  (actual time=1.0..2.0 rows=9)",
    "Sort  (cost=9.9..99.9 rows=500 width=8)\n  ->  Seq Scan on t  (actual time=7.0..8.0 rows=1)",
  );
  expect([...marked(a), ...marked(b)]).toEqual([]);
});

test("a line that only one plan has is marked, its neighbours are not", () => {
  const [a, b] = planDifference(
    "Sort\n  ->  Bitmap Heap Scan on daily\n        ->  Bitmap Index Scan on daily_day",
    "Sort\n  ->  Gather\n        ->  Parallel Seq Scan on daily",
  );
  expect(marked(a)).toEqual(
    ["->  Bitmap Heap Scan on daily", "->  Bitmap Index Scan on daily_day"]);
  expect(marked(b)).toEqual(["->  Gather", "->  Parallel Seq Scan on daily"]);
});

test("plans of a thousand lines are compared too", () => {
  const long = Array.from({ length: 1000 }, (_, i) => `Scan on ${"p".repeat(i % 7)}`).join("\n");
  const [, b] = planDifference(long, `${long}\nHash Join`);
  expect(marked(b)).toEqual(["Hash Join"]);
});

test("a plan that is missing marks nothing but the other", () => {
  const [a, b] = planDifference("", "Seq Scan on t");
  expect(marked(b)).toEqual(["Seq Scan on t"]);
  expect(a).toHaveLength(1);
});
