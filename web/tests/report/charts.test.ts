// Which charts a document becomes, and that each is drawn: on the server, by the same options.

import { describe, expect, test } from "vitest";
import { type Chart, description } from "../../src/report/chart/chart";
import { standaloneSvg } from "../../src/report/chart/download";
import { drawToSvg } from "../../src/report/chart/echarts";
import { hoverHtml } from "../../src/report/chart/option";
import { bySwept } from "../../src/report/chart/panels";
import { allRows } from "../../src/report/chart/rows";
import { DARK, LIGHT } from "../../src/lib/chart/colours";
import { wrap } from "../../src/lib/chart/text";
import type { View } from "../../src/report/chart/view";
import { Experiment } from "../../src/report/document/experiment";
import { treatmentColumns } from "../../src/report/tables/treatment-columns";
import { FIXTURES } from "../fixtures/experiments";

function experiment(name: string): Experiment {
  const make = FIXTURES[name];
  if (!make) throw new Error(`no fixture ${name}`);
  return new Experiment(make());
}

const LOOK = { colours: LIGHT, scale: "linear", xScale: "plan", also: [], named: false } as const;
const VIEW: View = { ...LOOK, width: 400, height: 250, mini: false };

function panels(name: string): Record<string, number> {
  return Object.fromEntries(allRows(experiment(name)).map((row) => [row.id, row.charts.length]));
}

function firstChart(name: string): Chart {
  const [chart] = bySwept(experiment(name));
  if (!chart) throw new Error("no chart");
  return chart;
}

const count = (svg: string, pattern: RegExp) => [...svg.matchAll(pattern)].length;

describe("panels", () => {
  test("the article's experiment: 3 levels of clients, 2 engines, 4 periods", () => {
    expect(panels("article")).toEqual({ mean: 3, ratio: 3, cpu: 3, engine: 2, other: 4 });
  });
  test("one level of clients needs no charts by clients", () => {
    expect(panels("bisected")).toEqual({ mean: 1, ratio: 1, cpu: 1 });
  });
  test("one engine alone has no ratio, and its own panel comes first", () => {
    expect(panels("alone")).toEqual({ engine: 1, cpu: 4, other: 4 });
    expect(Object.keys(panels("alone"))[0]).toBe("engine");
  });
  test("factor names are the document's own", () => {
    const text = JSON.stringify(experiment("article").document)
      .replaceAll('"days":', '"rows":')
      .replaceAll('"name":"days","label":"Period"', '"name":"rows","label":"Rows"');
    const rows = allRows(new Experiment(JSON.parse(text)));
    expect(rows[0]?.title).toBe("Mean response time by rows");
    expect(rows[0]?.charts[0]?.lines).toHaveLength(2);
  });
});

test("a wide sweep on a log scale begins with a log scale of the values", () => {
  const { document } = experiment("article");
  expect(new Experiment(document).isWide).toBe(false);
  const factors = document.factors.map((f) => (f.swept ? { ...f, scale: "log" as const } : f));
  const [first, ...others] = document.treatments;
  if (!first?.estimate) throw new Error("no treatment");
  const slow = { ...first, estimate: { ...first.estimate, value: 1e6 } };
  expect(new Experiment({ ...document, factors, treatments: [slow, ...others] }).isWide).toBe(true);
  expect(new Experiment({ ...document, factors }).isWide).toBe(false);
});

describe("throughput over clients", () => {
  test("has the cores marked, its scaling and its times, and names what is missing", () => {
    const rows = allRows(experiment("throughput"));
    expect(rows.map((row) => row.id)).toEqual(
      ["mean", "ratio", "scaling", "time", "cpu", "engine", "other"],
    );
    expect(rows[0]?.title).toBe("Transactions per second by clients");
    const [reads, writes] = rows[0]?.charts ?? [];
    expect(reads?.spans).toEqual([{ low: 2, high: 2, label: "2 cores" }]);
    expect(writes?.captions.map((caption) => caption.text)).toContain(
      "Not measured: sqlite at 64 clients.",
    );
    const missing = writes?.lines.find((line) => line.name === "sqlite")?.points.at(-1);
    expect(missing?.bounds).toBeNull();
    const scaled = rows[1]?.charts[0]?.lines[0]?.points[0]?.bounds;
    expect(scaled?.value).toBeCloseTo(1);
  });
  test("the table shows response times and no best of three", () => {
    const titles = treatmentColumns(experiment("throughput")).map((column) => column.title);
    expect(titles.some((title) => title.startsWith("Mean response time, ms"))).toBe(true);
    expect(titles.some((title) => title.startsWith("Best of three"))).toBe(false);
  });
  test("what is counted are transactions", () => {
    const cpu = allRows(experiment("throughput")).find((row) => row.id === "cpu");
    expect(cpu?.title).toBe("CPU time per transaction by clients");
    expect(cpu?.charts[0]?.measure).toBe("CPU time per transaction");
    const titles = treatmentColumns(experiment("throughput")).map((column) => column.title);
    expect(titles.filter((title) => /request/i.test(title))).toEqual([]);
    expect(titles).toContain("Transactions");
  });
});

