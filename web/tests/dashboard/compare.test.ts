// A period beside an earlier one: its days, like beside like, and both answers as one.

import { describe, expect, test } from "vitest";
import type { Answer, Row } from "../../src/dashboard/data/api";
import { addDays, daysIn } from "../../src/dashboard/data/calendar";
import {
  apiComparison, beside, type Compare, compareText, type Comparison, comparisonOf, daysBeside,
  earlierAsked, isCompared, presentAsked,
} from "../../src/dashboard/data/compare";
import type { Fault } from "../../src/dashboard/data/states";
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

const faulty = (...faults: [string, Fault][]) => ({ ...known, incomplete: new Map(faults) });
const weekday = (day: string) => new Date(`${day}T00:00:00Z`).getUTCDay();

describe("the earlier days", () => {
  test("are whole weeks earlier, the fewest that do not meet the present ones", () => {
    for (const [days, back] of [[1, 7], [7, 7], [8, 14], [30, 35], [31, 35]] as const) {
      const period = { start: "2021-05-03", end: addDays("2021-05-03", days - 1) };
      const found = comparison("previous", period);
      expect([found.back, daysIn(found.before)], String(days)).toEqual([back, days]);
      expect(weekday(found.before.start)).toBe(weekday(found.now.start));
      expect(found.before.end < found.now.start).toBe(true);
    }
  });

  test("of whole months and quarters are those before in the calendar", () => {
    expect(comparison("previous")).toMatchObject(
      { before: { start: "2021-04-01", end: "2021-04-30" }, calendar: true, back: 35 });
    expect(comparison("previous", { start: "2021-04-01", end: "2021-06-30" }).before).toEqual(
      { start: "2021-01-01", end: "2021-03-31" });
    // Neither a quarter nor a month: three months, a month that is not over.
    for (const period of [{ start: "2021-05-01", end: "2021-07-31" },
      { start: "2022-06-01", end: "2022-06-30" }]) {
      expect(comparison("previous", period).calendar).toBe(false);
    }
  });

  test("or a year before on the same weekdays", () => {
    const { before, now } = comparison("year");
    expect(before).toEqual({ start: "2020-05-02", end: "2020-06-01" });
    expect(weekday(before.start)).toBe(weekday(now.start));
  });

  test("are no more than those that the data has of the present ones", () => {
    const june = comparison("previous", { start: "2022-06-01", end: "2022-06-30" });
    expect(june.now).toEqual({ start: "2022-06-01", end: "2022-06-26" });
    expect(june.before).toEqual({ start: "2022-05-04", end: "2022-05-29" });
    expect(comparisonOf("year", { start: "2030-01-01", end: "2030-01-31" }, known)).toBeNull();
    expect(comparisonOf("none", may, known)).toBeNull();
  });

  test("are told, and where there are none", () => {
    expect(compareText(comparison("previous", { start: "2021-05-01", end: "2021-05-30" }))).toBe(
      "Compared with 27\u00a0Mar to 25\u00a0Apr\u00a02021: 5 weeks earlier, so that weekdays match");
    expect(compareText(comparison("previous"))).toBe("Compared with the month before, 1 to " +
      "30\u00a0Apr\u00a02021; the line is 5 weeks earlier, so that weekdays match");
    expect(compareText(comparison("year"))).toContain("52 weeks earlier, so that weekdays match");
    expect(compareText(comparison("year"))).not.toContain("no data");
    const partly = comparison("previous", { start: "2020-05-01", end: "2020-06-15" });
    expect(compareText(partly)).toMatch(/no data before 1\u00a0Apr\u00a02020, so only the course/);
    expect(compareText(comparison("year", { start: "2020-05-01", end: "2020-05-31" }))).toBe(
      "Nothing to compare with: there is no data before 1\u00a0Apr\u00a02020");
  });
});

