// Filters and rows in words; views kept under names.

import { expect, test } from "vitest";
import { viewsFrom, withoutView, withView } from "../../src/dashboard/view/saved";
import { DEFAULT_VIEW } from "../../src/dashboard/view/view";
import { filterText, filtersText, publicationText, rowsTitle } from "../../src/dashboard/view/words";

const labels: Record<string, string> = { DE: "Germany", FR: "France" };
const labelOf = (_: string, key: string) => labels[key] ?? key;

test("chips read as sentences", () => {
  const text = (exclude: boolean, ...keys: string[]) =>
    filterText({ dimension: "country", exclude, keys }, labelOf);
  expect(text(false, "DE")).toBe("Country is Germany");
  expect(text(false, "DE", "FR")).toBe("Country is Germany or France");
  expect(text(true, "DE")).toBe("Country is not Germany");
  expect(text(true, "DE", "FR", "US", "GB", "IN")).toBe(
    "Country is none of Germany, France, US and 2 more");
});

test("days of publication with open ends", () => {
  expect(publicationText({ from: "2021-01-01", to: "" }, false)).toBe(
    "Published from 1\u00a0Jan\u00a02021");
  expect(publicationText({ from: "2021-01-01", to: "2021-01-31" }, true)).toBe(
    "Not published 1 to 31\u00a0Jan\u00a02021");
  expect(publicationText({ from: "", to: "" }, false)).toBe("");
});

test("titles of charts and files say what they are of", () => {
  const period = { start: "2021-05-01", end: "2021-05-31" };
  expect(rowsTitle({ ...DEFAULT_VIEW, by: "languages", split: true, metric: "engagement" }, period))
    .toBe("Average engagement by computer language and country, 1 to 31\u00a0May\u00a02021");
  expect(filtersText({ ...DEFAULT_VIEW, grouped: true,
    filters: [{ dimension: "team", exclude: true, keys: ["Docs"] }] }, labelOf)).toBe(
    "Team is not Docs; translations count for their originals");
});

test("saved views are in order, replaced by name, deleted by name", () => {
  const views = withView(withView(withView([], "b", "?by=teams"), " a ", "./"), "b", "?by=days");
  expect(views).toEqual([{ name: "a", search: "./" }, { name: "b", search: "?by=days" }]);
  expect(withoutView(views, "a")).toHaveLength(1);
  expect(withView(views, "  ", "./")).toEqual(views);
});

test("what somebody else left in the browser's storage is no view", () => {
  for (const text of [null, "", "{", "3", '[{"name":1}]']) expect(viewsFrom(text)).toEqual([]);
});
