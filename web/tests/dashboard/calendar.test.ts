// Periods by name, and the days, weeks and months of a chart.

import { describe, expect, test } from "vitest";
import {
  autoGrain, buckets, bucketText, daysIn, isDay, neighbour, partText, periodText, possibleGrains,
  type Preset, presetPeriod, widened, within,
} from "../../src/dashboard/data/calendar";

const known = { start: "2020-04-01", end: "2022-06-26" };
const period = (start: string, end: string) => ({ start, end });

describe("presets end with the last day of the data", () => {
  test.each<[Preset, string, string]>([
    ["last-7", "2022-06-20", "2022-06-26"],
    ["last-30", "2022-05-28", "2022-06-26"],
    ["last-90", "2022-03-29", "2022-06-26"],
    ["this-month", "2022-06-01", "2022-06-26"],
    ["last-month", "2022-05-01", "2022-05-31"],
    ["this-quarter", "2022-04-01", "2022-06-26"],
    ["last-quarter", "2022-01-01", "2022-03-31"],
    ["this-year", "2022-01-01", "2022-06-26"],
    ["last-year", "2021-01-01", "2021-12-31"],
    ["all", "2020-04-01", "2022-06-26"],
  ])("%s", (preset, start, end) =>
    expect(presetPeriod(preset, known)).toEqual(period(start, end)));

  test("across the turn of a year", () => {
    const january = { start: "2020-04-01", end: "2021-01-15" };
    expect(presetPeriod("last-month", january)).toEqual(period("2020-12-01", "2020-12-31"));
    expect(presetPeriod("last-quarter", january)).toEqual(period("2020-10-01", "2020-12-31"));
    expect(presetPeriod("last-year", january)).toEqual(period("2020-01-01", "2020-12-31"));
  });
});

test("only days that exist are days", () => {
  expect(["2021-02-28", "2020-02-29", "0001-01-01"].every(isDay)).toBe(true);
  expect(["2021-02-29", "2021-2-1", "2021-13-01", "0000-01-01", "x", ""].some(isDay)).toBe(false);
});

test("periods read as people write them", () => {
  expect(periodText(period("2021-05-03", "2021-05-09"))).toBe("3 to 9\u00a0May\u00a02021");
  expect(periodText(period("2021-05-03", "2021-06-09"))).toBe("3\u00a0May to 9\u00a0Jun\u00a02021");
  expect(periodText(period("2020-12-28", "2021-01-03"))).toBe(
    "28\u00a0Dec\u00a02020 to 3\u00a0Jan\u00a02021");
  expect(periodText(period("2021-05-03", "2021-05-03"))).toBe("3\u00a0May\u00a02021");
});

describe("buckets", () => {
  test("weeks begin on Mondays, and parts of weeks are told", () => {
    const weeks = buckets(period("2021-05-05", "2021-05-17"), "weeks");
    expect(weeks.map(({ key }) => key)).toEqual(["2021-05-03", "2021-05-10", "2021-05-17"]);
    expect(weeks.map(({ whole }) => whole)).toEqual([false, true, false]);
    expect(weeks[0]?.days).toEqual(period("2021-05-05", "2021-05-09"));
  });

  test("every day of a leap year, every month of two years", () => {
    expect(buckets(period("2020-01-01", "2020-12-31"), "days")).toHaveLength(366);
    const months = buckets(period("2020-11-15", "2022-02-01"), "months");
    expect(months.map(({ key }) => key)).toEqual(["2020-11", "2020-12", "2021-01", "2021-02",
      "2021-03", "2021-04", "2021-05", "2021-06", "2021-07", "2021-08", "2021-09", "2021-10",
      "2021-11", "2021-12", "2022-01", "2022-02"]);
    expect(months[0]?.whole).toBe(false);
    expect(months[1]?.whole).toBe(true);
  });

  test("before 1970 too", () => {
    expect(buckets(period("1969-12-28", "1969-12-31"), "weeks").map(({ key }) => key)).toEqual(
      ["1969-12-22", "1969-12-29"]);
  });

  test("in words", () => {
    expect(bucketText("2021-05-03", "weeks")).toBe("week of 3\u00a0May\u00a02021");
    expect(bucketText("2021-05", "months")).toBe("May\u00a02021");
    expect(bucketText("2021", "years")).toBe("2021");
  });

  test("that are cut off say how much of them there is", () => {
    const days = period("2021-05-05", "2022-06-26");
    expect(partText("2021-05", "months", days)).toBe("May\u00a02021, 27 days");
    expect(partText("2021-06", "months", days)).toBe("Jun\u00a02021");
    expect(partText("2022-06-20", "weeks", days)).toBe("week of 20\u00a0Jun\u00a02022");
    expect(partText("2022", "years", days)).toBe("2022, 177 days");
  });
});

test("a chart has neither three points nor thousands", () => {
  expect(autoGrain(period("2021-05-01", "2021-05-31"))).toBe("days");
  expect(autoGrain(period("2021-01-01", "2021-12-31"))).toBe("weeks");
  expect(autoGrain(period("2010-01-01", "2021-12-31"))).toBe("months");
  expect(possibleGrains(period("2021-05-01", "2021-05-05"))).toEqual(["days"]);
  expect(possibleGrains(period("2000-01-01", "2021-12-31"))).not.toContain("days");
});

test("steps, wider periods and limits", () => {
  const week = period("2021-05-03", "2021-05-09");
  expect(neighbour(week, -1)).toEqual(period("2021-04-26", "2021-05-02"));
  expect(neighbour(week, 1)).toEqual(period("2021-05-10", "2021-05-16"));
  expect(daysIn(widened(week, known))).toBe(15);
  expect(widened(period("2022-06-20", "2022-06-26"), known).end).toBe("2022-06-26");
  expect(within(period("2019-01-01", "2019-12-31"), known)).toBeNull();
});
