// Days that were never imported, that are not over, and what a comparison makes of them; links whose
// filters name what is gone.

import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { addDays, dayText } from "../../src/dashboard/data/calendar";
import { expectAccessible, expectNoSidewaysScroll } from "./chromium";
import { onEachEngine, settled, stageOf, type Visitor } from "./dashboards";

const TODAY = new Date().toISOString().slice(0, 10);
const ago = (days: number) => addDays(TODAY, -days);
/** Never imported. */
const GAP = ago(3);

const ARTICLES = `url,title,published,author,team
https://e.com/one,One,2020-01-01,Gabriel Garc\u00eda,Core
https://e.com/two,Two,2020-01-02,Bea,Core
`;

/** As many page views as days ago, on 30 days without one. */
function traffic(): string {
  const days = Array.from({ length: 30 }, (_, back) => back).filter((back) => ago(back) !== GAP);
  return "date,url,country,pageviews,sessions,engagement_seconds\n" +
    days.map((back) => `${ago(back)},https://e.com/one,DE,${100 + back},100,1000\n`).join("");
}

const value = (page: Page, name: string) =>
  page.getByRole("group", { name: "Metric" }).getByRole("button").filter({ hasText: name });

onEachEngine("days on %s", (engine) => {
  const stage = stageOf(engine, null);
  let ann: Visitor;
  beforeAll(() => {
    ({ ann } = stage);
    const { place } = stage;
    const database = ["--database", ann.server.database];
    place.run("dashboard", "import", "articles", place.file("a.csv", ARTICLES), ...database);
    place.run("dashboard", "import", "traffic", place.file("t.csv", traffic()), ...database);
  }, 60_000);

  test("a gap is no zero, a day that is not over is told, in chart, table and file", async () => {
    const { page, errors } = await ann.visit("?period=last-7&by=days");
    await page.getByText(`Never imported: ${dayText(GAP)}. Not over: ${dayText(TODAY)}.`).waitFor();
    const names = await page.getByRole("region", { name: "Rows" }).locator("tbody th")
      .allTextContents();
    expect(names.map((name) => name.trim())).toEqual([6, 5, 4, 3, 2, 1, 0].map((back) =>
      dayText(ago(back)) + (ago(back) === GAP ? ", never imported" : back === 0 ? ", not over" : "")));
    const gap = page.getByRole("region", { name: "Rows" }).locator("tr.gap td");
    expect(new Set(await gap.allTextContents())).toEqual(new Set(["\u2013"]));
    await page.getByRole("region", { name: "Course over time" }).getByText("gap", { exact: true })
      .waitFor();
    await expectAccessible(page);
    expect(errors).toEqual([]);
    await page.close();
  });

  test("a gap alone is not said to be without traffic", async () => {
    const { page, errors } = await ann.visit(`?start=${GAP}&end=${GAP}`);
    const said = page.getByText(`${dayText(GAP)} was never imported.`);
    await said.first().waitFor();
    expect(await said.count()).toBe(2);
    expect(await value(page, "Pageviews").textContent()).toContain("\u2013");
    expect(errors).toEqual([]);
    await page.close();
  });

  test("neither enters a change, nor the day that it would be beside", async () => {
    const { page } = await ann.visit("?period=last-7&compare=previous");
    // 7 days without the gap and today, and as many a week earlier.
    const sum = (...days: number[]) => days.reduce((so, back) => so + 100 + back, 0);
    const [now, before] = [sum(1, 2, 4, 5, 6), sum(8, 9, 11, 12, 13)];
    expect(await value(page, "Pageviews").textContent()).toContain(`${now} from ${before}`);
    const change = `\u2212${((1 - now / before) * 100).toFixed(1)}`;
    expect(await value(page, "Pageviews").textContent()).toContain(change);
    const leftOut = page.getByText(`left out on both sides: never imported: ${dayText(GAP)}; ` +
      `not over: ${dayText(TODAY)}`);
    await leftOut.first().waitFor();
    expect(await leftOut.count(), "of the sums, the chart and the table").toBe(3);
    const cells = await page.getByRole("region", { name: "Rows" }).locator("tbody td")
      .allTextContents();
    expect(cells.map((cell) => cell.trim()).slice(-3, -1)).toEqual([String(now), String(before)]);
    await page.close();
    for (const width of [1440, 390]) {
      const { page: sized } = await ann.visit("?period=last-7&compare=previous", { width });
      await expectNoSidewaysScroll(sized);
      await sized.close();
    }
  });

  test("a filter value that is gone breaks nothing, nor does one that is left out", async () => {
    const { page, errors } = await ann.visit("?period=last-7&not_author=Gone&not_country=XX");
    await page.getByText("Author is not Gone (unknown)").waitFor();
    expect(await page.getByRole("region", { name: "Rows" }).locator("tbody th").allTextContents())
      .toHaveLength(1);
    await page.goto(`${ann.server.root}?period=last-7&author=Gone&blog=gone`);
    await settled(page);
    await page.getByText("Author is Gone (unknown)").waitFor();
    await page.getByText("No traffic matches these filters in").first().waitFor();
    await page.getByRole("button", { name: "Clear the filters" }).click();
    await settled(page);
    expect(await page.locator(".problem").count()).toBe(0);
    expect(errors).toEqual([]);
    await page.close();
  });

  test("names are found without their accents, and a file of articles says which they are", async () => {
    const { page } = await ann.visit("?period=last-7");
    await page.getByRole("button", { name: "+ Filter" }).click();
    await page.getByLabel("Filter by").selectOption("Author");
    await page.getByLabel("Search author").fill("GARCIA");
    await page.getByRole("checkbox", { name: "Gabriel Garc\u00eda" }).waitFor();
    await page.keyboard.press("Escape");
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("region", { name: "Rows" }).getByRole("button", { name: /^Download as CSV/ })
        .click(),
    ]);
    const bytes = await readFile(await file.path());
    expect([...bytes.subarray(0, 3)]).toEqual([0xef, 0xbb, 0xbf]);
    const [header, first] = bytes.toString().slice(1).split("\r\n");
    expect(header).toMatch(/^key,label,url,author,team,published,pageviews,/);
    expect(first).toContain(",One,https://e.com/one,Gabriel Garc\u00eda,Core,2020-01-01,");
    await page.close();
  });
});
