// The chart that leads the page: whose ranges are shaded, where the names of lines stand, and that
// the rows below do not draw it again.

import { describe, expect, test } from "vitest";
import { DARK, LIGHT, textColour } from "../../src/lib/chart/colours";
import { description } from "../../src/report/chart/chart";
import { standaloneSvg } from "../../src/report/chart/download";
import { drawToSvg } from "../../src/report/chart/echarts";
import { endName, pushApart } from "../../src/report/chart/ends";
import { leadOf, winnerSpans } from "../../src/report/chart/lead";
import { chartRows } from "../../src/report/chart/rows";
import type { PairVerdict, ReportDocument } from "../../src/report/document/document";
import { Experiment } from "../../src/report/document/experiment";
import { FIXTURES } from "../fixtures/experiments";

function document(name: string): ReportDocument {
  const make = FIXTURES[name];
  if (!make) throw new Error(`no fixture ${name}`);
  return make();
}
const experiment = (name: string) => new Experiment(document(name));

/** The article's verdicts with 1 client, changed. */
function withVerdicts(change: (verdict: PairVerdict) => PairVerdict | null): Experiment {
  const made = document("article");
  made.summary.verdicts = made.summary.verdicts.flatMap((verdict) => change(verdict) ?? []);
  return new Experiment(made);
}

const spans = (of: Experiment) =>
  winnerSpans(of, { clients: 1 }).map(({ low, high, label }) => [low, high, label]);

describe("what is shaded", () => {
  test("the levels at which an engine is shown faster, those that are neighbours as one", () => {
    expect(spans(experiment("article"))).toEqual([
      [7, 90, "PostgreSQL 18 faster"], [365, 365, "SQLite faster"],
    ]);
  });
  test("a level that is equal, undecided or not compared stays white", () => {
    for (const verdict of ["equal", "undecided"] as const) {
      const at = withVerdicts((one) => (one.level === 31 ? { ...one, verdict } : one));
      expect(spans(at)).toEqual([[7, 7, "PostgreSQL 18 faster"], [90, 90, "PostgreSQL 18 faster"],
        [365, 365, "SQLite faster"]]);
    }
    const without = withVerdicts((one) => (one.level === 365 ? null : one));
    expect(spans(without)).toEqual([[7, 90, "PostgreSQL 18 faster"]]);
  });
  test("nothing where one engine is shown faster everywhere", () => {
    const everywhere = withVerdicts((one) => ({ ...one, verdict: "faster" }));
    expect(spans(everywhere)).toEqual([]);
  });
  test("the sides of a verdict may be either way round", () => {
    const turned = withVerdicts(({ a, b, ratio, low, high, verdict, ...rest }) => ({
      ...rest, a: b, b: a, ratio: 1 / ratio, low: high && 1 / high, high: low && 1 / low,
      verdict: verdict === "faster" ? "slower" : verdict === "slower" ? "faster" : verdict,
    }));
    expect(spans(turned)).toEqual(spans(experiment("article")));
  });
  test("of three engines the one that beats all, directly or by way of the first", () => {
    const three = document("three");
    const [first = "", second = "", third = ""] = three.engines.map((engine) => engine.name);
    const verdict = (a: string, shown: PairVerdict["verdict"]): PairVerdict => ({
      family: "primary", a, b: first, levels: { clients: 1 }, level: 7, ratio: 1, low: 1, high: 1,
      verdict: shown });
    const winner = (...verdicts: PairVerdict[]) => {
      three.summary.verdicts = verdicts;
      return winnerSpans(new Experiment(three), { clients: 1 }).map((span) => span.label);
    };
    expect(winner(verdict(second, "slower"), verdict(third, "slower"))).toEqual(["SQLite fastest"]);
    expect(winner(verdict(second, "faster"), verdict(third, "slower"))).toEqual(
      ["PostgreSQL 14 fastest"]);
    expect(winner(verdict(second, "faster"), verdict(third, "faster"))).toEqual([]);
    expect(winner(verdict(second, "slower"))).toEqual([]);
  });
  test("it is told in words, and drawn with its name, in the download too", () => {
    const lead = leadOf(experiment("article"));
    if (!lead) throw new Error("no chart");
    expect(description(lead.chart)).toContain(
      "PostgreSQL 18 faster from week to quarter. SQLite faster at year.");
    const look = {
      colours: LIGHT, scale: "linear", xScale: "plan", also: [], named: false,
    } as const;
    for (const svg of [drawToSvg(lead.chart, { ...look, width: 700, height: 340, mini: false }),
      standaloneSvg(lead.chart, lead.row, "run", look)]) {
      for (const text of ["PostgreSQL 18 faster", "SQLite faster", "quarter to year",
        ">PostgreSQL 18<", ">SQLite<"]) {
        expect(svg).toContain(text);
      }
      expect(svg.match(/stroke-width="2"/g), "no legend beside named ends").toHaveLength(2);
    }
  });
});

