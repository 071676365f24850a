// What a click goes into, and what alt with a click leaves out.

import { describe, expect, test } from "vitest";
import { canExclude, drilled, excluded } from "../../src/dashboard/view/drill";
import { DEFAULT_VIEW, keysOf, type View } from "../../src/dashboard/view/view";

const period = { start: "2021-05-05", end: "2021-06-30" };
const view: View = { ...DEFAULT_VIEW, by: "authors", search: "ann",
  sort: { column: "sessions", descending: true } };

describe("into", () => {
  test("an author is the filter, and the rows become articles", () => {
    const inside = drilled(view, "authors", "Ann", period);
    expect(keysOf(inside, "author", false)).toEqual(["Ann"]);
    expect(inside).toMatchObject({ by: "articles", search: "", sort: null, open: "" });
  });

  test("an article is its page", () => {
    expect(drilled({ ...view, by: "articles" }, "articles", "uuid", period)).toMatchObject(
      { open: "uuid", by: "articles", filters: [] });
  });

  test("a week is the period, as far as it was in it", () => {
    const inside = drilled({ ...view, by: "weeks" }, "weeks", "2021-05-03", period);
    expect(inside.period).toEqual({ start: "2021-05-05", end: "2021-05-09" });
    expect(inside.by).toBe("articles");
  });

  test("a point of the chart leaves the rows by what they are", () => {
    expect(drilled(view, "months", "2021-06", period)).toMatchObject(
      { by: "authors", period: { start: "2021-06-01", end: "2021-06-30" } });
  });

  test("a year of publication is a range of days", () => {
    expect(drilled({ ...view, by: "article_years" }, "article_years", "2019", period).published)
      .toEqual({ from: "2019-01-01", to: "2019-12-31" });
  });

  test.each([
    [{ from: "2019-06-01", to: "2021-03-31" }, { from: "2019-06-01", to: "2019-12-31" }],
    [{ from: "", to: "2019-02-28" }, { from: "2019-01-01", to: "2019-02-28" }],
    [{ from: "2018-01-01", to: "" }, { from: "2019-01-01", to: "2019-12-31" }],
  ])("a year of publication never lets in more than before: %o", (published, left) => {
    expect(drilled({ ...view, published }, "article_years", "2019", period).published)
      .toEqual(left);
  });

  test("what was left out before is let in", () => {
    const without = excluded(view, "countries", "DE");
    const inside = drilled(without, "countries", "DE", period);
    expect(keysOf(inside, "country", true)).toEqual([]);
    expect(keysOf(inside, "country", false)).toEqual(["DE"]);
  });
});

describe("left out", () => {
  test("values gather, each once", () => {
    const twice = excluded(excluded(excluded(view, "teams", "A"), "teams", "B"), "teams", "A");
    expect(keysOf(twice, "team", true)).toEqual(["A", "B"]);
  });

  test("one that was asked for is asked for no more", () => {
    const only = drilled(view, "countries", "DE", period);
    const left = excluded(only, "countries", "DE");
    expect(left.filters).toEqual([{ dimension: "country", exclude: true, keys: ["DE"] }]);
  });

  test("years of publication that touch become one range", () => {
    const years = ["2020", "2019", "2021"].reduce<View>(
      (so, year) => excluded(so, "article_years", year), view);
    expect(years.notPublished).toEqual({ from: "2019-01-01", to: "2021-12-31" });
    const within = excluded({ ...view, notPublished: { from: "2020-03-01", to: "2020-03-31" } },
      "article_years", "2020");
    expect(within.notPublished).toEqual({ from: "2020-01-01", to: "2020-12-31" });
    const open = excluded({ ...view, notPublished: { from: "", to: "2018-12-31" } },
      "article_years", "2019");
    expect(open.notPublished).toEqual({ from: "", to: "2019-12-31" });
  });

  test("a year apart from those left out cannot be asked, and lets none of them in", () => {
    const years = excluded(view, "article_years", "2019");
    expect(excluded(years, "article_years", "2021")).toBe(years);
  });

  test("but at an end of the years asked for it shortens them", () => {
    const years: View = { ...excluded(view, "article_years", "2019"),
      published: { from: "2017-01-01", to: "2021-06-30" } };
    expect(excluded(years, "article_years", "2021")).toEqual(
      { ...years, published: { from: "2017-01-01", to: "2020-12-31" } });
    expect(excluded(years, "article_years", "2017").published).toEqual(
      { from: "2018-01-01", to: "2021-06-30" });
  });

  test("days of traffic stay: the period says which they are", () => {
    expect(canExclude("days")).toBe(false);
    expect(excluded(view, "days", "2021-05-05")).toBe(view);
  });
});
