// From a view to the addresses that are asked.

import { expect, test } from "vitest";
import {
  articleView, everyCountryAddress, grainOf, periodOf, queryAddress, splitAddress, splitsRows,
  topCountriesAddress,
} from "../../src/dashboard/question";
import { DEFAULT_VIEW, type View } from "../../src/dashboard/view";

const known = { start: "2020-04-01", end: "2022-06-26" };
const period = { start: "2021-01-01", end: "2021-01-31" };
const base = "start=2021-01-01&end=2021-01-31";

test("a question carries the period and the filters; what is compared is another one", () => {
  const view: View = { ...DEFAULT_VIEW, compare: "year", grouped: true,
    filters: [{ dimension: "team", exclude: true, keys: ["a&b"] }] };
  expect(queryAddress("authors", period, view)).toBe(
    `api/query/authors?${base}&not_team=a%26b&translations=grouped`);
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
    `api/query/countries?${base}&not_country=US&sort=-sessions&limit=5`);
  expect(splitAddress("articles", period, view, ["DE", "FR"])).toBe(
    `api/query/articles?${base}&country=DE&country=FR&not_country=US&split=country`);
});

test("countries are not split by country", () => {
  const view: View = { ...DEFAULT_VIEW, split: true, by: "countries" };
  expect(splitsRows(view)).toBe(false);
});

test("every country comes from the API, compared where it pairs as the page does", () => {
  const view: View = { ...DEFAULT_VIEW, compare: "year" };
  expect(everyCountryAddress("teams", period, DEFAULT_VIEW)).toBe(
    `api/query/teams?${base}&split=country&format=csv`);
  expect(everyCountryAddress("days", period, view)).toContain("&compare=year&");
  expect(everyCountryAddress("months", period, view)).not.toContain("compare");
});

test("an article's page keeps the other filters", () => {
  const view: View = { ...DEFAULT_VIEW, grouped: true,
    filters: [{ dimension: "country", exclude: false, keys: ["DE"] }] };
  expect(queryAddress("days", period, articleView(view, ["u1", "u2"]))).toBe(
    `api/query/days?${base}&article=u1&article=u2&country=DE`);
});
