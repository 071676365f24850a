// Days that were imported, and what is wrong with the others.

import { describe, expect, test } from "vitest";
import {
  daysText, emptyText, faultText, faultsText, incompleteDays, isGap, type DaySpan, without,
} from "../../src/dashboard/data/states";
import { addDays } from "../../src/dashboard/data/calendar";

const known = { start: "2021-01-01", end: "2021-12-31" };
const span = (blog: string, start: string, end: string, state: DaySpan["state"] = "complete") =>
  ({ blog, start, end, state });
const found = (spans: DaySpan[], blogs: string[] = [], today = "2022-01-01") =>
  [...incompleteDays(spans, blogs.length === 0 ? []
    : [{ dimension: "blog", exclude: false, keys: blogs }], known, today)];

test("nothing to show is told from nothing imported, and from what lies outside the data", () => {
  const incomplete = new Map([["2021-06-10", "missing"], ["2021-06-11", "missing"]] as const);
  const text = (start: string, end: string, filtered = false) =>
    emptyText({ start, end }, { ...known, incomplete }, filtered).replaceAll("\u00a0", " ");
  expect(text("2021-06-10", "2021-06-10")).toBe("10 Jun 2021 was never imported.");
  expect(text("2021-06-10", "2021-06-11", true)).toBe("No day of 10 to 11 Jun 2021 was imported.");
  expect(text("2021-06-09", "2021-06-09")).toBe("No traffic on 9 Jun 2021.");
  expect(text("2021-06-09", "2021-06-10", true)).toBe(
    "No traffic matches these filters in 9 to 10 Jun 2021. Never imported: 10 Jun 2021.");
  expect(text("2019-01-01", "2019-01-31")).toBe(
    "There is data from 1 Jan to 31 Dec 2021 only.");
  expect(text("2021-12-30", "2022-01-02")).toBe(
    "No traffic in 30 to 31 Dec 2021. There is data from 1 Jan to 31 Dec 2021 only.");
});

describe("faults", () => {
  test("are days that were never imported, in part, and today", () => {
    const spans = [span("a", "2021-01-01", "2021-06-09"), span("a", "2021-06-11", "2021-12-29"),
      span("a", "2021-12-30", "2021-12-30", "partial"),
      span("a", "2021-12-31", "2021-12-31", "provisional")];
    expect(found(spans, [], "2021-12-31")).toEqual([["2021-06-10", "missing"],
      ["2021-12-30", "partial"], ["2021-12-31", "today"]]);
  });

  test("of several blogs are those of any, from its first day until it has ended", () => {
    const spans = [span("a", "2021-01-01", "2021-12-31"), span("b", "2021-03-01", "2021-03-09"),
      span("b", "2021-03-11", "2021-03-31")];
    const all = found(spans);
    expect(all[0]).toEqual(["2021-03-10", "partial"]);
    // Behind for a quarter, then it has ended.
    expect(all[1]).toEqual(["2021-04-01", "partial"]);
    expect(all.at(-1)?.[0]).toBe(addDays("2021-03-31", 92));
    expect(found(spans, ["a"])).toEqual([]);
    expect(found(spans, ["b"])[0]).toEqual(["2021-01-01", "missing"]);
  });

  test("are not guessed where nothing is known", () => {
    expect(found([])).toEqual([]);
    expect(found([span("a", "2021-01-01", "2021-12-31")], ["other"])).toEqual([]);
  });
});

test("words name days and what is wrong with them", () => {
  const incomplete = new Map([["2021-05-03", "missing"], ["2021-05-04", "missing"],
    ["2021-05-09", "today"]] as const);
  const week = { start: "2021-05-03", end: "2021-05-09" };
  expect(faultText(week, incomplete)).toBe("2 days never imported, today not over");
  expect(faultText({ start: "2021-05-03", end: "2021-05-03" }, incomplete)).toBe("never imported");
  expect(isGap({ start: "2021-05-03", end: "2021-05-04" }, incomplete)).toBe(true);
  expect(isGap(week, incomplete)).toBe(false);
  expect(faultsText([...incomplete])).toBe(
    "never imported: 3 to 4\u00a0May\u00a02021; not over: 9\u00a0May\u00a02021");
  const odd = Array.from({ length: 7 }, (_, place) => addDays("2021-05-01", 2 * place));
  expect(daysText(odd)).toMatch(/^1\u00a0May\u00a02021, .* and 3 further days$/);
});

test("a period is asked for without days", () => {
  const period = { start: "2021-05-01", end: "2021-05-07" };
  expect(without(period, new Set(["2021-05-01", "2021-05-07", "2021-05-04"]))).toEqual(
    { period: { start: "2021-05-02", end: "2021-05-06" }, inside: ["2021-05-04"] });
  const one = { start: "2021-05-01", end: "2021-05-01" };
  expect(without(one, new Set(["2021-05-01"]))).toEqual({ period: null, inside: [] });
});