describe("a day that is not complete", () => {
  const week = { start: "2021-05-10", end: "2021-05-16" };
  const days = (start: string) => answerOf(daily(start, 7).rows.map((one) => ({ ...one, pageviews: 1 })));

  test("is left out on both sides, and that is said", () => {
    const found = comparisonOf("previous", week,
      faulty(["2021-05-16", "today"], ["2021-05-04", "missing"]));
    if (!found) throw new Error("nothing is compared");
    expect([...found.left].toSorted()).toEqual(
      ["2021-05-04", "2021-05-09", "2021-05-11", "2021-05-16"]);
    expect(compareText(found)).toContain("left out on both sides: never imported: " +
      "4\u00a0May\u00a02021; not over: 16\u00a0May\u00a02021");
    expect(earlierAsked("authors", found)).toEqual({ grouping: "authors",
      period: { start: "2021-05-03", end: "2021-05-08" }, notDays: ["2021-05-04"] });
    expect(presentAsked("authors", found)).toEqual({ grouping: "authors",
      period: { start: "2021-05-10", end: "2021-05-15" }, notDays: ["2021-05-11"] });
    const both = beside(days(week.start), days("2021-05-03"), days(week.start), "days", found);
    expect(both.rows.filter((one) => one.previous === undefined).map(({ key }) => key)).toEqual(
      ["2021-05-11", "2021-05-16"]);
    expect([both.totals.comparable?.pageviews, both.totals.previous?.pageviews]).toEqual([5, 5]);
    expect(both.totals.pageviews).toBe(7);
  });

  test("is left out of the week it is in, on both sides", () => {
    const found = comparisonOf("previous", week, faulty(["2021-05-12", "missing"]));
    if (!found) throw new Error("nothing is compared");
    const now = answerOf([row("2021-05-10", 6)]);
    const { rows } = beside(now, days("2021-05-03"), days(week.start), "weeks", found);
    expect([rows[0]?.comparable?.pageviews, rows[0]?.previous?.pageviews]).toEqual([6, 6]);
  });

  test("of a month is left out of its own side, and days are counted", () => {
    const found = comparisonOf("previous", may, faulty(["2021-04-10", "missing"]));
    if (!found) throw new Error("nothing is compared");
    const both = beside(answerOf([row("Ann", 62)]), answerOf([row("Ann", 29)]), null, "authors", found);
    expect(both.perDay).toEqual({ now: 31, before: 29 });
    expect(presentAsked("authors", found)).toBeNull();
  });

  test("is no comparison where no day is left", () => {
    const found = comparisonOf("previous", { start: "2021-05-10", end: "2021-05-10" },
      faulty(["2021-05-10", "today"]));
    expect(found && compareText(found)).toMatch(/^Nothing to compare: no day is complete/);
    expect(found && earlierAsked("authors", found)).toBeNull();
  });
});

describe("rows", () => {
  const now = answerOf([row("Ann", 30), row("New", 5)]);
  const before = answerOf([row("Gone", 8), row("Ann", 20)]);

  test("are beside those of the same name, also what had traffic only before", () => {
    const both = beside(now, before, null, "authors", comparison("previous"));
    expect(previous(both)).toEqual([["Ann", 30, 20], ["New", 5, 0], ["Gone", 0, 8]]);
    expect(both.rows.at(-1)?.label).toBe("Gone!");
    expect([both.row_count, both.totals.previous?.pageviews]).toEqual([3, 28]);
    expect([isCompared(both), isCompared(now)]).toEqual([true, false]);
  });

  test("are not compared with days of which some are not known", () => {
    const partly = comparison("previous", { start: "2020-05-01", end: "2020-06-15" });
    expect(earlierAsked("authors", partly)).toBeNull();
    expect(earlierAsked("weeks", partly)?.grouping).toBe("days");
    expect(earlierAsked("authors", comparison("year"))?.grouping).toBe("authors");
    const unknown = comparison("year", { start: "2020-05-01", end: "2020-05-31" });
    expect(earlierAsked("weeks", unknown)).toBeNull();
  });
});