describe("names at the ends of lines", () => {
  test("stay where they are if they do not touch", () => {
    expect(pushApart([100, 10, 50], 15, 0, 200)).toEqual([100, 10, 50]);
  });
  test("are pushed apart around their middle, in their order", () => {
    expect(pushApart([52, 50], 15, 0, 200)).toEqual([58.5, 43.5]);
    expect(pushApart([50, 62, 59, 150], 15, 0, 200)).toEqual([42, 72, 57, 150]);
  });
  test("stay inside the axes", () => {
    expect(pushApart([1, 2, 3], 15, 0, 200)).toEqual([0, 15, 30]);
    expect(pushApart([199, 198], 15, 0, 200)).toEqual([200, 185]);
  });
  test("keep their distance whatever the places", () => {
    for (let n = 1; n <= 8; n += 1) {
      const wanted = Array.from({ length: n }, (_, i) => ((i * 7919) % 97) * 2);
      const found = pushApart(wanted, 15, 0, 300).toSorted((a, b) => a - b);
      found.slice(1).forEach((at, i) => expect(at - (found[i] ?? 0)).toBeGreaterThan(14.999));
    }
  });
  test("long names are cut, in narrow charts sooner", () => {
    expect(endName("PostgreSQL 18", 320)).toBe("PostgreSQL 18");
    expect(endName("PostgreSQL 14 (work_mem=16MB)", 320)).toBe("PostgreSQL 14…");
  });
  test.each([["light", LIGHT], ["dark", DARK]] as const)("can be read: %s", (_, colours) => {
    for (const colour of colours.lines) {
      expect(textColour(colour, colours)).toMatch(/^#[0-9a-f]{6}$/);
    }
    expect(textColour(colours.ink, colours)).toBe(colours.ink);
  });
});

describe("the rows below", () => {
  const rows = (name: string) =>
    Object.fromEntries(chartRows(experiment(name)).map((row) => [row.id, row.charts.length]));
  test("do not repeat the chart that leads", () => {
    expect(rows("article")).toEqual({ mean: 2, ratio: 3, cpu: 3, engine: 2, other: 4 });
    expect(rows("bisected")).toEqual({ ratio: 1, cpu: 1 });
  });
  test("one engine's levels lead together, each named at its line", () => {
    const lead = leadOf(experiment("alone"));
    expect(lead?.chart.lines.map((line) => line.name)).toEqual(
      ["1 client", "2 clients", "4 clients", "8 clients"]);
    expect(lead?.chart.namedEnds).toBe(true);
    expect(lead?.chart.spans).toEqual([]);
  });
  test("lines without a between, and too many lines, have no names at their ends", () => {
    expect(leadOf(experiment("designs"))?.chart.namedEnds).toBe(false);
    expect(leadOf(experiment("twelve"))?.chart.namedEnds).toBe(false);
  });
});
