// The matrix of ratios: which rows and columns a document gives it, how a cell reads, and what its
// CSV holds.

import { describe, expect, test } from "vitest";
import type { ReportDocument } from "../../src/report/document/document";
import { Experiment } from "../../src/report/document/experiment";
import { type MatrixCell, matrixCsv, matrixOf } from "../../src/report/tables/matrix";
import { FIXTURES } from "../fixtures/experiments";

function document(name: string): ReportDocument {
  const make = FIXTURES[name];
  if (!make) throw new Error(`no fixture ${name}`);
  return make();
}

function matrix(of: ReportDocument) {
  const found = matrixOf(new Experiment(of));
  if (!found) throw new Error("no matrix");
  return found;
}

/** One pair at one client and a period, as the document says it. */
function cell(
  a: "sqlite" | "postgres:18", ratio: number, verdict: "faster" | "slower" | "equal" | "undecided",
  bounds: [number | null, number | null] = [ratio * 0.9, ratio * 1.1],
): MatrixCell | null | undefined {
  const of = document("article");
  of.summary.verdicts = [{ family: "primary", a, b: a === "sqlite" ? "postgres:18" : "sqlite",
    levels: { clients: 1 }, level: 7, ratio, low: bounds[0], high: bounds[1], verdict }];
  return matrix(of).rows[0]?.cells[0];
}

describe("rows and columns", () => {
  test("clients by periods; two engines need no rows of their own", () => {
    const { levels, rows, axis, title } = matrix(document("article"));
    expect(axis).toBe("Period");
    expect(levels.map((level) => level.label)).toEqual(["week", "month", "quarter", "year"]);
    expect(rows.map((row) => row.label)).toEqual(["1 client", "2 clients", "4 clients"]);
    expect(title).toBe("PostgreSQL 18: times as fast as SQLite");
  });
  test("three engines: each by the first, in groups; a gap where nothing was compared", () => {
    const { rows, pairs, title } = matrix(document("three"));
    expect(pairs.map((pair) => pair.base)).toEqual(["sqlite", "sqlite"]);
    expect(rows).toHaveLength(6);
    expect(rows[2]?.cells[3]).toBeNull();
    expect(title).toBe("Each engine: times as fast as SQLite");
  });
  test("rates: above 1 is faster, columns name their unit", () => {
    const { levels, caption, title } = matrix(document("throughput"));
    expect(levels.map((level) => level.label)).toEqual(["1 client", "2 clients", "4 clients",
      "8 clients", "16 clients", "32 clients", "64 clients"]);
    expect(caption).toMatch(/^Above 1: faster;/);
    expect(title).toBe("Each engine: times the throughput of PostgreSQL 14");
  });
  test("other pairs come after those with the first engine, and pairs without verdict are named", () => {
    const of = document("three");
    const [first, ...others] = of.engines.map((engine) => engine.name);
    const [second = "", third = ""] = others;
    const [pattern] = of.summary.verdicts;
    if (!pattern || !first) throw new Error("no verdict");
    of.summary.verdicts.push({ ...pattern, family: "other_pairs", a: third, b: second });
    const { pairs, rows } = matrix(of);
    expect(pairs.map((pair) => pair.family)).toEqual(["primary", "primary", "other_pairs"]);
    expect(rows.at(-1)?.pair).toEqual({ engine: third, base: second, family: "other_pairs" });
    of.summary.verdicts.pop();
    of.summary.not_compared = [{ a: second, b: third }];
    const name = (label: string) => of.engines.find((one) => one.name === label)?.product ?? "";
    expect(matrix(of).caption).toContain(`not compared: ${name(second)} and ${name(third)}`);
  });
  test.each(["single", "point", "alone"])("none without levels or a second engine: %s", (name) => {
    expect(matrixOf(new Experiment(document(name)))).toBeNull();
  });
});

describe("a cell", () => {
  test("says how often as fast, with two digits below 1, three above, and its interval", () => {
    expect(cell("postgres:18", 0.4437, "faster", [0.431, 0.452])).toMatchObject(
      { ratio: "2.25", interval: "2.21 to 2.32", word: "", winner: "postgres:18" });
    expect(cell("postgres:18", 2.431, "slower", [2.38, 2.49])).toMatchObject(
      { ratio: "0.41", interval: "0.40 to 0.42", winner: "sqlite" });
    expect(cell("postgres:18", 0.00401, "faster", [0.00393, 0.00406])).toMatchObject(
      { ratio: "249", interval: "246 to 254" });
  });
  test("is turned round where the first engine is the numerator", () => {
    expect(cell("sqlite", 2, "slower", [1.6, 2.5])).toMatchObject(
      { ratio: "2.00", interval: "1.60 to 2.50", winner: "postgres:18" });
  });
  test("says in a word what is equal or undecided, and is not coloured then", () => {
    expect(cell("postgres:18", 1.01, "equal")).toMatchObject({ word: "equal", winner: null,
      strength: 0 });
    expect(cell("postgres:18", 1.2, "undecided")).toMatchObject({ word: "?", winner: null });
    expect(cell("postgres:18", 1.2, "undecided", [null, null])?.interval).toBe("");
  });
  test("is the stronger the farther from 1, alike in both directions", () => {
    const [half, twice] = [cell("postgres:18", 0.5, "faster"), cell("postgres:18", 2, "slower")];
    expect(half?.strength).toBeCloseTo(twice?.strength ?? 0, 10);
    expect(half?.strength).toBeCloseTo(0.5, 10);
    expect(cell("postgres:18", 40, "slower")?.strength).toBe(1);
  });
});

test("the CSV has a row for each cell, with numbers in full", () => {
  const of = document("article");
  const { header, rows } = matrixCsv(new Experiment(of), matrix(of));
  expect(header).toEqual(["days", "clients", "engine", "base", "family", "times_as_fast", "low",
    "high", "verdict"]);
  expect(rows).toHaveLength(of.summary.verdicts.length);
  expect(rows[0]?.slice(0, 4)).toEqual([7, 1, "postgres:18", "sqlite"]);
  expect(rows[0]?.[5]).toBe(1 / (of.summary.verdicts[0]?.ratio ?? 0));
});
