// The chart over time: its points and lines, its words, and the drawing of it.

import { describe, expect, test } from "vitest";
import type { Answer, Row } from "../../src/dashboard/data/api";
import {
  type ChartInput, chartDescription, chartOf, daysBetween, earlierText, pointChange, pointText,
} from "../../src/dashboard/charts/chart";
import { drawToSvg } from "../../src/dashboard/charts/echarts";
import { gapsOf, hoverHtml, lineColour, tickEvery, valueTicks } from "../../src/dashboard/charts/option";
import { barsPicture, chartPicture } from "../../src/dashboard/charts/picture";
import { DARK, LIGHT } from "../../src/lib/chart/colours";

const known = { start: "2020-04-01", end: "2022-06-26" };
const period = { start: "2021-05-01", end: "2021-05-05" };
const row = (key: string, pageviews: number, more: Partial<Row> = {}): Row =>
  ({ key, label: key, pageviews, sessions: pageviews / 10, engagement_seconds: pageviews * 6, ...more });
const answerOf = (rows: Row[]): Answer =>
  ({ totals: { pageviews: 0, sessions: 0, engagement_seconds: 0 }, row_count: rows.length, rows });
const input: ChartInput = {
  // Ranked as the API does, and without 3 May.
  answer: answerOf([row("2021-05-02", 1300), row("2021-05-05", 700), row("2021-05-01", 300),
    row("2021-05-04", 200)]),
  period, known, grain: "days", metric: "pageviews", compare: "none", split: null,
};

describe("points", () => {
  test("run in time, and a day without a row had no traffic", () => {
    const chart = chartOf(input);
    expect(chart.points.map(({ key }) => key.slice(8))).toEqual(["01", "02", "03", "04", "05"]);
    expect(chart.lines[0]?.values).toEqual([300, 1300, 0, 200, 700]);
  });

  test("an average of nothing is a gap", () => {
    const chart = chartOf({ ...input, metric: "engagement" });
    expect(chart.lines[0]?.values).toEqual([60, 60, null, 60, 60]);
  });

  test("outside the data nothing is drawn, and that is said", () => {
    const chart = chartOf({ ...input, period: { start: "2022-06-25", end: "2022-06-30" } });
    expect(chart.points).toHaveLength(2);
    expect(chart.notes.join()).toContain("There is data from 1\u00a0Apr\u00a02020 to");
    expect(chartOf({ ...input, period: { start: "2019-01-01", end: "2019-01-02" } }).points)
      .toEqual([]);
  });

  test("weeks that are cut off are told", () => {
    const chart = chartOf({ ...input, grain: "weeks",
      period: { start: "2021-05-05", end: "2021-05-18" } });
    expect(chart.notes).toEqual(["The first week is only 5 to 9\u00a0May\u00a02021.",
      "The last week is only 17 to 18\u00a0May\u00a02021."]);
    expect([pointText(chart, 0), pointText(chart, 1)]).toEqual(
      ["week of 3\u00a0May\u00a02021, 5 days", "week of 10\u00a0May\u00a02021"]);
  });

  test("a month that the data ends in is told by the days that there are", () => {
    const chart = chartOf({ ...input, grain: "months",
      period: { start: "2022-05-01", end: "2022-06-30" } });
    expect(chart.notes[0]).toBe("The last month is only 1 to 26\u00a0Jun\u00a02022.");
    expect(pointText(chart, 1)).toBe("Jun\u00a02022, 26 days");
  });
});

