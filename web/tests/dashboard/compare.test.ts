// A period beside an earlier one: its days, like beside like, and both answers as one.

import { describe, expect, test } from "vitest";
import type { Answer, Row } from "../../src/dashboard/data/api";
import { addDays, daysIn } from "../../src/dashboard/data/calendar";
import {
  beside, type Compare, compareText, type Comparison, comparisonOf, daysBeside, earlierGrouping,
  isCompared, isPairedByApi,
} from "../../src/dashboard/data/compare";
import type { Grouping } from "../../src/dashboard/data/dimension";

const known = { start: "2020-04-01", end: "2022-06-26" };
const may = { start: "2021-05-01", end: "2021-05-31" };

function comparison(kind: Compare, period = may): Comparison {
  const found = comparisonOf(kind, period, known);
  if (!found) throw new Error("nothing is compared");
  return found;
}

const row = (key: string, pageviews: number): Row =>
  ({ key, label: `${key}!`, pageviews, sessions: pageviews, engagement_seconds: 0 });
function answerOf(rows: Row[]): Answer {
  const pageviews = rows.reduce((sum, one) => sum + one.pageviews, 0);
  return { totals: { pageviews, sessions: pageviews, engagement_seconds: 0 },
    row_count: rows.length, rows };
}
/** A row of each day, with as many pageviews as the day of the month. */
function daily(start: string, days: number): Answer {
  return answerOf(Array.from({ length: days }, (_, place) => {
    const day = addDays(start, place);
    return row(day, Number(day.slice(8)));
  }));
}
const previous = ({ rows }: Answer) =>
  rows.map((one) => [one.key, one.pageviews, one.previous?.pageviews]);

describe("the earlier days", () => {
  test("are as many, right before", () => {
    expect(comparison("previous")).toMatchObject(
      { before: { start: "2021-03-31", end: "2021-04-30" }, back: 31 });
  });

  test("or a year before on the same weekdays", () => {
    const { before, now } = comparison("year");
    expect(before).toEqual({ start: "2020-05-02", end: "2020-06-01" });
    const weekday = (day: string) => new Date(`${day}T00:00:00Z`).getUTCDay();
    expect(weekday(before.start)).toBe(weekday(now.start));
  });

  test("are no more than those that the data has of the present ones", () => {
    const june = comparison("previous", { start: "2022-06-01", end: "2022-06-30" });
    expect(june.now).toEqual({ start: "2022-06-01", end: "2022-06-26" });
    expect(june.before).toEqual({ start: "2022-05-06", end: "2022-05-31" });
    expect(comparisonOf("year", { start: "2030-01-01", end: "2030-01-31" }, known)).toBeNull();
    expect(comparisonOf("none", may, known)).toBeNull();
  });

  test("are told, and where there are none", () => {
    expect(compareText(comparison("previous"))).toBe(
      "Compared with the 31 days before: 31\u00a0Mar to 30\u00a0Apr\u00a02021");
    expect(compareText(comparison("year"))).toContain("52 weeks earlier, so that weekdays match");
    expect(compareText(comparison("year"))).not.toContain("no data");
    const partly = comparison("previous", { start: "2020-05-01", end: "2020-06-15" });
    expect(compareText(partly)).toMatch(/no data before 1\u00a0Apr\u00a02020, so only the course/);
    expect(compareText(comparison("year", { start: "2020-05-01", end: "2020-05-31" }))).toBe(
      "Nothing to compare with: there is no data before 1\u00a0Apr\u00a02020");
  });
});

describe("rows", () => {
  const now = answerOf([row("Ann", 30), row("New", 5)]);
  const before = answerOf([row("Gone", 8), row("Ann", 20)]);

  test("stand beside those of the same name, also what had traffic only before", () => {
    const both = beside(now, before, "authors", comparison("previous"));
    expect(previous(both)).toEqual([["Ann", 30, 20], ["New", 5, 0], ["Gone", 0, 8]]);
    expect(both.rows.at(-1)?.label).toBe("Gone!");
    expect([both.row_count, both.totals.previous?.pageviews]).toEqual([3, 28]);
    expect([isCompared(both), isCompared(now)]).toEqual([true, false]);
  });

  test("are not compared with days of which some are not known", () => {
    const partly = comparison("previous", { start: "2020-05-01", end: "2020-06-15" });
    expect(earlierGrouping("authors", partly)).toBeNull();
    expect(earlierGrouping("weeks", partly)).toBe("days");
    expect(earlierGrouping("authors", comparison("year"))).toBe("authors");
    const unknown = comparison("year", { start: "2020-05-01", end: "2020-05-31" });
    expect(earlierGrouping("weeks", unknown)).toBeNull();
  });
});

