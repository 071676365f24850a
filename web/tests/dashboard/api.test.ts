// What the server's answers mean to a reader.

import { describe, expect, test } from "vitest";
import { adviceFor, problemOf, timingMs } from "../../src/dashboard/api";
import { familyOf } from "../../src/dashboard/family";

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
    expect(adviceFor(problemOf(400, "{}"))).toBe("");
  });
});

test("a family holds its original first and everybody once", () => {
  const one = (uuid: string) => ({ uuid, title: uuid, human_language: "en", url: "" });
  const article = { ...one("de"), slug: "", blog: "", author: "", team: "", product: "",
    language: "", published: "2021-01-01", original: one("en"),
    translations: [one("en"), one("fr")] };
  expect(familyOf(article).map(({ uuid }) => uuid)).toEqual(["en", "de", "fr"]);
});
