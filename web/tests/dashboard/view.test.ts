// The view and the address of the page: what one says, the other gives back.

import { describe, expect, test } from "vitest";
import {
  DEFAULT_VIEW, filterWords, isFiltered, keysOf, searchOf, type View, viewFrom, withFilter,
  withoutFilters,
} from "../../src/dashboard/view/view";

const full: View = {
  period: { start: "2021-02-01", end: "2021-02-28" },
  compare: "year",
  by: "authors",
  split: true,
  metric: "engagement",
  grain: "weeks",
  filters: [
    { dimension: "team", exclude: true, keys: ["Docs & more", "a=b"] },
    { dimension: "country", exclude: false, keys: ["DE", "FR"] },
    { dimension: "blog", exclude: false, keys: ["twilio"] },
  ],
  published: { from: "2020-01-01", to: "" },
  notPublished: { from: "2020-03-01", to: "2020-03-31" },
  grouped: true,
  search: "smörgås 100%",
  sort: { column: "change", descending: true },
  open: "0b6e0f0a-0000-4000-8000-000000000001",
};

test("a full view comes back from its address", () => {
  expect(viewFrom(searchOf(full))).toEqual(full);
});

test("the usual view needs no words, and no words are the usual view", () => {
  expect(searchOf(DEFAULT_VIEW)).toBe("./");
  expect(viewFrom("")).toEqual(DEFAULT_VIEW);
});

test("the address reads like the question", () => {
  const view: View = { ...DEFAULT_VIEW, period: "last-90", by: "authors",
    filters: [{ dimension: "country", exclude: false, keys: ["US"] }] };
  expect(searchOf(view)).toBe("?period=last-90&by=authors&country=US");
});

describe("what an address cannot mean is the usual", () => {
  test.each([
    ["?by=../keys", { by: "articles" }],
    ["?period=forever", { period: "last-30" }],
    ["?start=2021-02-30&end=2021-03-01", { period: "last-30" }],
    ["?start=2021-03-02&end=2021-03-01", { period: "last-30" }],
    ["?metric=money&grain=hours&compare=mars", { metric: "pageviews", grain: "auto", compare: "none" }],
    ["?published_from=2021-03-02&published_to=2021-03-01", { published: { from: "", to: "" } }],
    ["?sort=-", { sort: null }],
    ["?country=&country=DE&country=DE", {
      filters: [{ dimension: "country", exclude: false, keys: ["DE"] }] }],
    ["?blog=a&blog=b", { filters: [{ dimension: "blog", exclude: false, keys: ["a"] }] }],
  ])("%s", (search, part) => expect(viewFrom(search)).toMatchObject(part));
});

test("filters are the API's own parameters", () => {
  expect(filterWords(full)).toEqual([
    ["not_team", "Docs & more"], ["not_team", "a=b"], ["country", "DE"], ["country", "FR"],
    ["blog", "twilio"], ["published_from", "2020-01-01"], ["not_published_from", "2020-03-01"],
    ["not_published_to", "2020-03-31"], ["translations", "grouped"],
  ]);
});

test("a filter is replaced, removed, and the order does not depend on who came first", () => {
  const country = { dimension: "country", exclude: false, keys: ["US"] } as const;
  const author = { dimension: "author", exclude: true, keys: ["Ann"] } as const;
  const one = withFilter(withFilter(DEFAULT_VIEW, country), author);
  const other = withFilter(withFilter(DEFAULT_VIEW, author), country);
  expect(searchOf(one)).toBe(searchOf(other));
  expect(keysOf(one, "country", false)).toEqual(["US"]);
  expect(keysOf(one, "country", true)).toEqual([]);
  expect(withFilter(withFilter(one, { ...country, keys: [] }), { ...author, keys: [] })).toEqual(
    DEFAULT_VIEW);
});

test("grouped translations narrow nothing", () => {
  expect(isFiltered({ ...DEFAULT_VIEW, grouped: true })).toBe(false);
  expect(isFiltered(full)).toBe(true);
  expect(isFiltered(withoutFilters(full))).toBe(false);
});
