// Axes: zero where promised, readable ticks, labels that do not collide.

import { describe, expect, test } from "vitest";
import { fittingLabels, hasXChoice, logTicks, xAxis, yAxis } from "../../src/report/chart/axis";
import type { XScale } from "../../src/report/chart/chart";

const labels = (ticks: { label: string }[]) => ticks.map((tick) => tick.label);

const PERIOD: XScale = {
  label: "Period", unit: "days", joined: true, scale: "log",
  levels: [
    { value: 7, label: "week" },
    { value: 31, label: "month" },
    { value: 90, label: "quarter" },
    { value: 112, label: "112 days", bisected: true },
    { value: 126, label: "126 days", bisected: true },
    { value: 365, label: "year" },
  ],
};
const CLIENTS: XScale = {
  label: "Clients", unit: null, joined: true, scale: "linear",
  levels: [{ value: 1, label: "1 client" }, { value: 2, label: "2 clients" }],
};

describe("y axis", () => {
  test("linear: from zero, in one unit", () => {
    const axis = yAxis([53, 2529], "measure", "linear", "ms");
    expect(axis.min).toBe(0);
    expect(labels(axis.ticks)).toEqual(["0", "1\u00a0s", "2\u00a0s", "3\u00a0s"]);
  });
  test("linear: the largest value lies inside", () => {
    for (const largest of [0.0003, 0.97, 1.001, 4.03, 99, 101, 12_345]) {
      expect(yAxis([largest], "measure", "linear", null).max).toBeGreaterThanOrEqual(largest);
    }
  });
  test("log: each tick in its own unit", () => {
    const axis = yAxis([53, 2529], "measure", "log", "ms");
    expect(labels(axis.ticks)).toEqual(
      ["50\u00a0ms", "100\u00a0ms", "200\u00a0ms", "500\u00a0ms", "1\u00a0s", "2\u00a0s"],
    );
  });
  test("log: a bound that is not positive is drawn at the foot, not at infinity", () => {
    const axis = yAxis([-3, 0, 5, 80], "measure", "log", "ms");
    expect(axis.position(-3)).toBe(axis.min);
    expect(Number.isFinite(axis.min)).toBe(true);
  });
  test("a ratio's axis always shows 1", () => {
    const axis = yAxis([0.21, 0.66], "ratio", "linear", null);
    expect(labels(axis.ticks)).toContain("1×");
    expect(axis.max).toBeGreaterThan(0);
  });
});

test.each([[1, 1.05], [0.3, 1.2], [30, 5000], [1e-6, 1e9]])(
  "between %d and %d there are two to eight ticks, all inside",
  (low, high) => {
    const ticks = logTicks(low, high);
    expect(ticks.length).toBeGreaterThanOrEqual(2);
    expect(ticks.length).toBeLessThanOrEqual(8);
    expect(ticks.every((tick) => tick >= low * 0.999 && tick <= high * 1.001)).toBe(true);
  },
);

describe("x axis", () => {
  test("a logarithmic factor keeps its proportions", () => {
    const { position } = xAxis(PERIOD);
    const step = (from: number, to: number) => (position(to) ?? 0) - (position(from) ?? 0);
    expect(step(7, 31)).toBeCloseTo(Math.log(31 / 7));
  });
  test("the reader's choice of scale goes before the plan's, but for a fixed scale", () => {
    const spread = (axis: ReturnType<typeof xAxis>) =>
      ((axis.position(31) ?? 0) - (axis.position(7) ?? 0)) /
      ((axis.position(365) ?? 0) - (axis.position(7) ?? 0));
    expect(spread(xAxis(PERIOD, "linear"))).toBeCloseTo(24 / 358);
    expect(spread(xAxis({ ...PERIOD, fixed: true }, "linear"))).toBeCloseTo(
      Math.log(31 / 7) / Math.log(365 / 7));
    expect(hasXChoice(PERIOD)).toBe(true);
    expect(hasXChoice({ ...PERIOD, levels: [{ value: 0, label: "0" }] })).toBe(false);
  });
  test("labels are short where the axis's name says the rest", () => {
    expect(labels(xAxis(CLIENTS).levels)).toEqual(["1", "2"]);
    const cpus = { ...CLIENTS, label: "server_cpus", levels: [
      { value: 1, label: "server_cpus 1" }, { value: 2, label: "server_cpus 2" }] };
    expect(labels(xAxis(cpus).levels)).toEqual(["1", "2"]);
    expect(labels(xAxis(PERIOD).levels)).toContain("112 days");
  });
  test("levels that are texts are at equal distances", () => {
    const axis = xAxis({ ...CLIENTS, joined: false, levels: [
      { value: "daily", label: "daily" }, { value: "rollup", label: "rollup" }] });
    expect(axis.levels.map((level) => level.at)).toEqual([0, 1]);
  });
  test("labels that would collide give way: bisected levels first, a bracket's ends last", () => {
    const axis = xAxis(PERIOD);
    const shown = (width: number, wanted: number[] = []) =>
      [...fittingLabels(axis, width, 6.7, wanted)].sort().map((i) => axis.levels[i]?.label);
    expect(shown(330)).toEqual(["week", "month", "quarter", "year"]);
    expect(shown(900, [126])).toContain("126 days");
    expect(shown(3000)).toHaveLength(6);
  });
});