describe("days that are not complete", () => {
  const incomplete = new Map([["2021-05-03", "missing"], ["2021-05-05", "today"]] as const);
  const gap: ChartInput = { ...input, known: { ...known, incomplete } };

  test("never imported are a gap and no zero, marked, and told", () => {
    const chart = chartOf(gap);
    expect(chart.lines[0]?.values).toEqual([300, 1300, null, 200, 700]);
    expect(chart.notes).toEqual(["Never imported: 3\u00a0May\u00a02021.",
      "Not over: 5\u00a0May\u00a02021."]);
    expect(pointText(chart, 2)).toBe("3\u00a0May\u00a02021, never imported");
    expect(pointText(chart, 4)).toBe("5\u00a0May\u00a02021, not over");
    expect(gapsOf(chart)).toEqual([[2, 2]]);
    const svg = drawToSvg(chart, { width: 700, height: 260, colours: LIGHT });
    expect(svg).toContain(">gap<");
    expect(svg).toContain("stroke-dasharray");
    expect(drawToSvg(chartOf(input), { width: 700, height: 260, colours: LIGHT })).not.toContain(">gap<");
  });

  test("are compared with nothing, nor is the day that they would be compared with", () => {
    const previous = { pageviews: 100, sessions: 1, engagement_seconds: 1 };
    const chart = chartOf({ ...gap, compare: "previous",
      known: { ...known, incomplete: new Map([...incomplete, ["2021-04-25", "missing"]]) },
      answer: answerOf([row("2021-05-01", 300, { previous }), row("2021-05-02", 1300),
        row("2021-05-04", 200, { previous }), row("2021-05-05", 700)]) });
    expect(chart.lines[1]?.values).toEqual([100, null, null, 100, null]);
    expect([0, 1, 2, 3, 4].map((place) => pointChange(chart, place))).toEqual(
      ["+200%", "\u2013", "\u2013", "+100%", "\u2013"]);
    // One sentence for both sides, not one for each.
    expect(chart.notes).toEqual(["Left out on both sides: never imported: 3\u00a0May\u00a02021, " +
      "25\u00a0Apr\u00a02021; not over: 5\u00a0May\u00a02021; the line of the period before is broken there."]);
  });

  test("of weeks are told, and their change is of the days that are compared", () => {
    const weeks = { start: "2021-05-03", end: "2021-05-16" };
    const part = { comparable: { pageviews: 60, sessions: 1, engagement_seconds: 1 },
      previous: { pageviews: 30, sessions: 1, engagement_seconds: 1 } };
    const chart = chartOf({ ...gap, compare: "previous", grain: "weeks", period: weeks,
      answer: answerOf([row("2021-05-03", 90, part)]) });
    expect(pointText(chart, 0)).toBe(
      "week of 3\u00a0May\u00a02021, 1 day never imported, today not over");
    expect([chart.points[0]?.whole, chart.points[1]?.whole]).toEqual([false, true]);
    expect(pointChange(chart, 0)).toBe("+100%");
  });

  test("the line of the earlier days says and marks what it leaves out, also on both sides", () => {
    const weeks = { start: "2021-05-03", end: "2021-05-16" };
    const both = new Map([["2021-05-05", "missing"], ["2021-04-21", "missing"]] as const);
    const chart = chartOf({ ...gap, compare: "previous", grain: "weeks", period: weeks,
      known: { ...known, incomplete: both },
      answer: answerOf([row("2021-05-03", 90, { previous: row("", 30) }),
        row("2021-05-10", 80, { previous: row("", 40) })]) });
    expect(earlierText(chart, 0)).toBe("19 to 25\u00a0Apr\u00a02021 without 21\u00a0Apr\u00a02021");
    expect(earlierText(chart, 1)).toBe("26\u00a0Apr to 2\u00a0May\u00a02021");
    expect(chart.earlier.map((days) => days?.inPart)).toEqual([true, false]);
    expect(chart.notes.at(-1)).toBe("Left out on both sides: never imported: 5\u00a0May\u00a02021, " +
      "21\u00a0Apr\u00a02021; rings are sums without such days.");
  });

  test("a band of one day is one day wide", () => {
    const svg = drawToSvg(chartOf(gap), { width: 700, height: 260, colours: LIGHT });
    const corners = /<polygon points="([\d.]+) [\d.]+ ([\d.]+) /.exec(svg)?.slice(1).map(Number) ?? [];
    const at = (place: number) => Number(
      new RegExp(`matrix\\([\\d.]+,0,0,[\\d.]+,([\\d.]+),[^>]*data_index="${place}"`).exec(svg)?.[1]);
    const interval = at(1) - at(0);
    expect(corners[0]).toBeCloseTo(at(1) + interval / 2, 0);
    expect(corners[1]).toBeCloseTo(at(1) + interval * 1.5, 0);
  });
});

describe("a comparison", () => {
  const previous = (pageviews: number) =>
    ({ previous: { pageviews, sessions: 1, engagement_seconds: 1 } });
  const compared: ChartInput = { ...input, compare: "year",
    answer: answerOf([row("2021-05-01", 300, previous(200)), row("2021-05-02", 1300, previous(2600)),
      row("2021-05-04", 0, previous(50))]) };

  test("is a second line, paired by weekday", () => {
    const chart = chartOf(compared);
    expect(chart.lines[1]?.values).toEqual([200, 2600, 0, 50, 0]);
    expect(earlierText(chart, 0)).toBe("2\u00a0May\u00a02020");
    expect([0, 1, 2, 3].map((place) => pointChange(chart, place))).toEqual(
      ["+50.0%", "\u221250.0%", "\u2013", "\u2212100%"]);
  });

  test("says of each line its own days, and from when on nothing is known", () => {
    const chart = chartOf({ ...compared, period: { start: "2021-03-30", end: "2021-05-04" } });
    expect(chartDescription(chart, chart.points[0]?.days ?? period)).toMatch(
      /The year before: from 0 at 1\u00a0Apr\u00a02020 to 50 at 5\u00a0May\u00a02020/);
    expect(chart.lines[1]?.values.slice(0, 3)).toEqual([null, 0, 0]);
    expect(chart.notes).toContain("There is no data before 1\u00a0Apr\u00a02020.");
  });

  test("with nothing known is no line and no note", () => {
    const chart = chartOf({ ...compared, period: { start: "2020-05-01", end: "2020-05-05" } });
    expect(chart.lines).toHaveLength(1);
    expect(chart.notes).toEqual([]);
  });

  test("of lines by country is in the numbers, and that is said", () => {
    const split = { countries: [{ key: "DE", label: "Germany" }], rows: [] };
    const chart = chartOf({ ...compared, split });
    expect(chart.lines.map(({ kind }) => kind)).toEqual(["country"]);
    expect(chart.notes).toEqual(
      ["Lines by country are of this period only; the numbers below are compared."]);
  });

  test("is told when hovering, with both days", () => {
    const html = hoverHtml(chartOf(compared), 0, LIGHT);
    expect(html).toMatch(/\+50\.0%.*1\u00a0May\u00a02021.*300.*2\u00a0May\u00a02020.*200/);
  });
});

