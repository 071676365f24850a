// The dashboard page's side of the query API.

import { describe, expect, test } from "vitest";
import {
  addressOf,
  problemOf,
  queryFrom,
  searchOf,
  timingText,
} from "../../src/dashboard/query";

test("the page's URL holds the query and gives it back", () => {
  const period = { start: "2021-02-01", end: "2021-02-28" };
  const query = { grouping: "authors", ...period, blog: "a&b" } as const;
  expect(queryFrom(searchOf(query))).toEqual(query);
});

test("without a URL the query is the year 2021 by article; unknown groupings are not asked", () => {
  const query = { grouping: "articles", start: "2021-01-01", end: "2021-12-31", blog: "" };
  expect(queryFrom("")).toEqual(query);
  expect(queryFrom("?grouping=../keys")).toEqual(query);
});

test("the API's address carries the blog only when there is one", () => {
  const query = queryFrom("?grouping=days");
  expect(addressOf(query)).toBe("api/query/days?start=2021-01-01&end=2021-12-31");
  expect(addressOf({ ...query, blog: "twilio & co" })).toContain("&blog=twilio+%26+co");
});

test("Server-Timing reads as milliseconds", () => {
  expect(timingText("db;dur=12.3, total;desc=\"all\";dur=15")).toBe(
    "db 12.3\u00a0ms, total 15\u00a0ms",
  );
  expect(timingText("miss")).toBeNull();
  expect(timingText(null)).toBeNull();
});

describe("problems", () => {
  test("a refused key names the way out", () => {
    expect(problemOf(401, "")).toContain("crossover dashboard key add");
  });
  test("a problem document's detail is shown as it is", () => {
    const body = JSON.stringify({ title: "Bad request", detail: "end is before start" });
    expect(problemOf(400, body)).toBe("end is before start");
  });
  test("anything else shows its status", () => {
    expect(problemOf(502, "<html>")).toBe("The server answered with status 502.");
  });
});