describe("the API", () => {
  const paired = (grouping: Grouping, kind: Compare, start: string, end: string) =>
    apiComparison(grouping, comparison(kind, { start, end }))?.[0]?.[1] ?? null;

  test("pairs weeks as the page does: whole weeks lie between them", () => {
    expect(paired("weeks", "year", "2021-05-05", "2021-05-16")).toBe("year");
    expect(paired("weeks", "previous", "2021-05-05", "2021-05-16")).toBe("previous_weekdays");
  });

  test("pairs months seldom as the page does", () => {
    expect(paired("months", "previous", "2021-05-01", "2021-05-31"), "the calendar's").toBeNull();
    expect(paired("months", "year", "2021-08-01", "2021-09-30")).toBeNull();
  });

  test("pairs days and names always, but not with days that are not known", () => {
    expect(paired("days", "year", "2021-05-05", "2021-05-16")).toBe("year");
    expect(paired("authors", "previous", "2021-05-05", "2021-05-16")).toBe("previous_weekdays");
    expect(paired("authors", "year", "2020-05-05", "2020-05-16")).toBeNull();
  });

  test("is told which days are left out", () => {
    const found = comparisonOf("previous", { start: "2021-05-10", end: "2021-05-16" },
      faulty(["2021-05-12", "partial"]));
    expect(found && apiComparison("authors", found)).toEqual([["compare", "previous_weekdays"],
      ["not_day", "2021-05-05"], ["not_day", "2021-05-12"]]);
  });
});

describe("time", () => {
  test("days without traffic now are rows where they had some", () => {
    const period = { start: "2021-05-01", end: "2021-05-03" };
    const both = beside(answerOf([row("2021-05-01", 7)]), daily("2020-05-02", 3), null, "days",
      comparison("year", period));
    expect(previous(both)).toEqual(
      [["2021-05-01", 7, 2], ["2021-05-02", 0, 3], ["2021-05-03", 0, 4]]);
  });

  test("a month cut off by the period is compared with as many days", () => {
    const period = { start: "2022-04-20", end: "2022-06-12" };
    const with54 = comparison("previous", period);
    const both = beside(answerOf([row("2022-06", 1), row("2022-05", 1), row("2022-04", 1)]),
      answerOf(daily(with54.before.start, 54).rows.map((one) => ({ ...one, pageviews: 1 }))),
      null, "months", with54);
    // Every earlier day counts one, so what is beside a month is its number of days.
    expect(previous(both)).toEqual([["2022-06", 1, 12], ["2022-05", 1, 31], ["2022-04", 1, 11]]);
    expect(both.totals.previous).toBeDefined();
    expect(daysIn(period)).toBe(12 + 31 + 11);
  });

  test("a week that began before the period is compared with its own days", () => {
    const period = { start: "2021-05-05", end: "2021-05-16" };
    const { now, ...rest } = comparison("previous", period);
    expect(daysBeside({ start: "2021-05-03", end: "2021-05-09" }, { now, ...rest })).toEqual(
      { start: "2021-04-21", end: "2021-04-25", without: [], inPart: false });
  });

  test("is not compared where some of the days are before the data", () => {
    const period = { start: "2020-05-01", end: "2020-06-15" };
    const partly = comparison("previous", period);
    expect(partly.before.start).toBe("2020-03-13");
    const both = beside(answerOf([row("2020-05", 9), row("2020-06", 9)]),
      daily("2020-04-01", 30), null, "months", partly);
    expect(both.rows[0]?.previous, "13 March to 12 April").toBeUndefined();
    expect(both.rows[1]?.previous?.pageviews, "13 to 27 April").toBe(
      Array.from({ length: 15 }, (_, place) => 13 + place).reduce((sum, day) => sum + day, 0));
    expect(both.totals.previous).toBeUndefined();
  });
});
