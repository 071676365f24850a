// What the server's answers mean to a reader.

import { describe, expect, test } from "vitest";
import { adviceFor, type Article, type Origin, problemOf, timingMs, together } from "../../src/dashboard/data/api";
import { familyOf, familyTable } from "../../src/dashboard/article/family";
import { csvOf } from "../../src/dashboard/tables/table";

test("the query's time is read from Server-Timing", () => {
  expect(timingMs("query;dur=1.234")).toBe(1.234);
  expect(timingMs('cache;desc="miss", query;desc="all";dur=15')).toBe(15);
  expect(timingMs("total;dur=3")).toBeNull();
  expect(timingMs(null)).toBeNull();
});

describe("problems", () => {
  test("a problem document's detail and parameter are shown as they are", () => {
    const body = JSON.stringify({ title: "Bad Request", detail: "end is before start",
      parameter: "end" });
    expect(problemOf(400, body)).toEqual({ status: 400, detail: "end is before start",
      parameter: "end", requestId: null });
  });

  test("anything else shows its status", () => {
    expect(problemOf(502, "<html>").detail).toBe("The server answered with status 502.");
    expect(problemOf(500, "null").detail).toBe("The server answered with status 500.");
  });

  test("what nobody expects names its place in the log, a full server does not", () => {
    expect(problemOf(500, "{}", "r-1").requestId).toBe("r-1");
    expect(problemOf(503, "{}", "r-1").requestId).toBeNull();
  });

  test("a query past its limit says what to narrow", () => {
    expect(adviceFor(problemOf(503, "{}"))).toMatch(/shorter period.*filters.*split by country/);
    expect(adviceFor(problemOf(414, ""))).toMatch(/fewer values/);
    expect(adviceFor(problemOf(400, "{}"))).toBe("");
  });
});

test("what several questions made together says what all of them took", () => {
  const origin: Origin = { engine: "SQLite 3.53.1", design: "rollup", rowsRead: 10, cache: "hit",
    questions: 1, queryMs: 2, totalMs: 5 };
  expect(together([origin, { ...origin, rowsRead: 5, cache: "miss", totalMs: 7 }])).toEqual(
    { ...origin, rowsRead: 15, cache: "miss", questions: 2, queryMs: 4, totalMs: 7 });
  expect(together([origin, { ...origin, design: "daily", rowsRead: null, queryMs: null }]))
    .toMatchObject({ design: "rollup and daily", rowsRead: 10, queryMs: 2, cache: "hit" });
});

describe("a family", () => {
  const one = (uuid: string) => ({ uuid, title: `About ${uuid}`, human_language: uuid, url: "" });
  const article: Article = { ...one("de"), slug: "", blog: "", author: "", team: "", product: "",
    language: "", published: "2021-01-01", original: one("en"),
    translations: [one("en"), one("fr")] };

  test("holds its original first and everybody once", () => {
    expect(familyOf(article).map(({ uuid }) => uuid)).toEqual(["en", "de", "fr"]);
  });

  test("is a table of everybody, also of those whom nobody read", () => {
    const metrics = { pageviews: 8, sessions: 4, engagement_seconds: 40 };
    const answer = { totals: metrics, row_count: 1, rows: [{ ...metrics, key: "de", label: "" }] };
    const table = familyTable(article, { answer, metric: "pageviews", sort: null,
      days: { start: "2021-01-01", end: "2021-01-31" } });
    const language = table.columns[1];
    expect(table.rows.map((row) => [row.key, row.metrics.pageviews, language?.text(row)])).toEqual(
      [["de", 8, "de"], ["en", 0, "en, original"], ["fr", 0, "fr"]]);
    expect(csvOf(table, "pageviews").header.slice(0, 4)).toEqual(
      ["key", "label", "human_language", "pageviews"]);
    expect(csvOf(table, "pageviews").rows[1]?.slice(0, 4)).toEqual(["en", "About en", "en", 0]);
  });
});