describe("a split", () => {
  const split = { countries: [{ key: "DE", label: "Germany" }, { key: "FR", label: "<France>" }],
    rows: [row("2021-05-02", 1000, { country: "DE" }), row("2021-05-01", 10, { country: "FR" })] };

  test("is a line for each country, each with its colour", () => {
    const chart = chartOf({ ...input, split });
    expect(chart.lines.map(({ name, values }) => [name, values])).toEqual(
      [["Germany", [0, 1000, 0, 0, 0]], ["<France>", [10, 0, 0, 0, 0]]]);
    expect(new Set(chart.lines.map((line) => lineColour(chart, line, LIGHT))).size).toBe(2);
  });

  test("names of countries cannot become markup", () => {
    const html = hoverHtml(chartOf({ ...input, split }), 0, LIGHT);
    expect(html).toContain("&#60;France&#62;");
  });
});

test("a brush chooses whole points inside the period", () => {
  const weeks = chartOf({ ...input, grain: "weeks",
    period: { start: "2021-05-05", end: "2021-05-30" } });
  const days = { start: "2021-05-05", end: "2021-05-30" };
  expect(daysBetween(weeks, 2, 0, days)).toEqual({ start: "2021-05-05", end: "2021-05-23" });
  expect(daysBetween(weeks, 1, 99, days)).toEqual({ start: "2021-05-10", end: "2021-05-30" });
});

test("who does not see the chart hears its course", () => {
  expect(chartDescription(chartOf(input), period)).toBe(
    "Pageviews by day, 1 to 5\u00a0May\u00a02021. This period: from 300 at 1\u00a0May\u00a02021 to 700 at " +
    "5\u00a0May\u00a02021, at most 1,300 at 2\u00a0May\u00a02021. All numbers are in the table below.");
});

test("ticks are easily read, whole for counts, and hold the largest value", () => {
  expect(valueTicks(chartOf(input))).toEqual([0, 500, 1000, 1500]);
  const few = chartOf({ ...input, answer: answerOf([row("2021-05-01", 2)]) });
  expect(valueTicks(few)).toEqual([0, 1, 2]);
  expect(valueTicks(chartOf({ ...input, answer: answerOf([]) }))).toEqual([0, 1]);
});

test("averages have the ticks of a clock", () => {
  expect(valueTicks(chartOf({ ...input, metric: "engagement" }))).toEqual([0, 15, 30, 45, 60]);
});

test("labels below the axis never crowd", () => {
  const year = chartOf({ ...input, period: { start: "2021-01-01", end: "2021-12-31" } });
  expect(tickEvery(year, 900)).toBeGreaterThan(20);
  expect(tickEvery(chartOf(input), 900)).toBe(1);
});

describe("drawing", () => {
  const look = { width: 700, height: 260, colours: LIGHT };

  test("has every tick and a line", () => {
    const svg = drawToSvg(chartOf(input), look);
    for (const text of ["0", "500", "1k", "1.5k"]) expect(svg).toContain(`>${text}<`);
    expect(svg).toContain("1\u00a0May");
    expect(svg).toMatch(/stroke="#3f84bf" stroke-width="2"/);
  });

  test("a single day is a point in the middle", () => {
    const one = { start: "2021-05-02", end: "2021-05-02" };
    expect(drawToSvg(chartOf({ ...input, period: one }), look)).toContain("#3f84bf");
  });

  test("a picture says what it shows and where it is from, in light and dark", async () => {
    const words = { title: "Pageviews by day", subtitle: "Country is Germany & France",
      notes: ["From the Crossover dashboard, SQLite 3.53.1"] };
    for (const colours of [LIGHT, DARK]) {
      const svg = await chartPicture(chartOf(input), words, colours);
      expect(svg).toContain("Country is Germany &#38; France");
      expect(svg).toContain("SQLite 3.53.1");
      expect(svg).toContain(`fill="${colours.surface}"`);
    }
  });

  test("bars are drawn with their names and values", () => {
    const bars = { rest: null, note: "", bars: [
      { key: "a", name: "x".repeat(200), value: 1234, share: 0.5, change: "", length: 1,
        parts: [0.75, 0.25] }] };
    const svg = barsPicture(bars, "pageviews", ["Germany"],
      { title: "Pageviews by author", subtitle: "", notes: [] }, LIGHT);
    expect(svg).toContain("1,234 (50.0%)");
    expect(svg).toContain("Germany");
    expect(svg).toContain("Others");
    expect(svg).toContain("x\u2026<");
    expect(svg.match(/<rect/g)).toHaveLength(3);
  });
});
