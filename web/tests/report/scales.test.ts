// A logarithmic axis says so: in its name, or below a chart whose axis has none.

import { expect, test } from "vitest";
import { heading } from "../../src/report/chart/chart";
import { drawToSvg } from "../../src/report/chart/echarts";
import { bySwept, ratioCharts } from "../../src/report/chart/panels";
import { allRows } from "../../src/report/chart/rows";
import { scalesNote } from "../../src/report/chart/scales";
import { LIGHT } from "../../src/lib/chart/colours";
import { Experiment } from "../../src/report/document/experiment";
import { FIXTURES } from "../fixtures/experiments";

const made = FIXTURES.article?.();
if (!made) throw new Error("no fixture");
const experiment = new Experiment(made);
const [chart] = bySwept(experiment, "articles");
const [ratio] = ratioCharts(experiment);
if (!chart || !ratio) throw new Error("no chart");

const LOOK = { scale: "linear", xScale: "plan" } as const;
const VIEW = { ...LOOK, colours: LIGHT, also: [], named: false, width: 500, height: 300, mini: false };

test("the name of a logarithmic x axis has the word", () => {
  expect(drawToSvg(chart, VIEW)).toContain("Period, logarithmic");
  expect(drawToSvg(chart, { ...VIEW, xScale: "linear" })).not.toContain("logarithmic");
});

test("what the drawing does not say stands below it", () => {
  expect(scalesNote(chart, LOOK, true)).toBe("");
  expect(scalesNote(chart, LOOK, false)).toBe("The x axis is logarithmic.");
  expect(scalesNote(chart, { ...LOOK, scale: "log" }, true)).toBe("The y axis is logarithmic.");
  expect(scalesNote(chart, { ...LOOK, scale: "log" }, false)).toBe("Both axes are logarithmic.");
  const row = allRows(experiment).find(({ id }) => id === "ratio");
  expect(row?.note).toContain("Logarithmic");
});

test("a small chart is titled by its subject", () => {
  expect(heading(chart)).toBe("articles, 1 client");
  expect(heading(ratio)).toBe("Times as fast as sqlite, 1 client");
});