describe("the API", () => {
  const paired = (grouping: Grouping, kind: Compare, start: string, end: string) =>
    isPairedByApi(grouping, comparison(kind, { start, end }));

  test("pairs weeks as the page does where whole weeks lie between them", () => {
    expect(paired("weeks", "year", "2021-05-05", "2021-05-16")).toBe(true);
    expect(paired("weeks", "previous", "2021-05-05", "2021-05-18")).toBe(true);
    expect(paired("weeks", "previous", "2021-05-05", "2021-05-16")).toBe(false);
  });

  test("pairs months as the page does where they are as long", () => {
    expect(paired("months", "previous", "2021-08-01", "2021-08-31"), "July").toBe(true);
    expect(paired("months", "previous", "2021-05-01", "2021-05-31"), "31 March on").toBe(false);
    expect(paired("months", "year", "2021-08-01", "2021-09-30")).toBe(false);
  });

  test("pairs days and names always, but not with days that are not known", () => {
    expect(paired("days", "year", "2021-05-05", "2021-05-16")).toBe(true);
    expect(paired("authors", "previous", "2021-05-05", "2021-05-16")).toBe(true);
    expect(paired("authors", "year", "2020-05-05", "2020-05-16")).toBe(false);
  });
});

describe("time", () => {
  test("days without traffic now are rows where they had some", () => {
    const period = { start: "2021-05-01", end: "2021-05-03" };
    const both = beside(answerOf([row("2021-05-01", 7)]), daily("2020-05-02", 3), "days",
      comparison("year", period));
    expect(previous(both)).toEqual(
      [["2021-05-01", 7, 2], ["2021-05-02", 0, 3], ["2021-05-03", 0, 4]]);
  });

  test("a month cut off by the period is compared with as many days", () => {
    const period = { start: "2022-04-20", end: "2022-06-12" };
    const with54 = comparison("previous", period);
    const both = beside(answerOf([row("2022-06", 1), row("2022-05", 1), row("2022-04", 1)]),
      answerOf(daily(with54.before.start, 54).rows.map((one) => ({ ...one, pageviews: 1 }))),
      "months", with54);
    // Every earlier day counts one, so what stands beside a month is its number of days.
    expect(previous(both)).toEqual([["2022-06", 1, 12], ["2022-05", 1, 31], ["2022-04", 1, 11]]);
    expect(both.totals.previous).toBeDefined();
    expect(daysIn(period)).toBe(12 + 31 + 11);
  });

  test("a week that began before the period is compared with its own days", () => {
    const period = { start: "2021-05-05", end: "2021-05-16" };
    const { now, ...rest } = comparison("previous", period);
    expect(daysBeside({ start: "2021-05-03", end: "2021-05-09" }, { now, ...rest })).toEqual(
      { start: "2021-04-23", end: "2021-04-27" });
  });

  test("is not compared where some of the days are before the data", () => {
    const period = { start: "2020-05-01", end: "2020-06-15" };
    const partly = comparison("previous", period);
    expect(partly.before.start).toBe("2020-03-16");
    const both = beside(answerOf([row("2020-05", 9), row("2020-06", 9)]),
      daily("2020-04-01", 30), "months", partly);
    expect(both.rows[0]?.previous, "16 March to 15 April").toBeUndefined();
    expect(both.rows[1]?.previous?.pageviews, "16 to 30 April").toBe(
      Array.from({ length: 15 }, (_, place) => 16 + place).reduce((sum, day) => sum + day, 0));
    expect(both.totals.previous).toBeUndefined();
  });
});
