// The percentile plot: HDR's axis, only what the observations support.

import { expect, test } from "vitest";
import { drawToSvg } from "../../src/report/chart/echarts";
import { hoverHtml } from "../../src/report/chart/option";
import {
  nines,
  percentileCells,
  percentileChart,
  percentileName,
} from "../../src/report/chart/percentiles";
import { LIGHT } from "../../src/lib/chart/colours";
import { Experiment } from "../../src/report/document/experiment";
import { FIXTURES } from "../fixtures/experiments";

const make = FIXTURES.article;
if (!make) throw new Error("no fixture");
const experiment = new Experiment(make());
const [cell] = percentileCells(experiment);
if (!cell) throw new Error("no percentiles");

test("each further nine takes the same room on the axis", () => {
  const step = (from: number, to: number) => Math.log(nines(to)) - Math.log(nines(from));
  expect(step(0.9, 0.99)).toBeCloseTo(step(0.99, 0.999));
  expect(percentileName(0.999)).toBe("p99.9");
});

test("a treatment is chosen among those that have curves", () => {
  expect(percentileCells(experiment)).toHaveLength(12);
  const without = make();
  for (const treatment of without.treatments) treatment.percentile_curve = [];
  expect(percentileCells(new Experiment(without))).toEqual([]);
});

test("one line per engine, no named percentile beyond the observations, ends are told", () => {
  const document = make();
  const [sqlite, postgres] = document.treatments;
  if (!sqlite || !postgres) throw new Error("no treatments");
  sqlite.percentile_curve = sqlite.percentile_curve.filter(([p]) => p <= 0.9);
  const chart = percentileChart(new Experiment(document), cell);
  expect(chart?.lines.map((line) => line.name)).toEqual(["sqlite", "postgres:18"]);
  const furthest = postgres.percentile_curve.at(-1)?.[0] ?? 0;
  expect(Math.max(...(chart?.x.levels ?? []).map((level) => Number(level.value))))
    .toBeLessThanOrEqual(nines(furthest) * 1.01);
  expect(chart?.captions.map((caption) => caption.text)).toEqual(
    ["sqlite has observations enough up to p90."]);
});

test("draws its names and symbols at named percentiles only", () => {
  const chart = percentileChart(experiment, cell);
  if (!chart) throw new Error("no chart");
  const svg = drawToSvg(chart, { width: 600, height: 300, colours: LIGHT, scale: "log",
    xScale: "linear", also: [], named: false, mini: false });
  expect(svg).not.toMatch(/NaN|Infinity/);
  for (const name of ["p50", "p90", "p95"]) expect(svg).toContain(`>${name}</text>`);
  expect(chart.lines[0]?.points.filter((point) => !point.plain).length).toBeLessThan(8);
});

test("hovering a curve tells every engine's nearest point, by its own name", () => {
  const chart = percentileChart(experiment, cell);
  if (!chart) throw new Error("no chart");
  expect(hoverHtml(chart, nines(0.9), LIGHT)).toMatch(/^p90<table.*sqlite<.*postgres:18</);
  const [, other] = chart.lines;
  if (!other) throw new Error("no line");
  other.points = other.points.filter((point) => point.label !== "p90");
  expect(hoverHtml(chart, nines(0.9), LIGHT)).toMatch(/postgres:18 \(p\d+(\.\d+)?\)</);
});
