// From a view to the addresses that are asked.

import { describe, expect, test } from "vitest";
import type { Period } from "../../src/dashboard/data/calendar";
import type { Compare } from "../../src/dashboard/data/compare";
import type { Grouping } from "../../src/dashboard/data/dimension";
import {
  articleView, everyCountryAddress, grainOf, periodOf, queryAddress, splitAddress, splitsRows,
  topCountriesAddress,
} from "../../src/dashboard/data/question";
import { DEFAULT_VIEW, type View } from "../../src/dashboard/view/view";

const known = { start: "2020-04-01", end: "2022-06-26" };
const period = { start: "2021-01-01", end: "2021-01-31" };
const base = "start=2021-01-01&end=2021-01-31";

test("a question carries the period and the filters; what is compared is another one", () => {
  const view: View = { ...DEFAULT_VIEW, compare: "year", grouped: true,
    filters: [{ dimension: "team", exclude: true, keys: ["a&b"] }] };
  expect(queryAddress("authors", period, view)).toBe(
    `api/query/authors?${base}&not_team=a%26b&translations=grouped&unknown_values=allowed`);
});

test("presets follow the data, own dates stay", () => {
  expect(periodOf(DEFAULT_VIEW, known)).toEqual({ start: "2022-05-28", end: "2022-06-26" });
  expect(periodOf({ ...DEFAULT_VIEW, period }, known)).toEqual(period);
});

test("a grain that would draw thousands of points is not taken", () => {
  expect(grainOf({ ...DEFAULT_VIEW, grain: "weeks" }, period)).toBe("weeks");
  expect(grainOf({ ...DEFAULT_VIEW, grain: "days" }, { start: "2000-01-01", end: "2021-12-31" }))
    .toBe("months");
});

test("a split asks for the countries with the most, then for these only", () => {
  const view: View = { ...DEFAULT_VIEW, split: true, metric: "engagement", compare: "previous",
    filters: [{ dimension: "country", exclude: true, keys: ["US"] }] };
  expect(topCountriesAddress(period, view)).toBe(
    `api/query/countries?${base}&not_country=US&unknown_values=allowed&sort=-sessions&limit=5`);
  expect(splitAddress("articles", period, view, ["DE", "FR"])).toBe(
    `api/query/articles?${base}&country=DE&country=FR&not_country=US&unknown_values=allowed&split=country`);
});

test("countries are not split by country", () => {
  const view: View = { ...DEFAULT_VIEW, split: true, by: "countries" };
  expect(splitsRows(view)).toBe(false);
});

describe("every country", () => {
  const address = (grouping: Grouping, days: Period, compare: Compare) =>
    everyCountryAddress(grouping, days, { ...DEFAULT_VIEW, compare }, known);
  const may = { start: "2022-05-01", end: "2022-05-31" };

  test("comes from the API, compared where it sets the same days beside a row", () => {
    expect(address("teams", period, "none")).toBe(
      `api/query/teams?${base}&split=country&format=csv`);
    const weeks = { start: "2022-05-01", end: "2022-05-28" };
    expect(address("days", weeks, "previous")).toContain("&compare=previous_weekdays&");
    expect(address("days", may, "previous"), "a month of the calendar").not.toContain("compare");
    expect(address("weeks", may, "year")).toContain("&compare=year&");
    expect(address("months", may, "year"), "2 May to 1 June 2021").not.toContain("compare");
    expect(address("teams", period, "year"), "February 2020").not.toContain("compare");
  });

  test("is compared as far as there is data", () => {
    const june = { start: "2022-06-01", end: "2022-06-30" };
    expect(address("teams", june, "previous")).toMatch(
      /start=2022-06-01&end=2022-06-26&compare=previous_weekdays&/);
  });
});

test("an article's page keeps the other filters", () => {
  const view: View = { ...DEFAULT_VIEW, grouped: true,
    filters: [{ dimension: "country", exclude: false, keys: ["DE"] }] };
  expect(queryAddress("days", period, articleView(view, ["u1", "u2"]))).toBe(
    `api/query/days?${base}&article=u1&article=u2&country=DE&unknown_values=allowed`);
});