describe("captions", () => {
  test("a bracket is marked and named without the panel's own title", () => {
    const chart = firstChart("article");
    expect(chart.spans).toEqual([{ low: 90, high: 365, label: "quarter to year" }]);
    expect(chart.captions).toEqual([{
      text: "postgres:18 is faster up to the quarter, sqlite from the year, both measured.",
      marked: true,
    }]);
  });
  test("a request's sentence loses both its titles", () => {
    const [chart] = bySwept(experiment("article"), "articles");
    expect(chart?.captions[0]?.text).toMatch(/^postgres:18 is faster up to the quarter/);
  });
  test("a sentence that loses its prefix begins with a capital, engine names stay", () => {
    const document = experiment("article").document;
    for (const crossing of document.crossings) {
      crossing.sentence = "1 client: no verdict for postgres:18 against sqlite.";
    }
    const [chart] = bySwept(new Experiment(document));
    expect(chart?.captions[0]?.text).toBe("No verdict for postgres:18 against sqlite.");
  });
  test("a unit that both ends of a bracket have is said once", () => {
    const document = experiment("bisected").document;
    for (const crossing of document.crossings) {
      Object.assign(crossing, { kind: "bracketed", low: 112, high: 126 });
    }
    const [chart] = bySwept(new Experiment(document));
    expect(chart?.spans.map((span) => span.label)).toEqual(["112 to 126 days"]);
  });
  test("two pairs that cross in one bracket mark it once", () => {
    expect(firstChart("three").spans).toHaveLength(1);
    expect(firstChart("three").captions.filter((caption) => caption.marked)).toHaveLength(2);
  });
  test("a treatment that is missing is named", () => {
    const chart = bySwept(experiment("three"))[2];
    expect(chart?.captions.at(-1)?.text).toBe("Not measured: postgres:14 at year.");
  });
  test("a range is called a range", () => {
    expect(allRows(experiment("range"))[0]?.note).toBe(
      "Whiskers: the range of 3 blocks, smallest to largest; not an interval.",
    );
    expect(allRows(experiment("article"))[0]?.note).toBe(
      "Bands: 95% interval of the mean, 7 blocks.",
    );
  });
});

describe("drawing", () => {
  test("every chart of every document draws in both scales and themes", () => {
    for (const name of Object.keys(FIXTURES)) {
      for (const row of allRows(experiment(name))) {
        for (const chart of row.charts) {
          for (const [scale, colours] of [["linear", LIGHT], ["log", DARK]] as const) {
            const svg = drawToSvg(chart, { ...VIEW, scale, colours });
            expect(svg, `${name} ${chart.id}`).not.toMatch(/NaN|Infinity|undefined/);
            const unit = chart.unit === null ? "" : "s";
            expect(svg).toContain(chart.kind === "ratio" ? "×</text>" : `${unit}</text>`);
          }
        }
      }
    }
  });
  test("intervals are bands, ranges are whiskers alone", () => {
    const band = /fill-opacity="0.17"/g;
    expect(count(drawToSvg(firstChart("article"), VIEW), band)).toBe(2);
    expect(count(drawToSvg(firstChart("range"), VIEW), band)).toBe(0);
  });
  test("linear axes start at zero", () => {
    expect(drawToSvg(firstChart("article"), VIEW)).toContain(">0</text>");
    expect(drawToSvg(firstChart("article"), { ...VIEW, scale: "log" })).not.toContain(">0</text>");
  });
  test("a bracket has two ends and a name, drawn inside the picture", () => {
    const dashed = /stroke-dasharray="3,3"/g;
    const svg = drawToSvg(firstChart("article"), VIEW);
    expect(count(svg, dashed)).toBe(2);
    expect(svg).toContain(">quarter to year</text>");
    expect(count(drawToSvg(firstChart("flat"), VIEW), dashed)).toBe(0);
  });
  test("a missing point breaks its line instead of being bridged", () => {
    const document = FIXTURES.article?.();
    if (!document) throw new Error("no fixture");
    for (const treatment of document.treatments) {
      if (treatment.engine === "sqlite" && treatment.levels.days === 31) treatment.estimate = null;
    }
    const [broken] = bySwept(new Experiment(document));
    expect(broken?.captions.at(-1)?.text).toBe("Not measured: sqlite at month.");
    const svg = drawToSvg(broken as Chart, VIEW);
    const line = /d="([^"]+)"[^>]* stroke="#3f84bf" stroke-width="2"/.exec(svg)?.[1] ?? "";
    expect(count(line, /M/g), "the pen is lifted once").toBe(2);
    expect(count(svg, /matrix\([^"]+" fill="#3f84bf"/g), "symbols").toBe(3);
  });
  test("a single level and a value of zero draw too", () => {
    const chart = firstChart("article");
    const level = chart.x.levels[0];
    const lone = { ...chart, x: { ...chart.x, levels: level ? [level] : [] },
      lines: chart.lines.map((line) => ({ ...line, points: line.points.slice(0, 1).map((p) => ({
        ...p, bounds: { value: 0, low: 0, high: 0 } })) })) };
    for (const scale of ["linear", "log"] as const) {
      expect(drawToSvg(lone, { ...VIEW, scale })).not.toMatch(/NaN|Infinity/);
    }
  });
});

