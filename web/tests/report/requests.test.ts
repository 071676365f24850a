// The table of each request alone: its rows, and what they say of engines that were not compared.

import { expect, test } from "vitest";
import { Experiment } from "../../src/report/document/experiment";
import { columnsCsv } from "../../src/report/tables/columns";
import { requestColumns, requestRows } from "../../src/report/tables/request-columns";
import { FIXTURES } from "../fixtures/experiments";

function experiment(name: string): Experiment {
  const make = FIXTURES[name];
  if (!make) throw new Error(`no fixture ${name}`);
  return new Experiment(make());
}

test("a row for a request, a set of levels and an engine, with time, ratio and verdict", () => {
  const of = experiment("article");
  const rows = requestRows(of);
  expect(rows).toHaveLength(9 * 12 * 2);
  expect(rows.slice(0, 2).map(({ request, engine }) => [request, engine])).toEqual(
    [["articles", "sqlite"], ["articles", "postgres:18"]]);
  const columns = requestColumns(of, rows);
  const shown = columns.filter((column) => !column.hidden).map((column) => column.title);
  expect(shown).toEqual(["Request", "Where", "Engine", "Geometric mean, ms",
    "Times as fast as sqlite", "Verdict"]);
  const [first, second] = rows;
  if (!first || !second) throw new Error("no rows");
  expect(columns.map((column) => column.show(first)).slice(-2)).toEqual(["", ""]);
  const ratio = second.result.ratio?.estimate.value ?? 0;
  const { header, rows: cells } = columnsCsv(columns, rows);
  expect(cells[1]?.[header.indexOf("times_as_fast")]).toBeCloseTo(1 / ratio, 10);
  expect(cells[1]?.[header.indexOf("verdict")]).toBe(second.result.ratio?.verdict);
});

test("an engine without a comparison is not compared", () => {
  const of = experiment("article");
  const [, second] = requestRows(of);
  if (!second) throw new Error("no row");
  second.result.ratio = null;
  const verdict = requestColumns(of, [second]).at(-1);
  expect(verdict?.show(second)).toBe("not compared");
});
