// Names of marked parts of the x axis never lie on each other or outside the picture.

import { expect, test } from "vitest";
import { xAxis } from "../../src/report/chart/axis";
import { placeSpans } from "../../src/report/chart/series";

const AXIS = xAxis({
  label: "Clients", unit: null, scale: "linear", joined: true,
  levels: [0, 50, 100].map((value) => ({ value, label: String(value) })),
});
const span = (low: number, high: number, label = `${low} to ${high}`) => ({ low, high, label });

test("names that fit side by side share a line, others stand above each other", () => {
  const rows = (width: number, spans: ReturnType<typeof span>[]) =>
    placeSpans(spans, AXIS, width).map(({ row }) => row);
  expect(rows(600, [span(0, 50), span(50, 100)])).toEqual([0, 0]);
  expect(rows(600, [span(40, 60), span(45, 65)])).toEqual([0, 1]);
  expect(rows(100, [span(0, 50), span(50, 100)])).toEqual([0, 1]);
});

test("one place is marked by one line: a span without width", () => {
  const [cores] = placeSpans([span(50, 50, "2 cores")], AXIS, 300);
  expect(cores).toMatchObject({ from: 50, to: 50, row: 0 });
});

test("what the axis cannot show is not marked", () => {
  const texts = xAxis({ label: "Design", unit: null, scale: "linear", joined: false,
    levels: [{ value: "daily", label: "daily" }] });
  expect(placeSpans([span(1, 2)], texts, 300)).toEqual([]);
});