test("hovering tells every line's value, its bounds by their name, and what is missing", () => {
  const range = hoverHtml(firstChart("range"), 7, LIGHT);
  expect(range).toMatch(/week.*sqlite.*ms \(range [\d.]+ to [\d.]+\)/);
  const missing = bySwept(experiment("three"))[2];
  expect(hoverHtml(missing as Chart, 365, LIGHT)).toContain("not measured");
});

test("names from the document cannot become markup", () => {
  const chart = firstChart("article");
  const lines = chart.lines.map((line) => ({ ...line, name: "<img src=x>" }));
  const hostile = { ...chart, lines };
  expect(hoverHtml(hostile, 7, LIGHT)).not.toContain("<img");
  const [row] = allRows(experiment("article"));
  if (!row) throw new Error("no row");
  expect(standaloneSvg(hostile, row, "run", LOOK)).not.toContain("<img");
});

test("a download holds title, legend, captions and source around the drawing", () => {
  const rows = allRows(experiment("article"));
  const [row] = rows;
  const chart = row?.charts[0];
  if (!row || !chart) throw new Error("no chart");
  const svg = standaloneSvg(chart, row, "20261121-210000-http-1a2b", LOOK);
  for (const text of ["1 client", "Mean response time by period", "postgres:18", "Shaded: ",
    "20261121-210000-http-1a2b"]) {
    expect(svg).toContain(text);
  }
});

test("long sentences wrap between words", () => {
  expect(wrap("one two three", 8)).toEqual(["one two", "three"]);
});

describe("descriptions", () => {
  test("name the finding first, then how the lines go, in units a reader knows", () => {
    const text = description(firstChart("article"));
    expect(text).toMatch(/^Mean response time by period, 1 client\. postgres:18 is faster up to/);
    expect(text).toMatch(/sqlite [\d.]+\u00a0ms at week, [\d.]+\u00a0s at year; postgres:18/);
    expect(text).not.toMatch(/\d\.\d{4,}/);
  });
  test("of twelve engines four are told and the rest is counted", () => {
    expect(description(firstChart("twelve"))).toContain("; and 8 more.");
  });
  test("failures, void trials and a load not kept up with are told under the chart", () => {
    const [, chart] = bySwept(experiment("failing"));
    const texts = chart?.captions.map((caption) => caption.text) ?? [];
    expect(texts).toContainEqual(
      expect.stringMatching(/^Failures: sqlite at week, 12 of [\d,]+; .*year, 12 of [\d,]+\.$/));
    expect(texts).toContain("Void trials: postgres:18 at year, 3.");
    expect(texts).toContain("The offered load was not kept up with: sqlite at year.");
  });
});

describe("axes without a between", () => {
  test("engines are beside each other where nothing was swept", () => {
    const chart = firstChart("point");
    expect(chart.x.levels.map((level) => level.label)).toEqual(
      ["sqlite", "postgres:14", "postgres:18"]);
    expect(panels("point")).toEqual({ mean: 1, ratio: 1, cpu: 1 });
  });
  test("designs are not joined by lines, and points of one design do not hide each other", () => {
    const chart = firstChart("designs");
    expect(chart.x.joined).toBe(false);
    const svg = drawToSvg(chart, VIEW);
    expect(count(svg, /stroke-width="2"[^>]*stroke-opacity="0"|stroke-opacity="0"[^>]*/g)).toBe(2);
    const at = [...svg.matchAll(/transform="matrix\([^"]*?,([\d.]+),[\d.]+\)"/g)].map((m) => m[1]);
    expect(new Set(at).size).toBe(6);
  });
  test("of factors that vary alone a title names what differs from the base", () => {
    const titles = bySwept(experiment("twist")).map((chart) => chart.title);
    expect(titles).toHaveLength(10);
    expect(titles.slice(0, 4)).toEqual(["base", "Release 13", "Release 14", "work_mem 16MB"]);
    expect(titles.at(-1)).toBe("Server's memory 1GiB");
    expect(allRows(experiment("twist"))[0]?.note).toMatch(/^Base: Release 18, work_mem 4MB, /);
  });
});
