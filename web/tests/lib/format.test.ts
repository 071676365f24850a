// Numbers as a reader meets them in tables, axes and sentences.

import { describe, expect, test } from "vitest";
import {
  change,
  clock,
  columnUnit,
  count,
  duration,
  interval,
  intervalWithUnit,
  MISSING,
  moment,
  quantity,
  share,
  shortCount,
  significant,
} from "../../src/lib/format";

const bounds = (value: number, low: number | null, high: number | null) => ({ value, low, high });

describe("significant", () => {
  test.each([
    [52.13, "52.1"],
    [2529.4, "2,530"],
    [1_234_567, "1,230,000"],
    [0.05114, "0.0511"],
    [0.66, "0.660"],
    [9.996, "10.0"],
    [99.96, "100"],
    [999.6, "1,000"],
    [0, "0"],
    [-0.4567, "-0.457"],
  ])("%d reads %s", (value, text) => expect(significant(value)).toBe(text));

  test("what was not measured is said to be so", () => {
    expect(significant(null)).toBe(MISSING);
    expect(significant(Number.NaN)).toBe(MISSING);
  });
});

describe("quantity", () => {
  test.each([
    [52.13, "ms", "52.1\u00a0ms"],
    [2529.4, "ms", "2.53\u00a0s"],
    [0.0511, "s", "51.1\u00a0ms"],
    [0.0042, "ms", "4.20\u00a0µs"],
    [12.3, "us", "12.3\u00a0µs"],
    [19.1, "transactions/s", "19.1\u00a0transactions/s"],
    [19.1, null, "19.1"],
    [0, "ms", "0\u00a0ms"],
  ])("%d %s reads %s", (value, unit, text) => expect(quantity(value, unit)).toBe(text));
});

describe("interval", () => {
  test.each([
    [bounds(52.13, 50.9, 53.31), "52.1 (50.9 to 53.3)"],
    [bounds(0.66, 0.631, 0.69), "0.660 (0.631 to 0.690)"],
    [bounds(2529, 2460, 2583), "2,530 (2,460 to 2,580)"],
    [bounds(52.1, null, null), "52.1"],
  ])("%o", (estimate, text) => expect(interval(estimate)).toBe(text));

  test("an end never reads like the value, as far as two more digits can tell them apart", () => {
    expect(interval(bounds(2529, 2527, 2532))).toBe("2,529 (2,527 to 2,532)");
    expect(interval(bounds(1, 0.9996, 1.0004))).toBe("1.0000 (0.9996 to 1.0004)");
  });

  test("all three numbers share one unit", () => {
    expect(intervalWithUnit(bounds(1004, 990, 1020), "ms")).toBe("1.00\u00a0s (0.99 to 1.02)");
  });
});

test("a column's unit keeps most of its values at one or more", () => {
  expect(columnUnit("ms", [53, 198, 593, 2529])).toEqual({ unit: "ms", factor: 1 });
  expect(columnUnit("s", [0.035, 0.07, 0.6])).toEqual({ unit: "ms", factor: 1000 });
  expect(columnUnit("ms", [])).toEqual({ unit: "ms", factor: 1 });
});

test("counts are shown in full", () => expect(count(6_508_462)).toBe("6,508,462"));

test("spans and moments of time", () => {
  expect(duration(4.05)).toBe("4.05\u00a0s");
  expect(duration(201.5)).toBe("3\u00a0min 22\u00a0s");
  expect(duration(7384)).toBe("2\u00a0h 3\u00a0min");
  expect(moment("2026-11-21T21:00:00Z")).toBe("21 November 2026, 21:00 UTC");
  expect(moment("no date")).toBe("no date");
});

test("bytes read in the unit that suits them", () => {
  expect(quantity(25_100_000, "bytes")).toBe("25.1\u00a0MB");
  expect(quantity(512, "bytes")).toBe("512\u00a0bytes");
});

test.each([
  [0, "0"], [950, "950"], [999.7, "1k"], [12_345, "12.3k"], [999_600, "1M"], [4_560_000, "4.56M"],
  [1_000, "1k"], [2_500_000_000, "2.5G"],
])("%d in little room is %s", (value, text) => expect(shortCount(value)).toBe(text));

test.each([
  [0, "0%"], [0.00001, "under 0.01%"], [0.0005, "0.05%"], [0.0123, "1.23%"], [0.123, "12.3%"],
  [0.9999, "100%"], [1, "100%"],
])("the part %d is %s", (value, text) => expect(share(value)).toBe(text));

test.each([
  [0.1234, "+12.3%"], [-0.0456, "\u22124.56%"], [2.4, "+240%"], [23.4, "+2,340%"], [0, "0%"],
  [-0.00001, "0%"], [-1, "\u2212100%"],
])("a change of %d is %s", (value, text) => expect(change(value)).toBe(text));

test.each([
  [4.25, "4.3s"], [5, "5s"], [42.4, "42s"], [59.6, "1m"], [82, "1m\u00a022s"],
  [3780, "1h\u00a03m"], [null, MISSING],
])("%d seconds are %s", (value, text) => expect(clock(value)).toBe(text));
