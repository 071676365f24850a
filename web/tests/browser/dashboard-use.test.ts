// What readers do with the dashboard beyond asking: chart, long tables, articles, files, saved
// views, keys; on both engines.

import { readFile } from "node:fs/promises";
import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import { MAY, number, onEachEngine, settled, stageOf, wordsOf } from "./dashboards";
import { LONG } from "./server";

const ALL = "period=all";

async function download(page: Page, button: Locator): Promise<{ name: string; bytes: Buffer }> {
  const [file] = await Promise.all([page.waitForEvent("download"), button.click()]);
  return { name: file.suggestedFilename(), bytes: await readFile(await file.path()) };
}

onEachEngine("readers on %s", (engine) => {
  const stage = stageOf(engine, LONG);

  const box = (page: Page) => page.getByRole("region", { name: "Rows" }).locator(".rows");
  const rows = (page: Page) => box(page).locator("tbody tr[data-place]");
  /** The middle of the chart's nth part of so many. */
  async function at(page: Page, part: number) {
    const frame = await page.locator(".frame").boundingBox();
    if (!frame) throw new Error("no chart");
    return { x: frame.x + 45 + (frame.width - 60) * part, y: frame.y + 100 };
  }

  test("a drag over the chart is the period, zooming out widens it again", async () => {
    const { page } = await stage.ann.visit(`?${MAY}`);
    const [from, to] = [await at(page, 0.3), await at(page, 0.6)];
    await page.mouse.move(from.x, from.y);
    await page.mouse.down();
    await page.mouse.move(to.x, to.y, { steps: 4 });
    expect(await page.locator(".brush").isVisible()).toBe(true);
    await page.mouse.up();
    await settled(page);
    const [start, end] = [wordsOf(page).get("start") ?? "", wordsOf(page).get("end") ?? ""];
    expect(start > "2022-05-05" && start < "2022-05-14", start).toBe(true);
    expect(end > "2022-05-14" && end < "2022-05-24", end).toBe(true);
    await page.getByRole("button", { name: "Zoom out" }).click();
    await settled(page);
    expect((wordsOf(page).get("start") ?? "") < start).toBe(true);
    await page.goBack();
    await settled(page);
    expect(wordsOf(page).get("start")).toBe(start);
    await page.close();
  });

  test("the chart tells a point; a click is its day, or on a country's line the country", async () => {
    const { page } = await stage.ann.visit(`?${MAY}`);
    const middle = await at(page, 0.5);
    await page.mouse.move(middle.x, middle.y);
    await page.locator(".plot").getByText(/^\d+\u00a0May\u00a02022$/).waitFor();
    await page.mouse.click(middle.x, middle.y);
    await settled(page);
    expect(wordsOf(page).get("start")).toBe(wordsOf(page).get("end"));
    await page.close();
    const split = await stage.ann.visit(`?${MAY}&split=country`);
    const point = await at(split.page, 0.5);
    await split.page.mouse.click(point.x, point.y - 90);
    await settled(split.page);
    expect(wordsOf(split.page).getAll("country")).toHaveLength(1);
    await split.page.goBack();
    await settled(split.page);
    await split.page.keyboard.down("Alt");
    await split.page.mouse.click(point.x, point.y - 90);
    await split.page.keyboard.up("Alt");
    await settled(split.page);
    expect(wordsOf(split.page).getAll("not_country")).toHaveLength(1);
    await split.page.close();
  });

  test("the chart's numbers are a table too, with days without traffic left out", async () => {
    const { page } = await stage.ann.visit(`?${MAY}`);
    await page.getByText("Numbers of the chart").click();
    const answer = await stage.ann.asked(page, `api/query/days?${MAY}&sort=key`);
    const numbers = page.getByRole("region", { name: "Course over time" }).getByRole("table");
    expect(await numbers.getAttribute("aria-rowcount")).toBe(String(answer.row_count + 2));
    expect(await numbers.locator("tbody tr[data-place] td").first().textContent()).toBe(
      number(answer.rows[0]?.pageviews ?? 0));
    await page.close();
  });

  test("thousands of rows scroll with a handful of them in the page", async () => {
    const { page } = await stage.ann.visit(`?${ALL}`);
    const answer = await stage.ann.asked(page,
      "api/query/articles?start=2021-01-01&end=2022-06-26");
    expect(answer.row_count).toBeGreaterThan(5_000);
    expect(await rows(page).count()).toBeLessThan(60);
    await box(page).evaluate((element) => (element.scrollTop = element.scrollHeight));
    await page.waitForFunction((last) =>
      document.querySelector(`tbody tr[data-place="${last}"]`), answer.row_count - 1);
    expect(await rows(page).count()).toBeLessThan(60);
    expect(await rows(page).last().locator("td").first().textContent()).toBe(
      number(answer.rows.at(-1)?.pageviews ?? 0));
    await page.close();
  });

  test("keys move through the rows, also to those out of sight", async () => {
    const { page } = await stage.ann.visit(`?${ALL}`);
    const focused = () => page.evaluate(() =>
      document.activeElement?.closest("tr")?.dataset.place ?? null);
    const focusOn = (place: number) => page.waitForFunction((wanted) =>
      document.activeElement?.closest("tr")?.dataset.place === wanted, String(place));
    await rows(page).first().locator("button").focus();
    await page.keyboard.press("ArrowDown");
    await focusOn(1);
    await page.keyboard.press("End");
    const last = Number(await box(page).getByRole("table").getAttribute("aria-rowcount")) - 3;
    await focusOn(last);
    await page.keyboard.press("PageUp");
    await page.waitForFunction((end) => {
      const now = Number(document.activeElement?.closest("tr")?.dataset.place ?? end);
      return now < end && now > end - 40;
    }, last);
    await page.keyboard.press("Home");
    await focusOn(0);
    const title = await rows(page).first().locator("th").textContent();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: title ?? "", exact: true }).waitFor();
    expect(await focused()).toBeNull();
    await page.waitForFunction((name) => document.activeElement?.textContent === name, title);
    await page.close();
  });

  test("rows are searched and sorted, and the address says how", async () => {
    const { page } = await stage.ann.visit(`?${MAY}&by=authors`);
    const { rows: all } = await stage.ann.asked(page, `api/query/authors?${MAY}`);
    await page.keyboard.press("/");
    await page.keyboard.type("an");
    const found = all.filter(({ label }) =>
      label.normalize("NFD").replace(/\p{Mn}/gu, "").toLowerCase().includes("an"));
    await page.getByText(`${number(found.length)} of ${number(all.length)} rows`).waitFor();
    expect(wordsOf(page).get("search")).toBe("an");
    const sum = found.reduce((so, row) => so + row.pageviews, 0);
    expect(await box(page).locator(".total td").first().textContent()).toBe(number(sum));
    await box(page).getByRole("button", { name: "Sessions" }).click();
    const most = found.toSorted((a, b) => b.sessions - a.sessions)[0];
    await page.waitForFunction((label) =>
      document.querySelector(".rows tbody tr[data-place='0'] th")?.textContent === label,
    most?.label);
    expect(await box(page).locator("th[aria-sort=descending]").textContent()).toContain("Sessions");
    expect(wordsOf(page).get("sort")).toBe("-sessions");
    await page.keyboard.press("Escape");
    await page.getByText(`${number(all.length)} rows`).first().waitFor();
    await page.close();
  });

  test("an article's page has what it is, its traffic, countries and translations", async () => {
    const { page, errors } = await stage.ann.visit(`?${ALL}`);
    const articles = await stage.ann.asked(page,
      "api/query/articles?start=2021-01-01&end=2022-06-26");
    type Article = { uuid: string; title: string; author: string; url: string; blog: string;
      team: string; product: string; language: string; human_language: string; published: string;
      original: { title: string } | null };
    let article: Article | null = null;
    for (const { key } of articles.rows.slice(0, 200)) {
      const one = await stage.ann.asked<Article>(page, `api/articles/${key}`);
      if (one.original) { article = one; break; }
    }
    if (!article?.original) throw new Error("no translation among the first articles");
    await page.goto(`${stage.ann.server.root}?${ALL}&open=${article.uuid}`);
    await page.getByRole("heading", { name: article.title, exact: true }).waitFor();
    await settled(page);
    const facts = await page.locator(".about dd").allTextContents();
    expect(facts).toEqual(expect.arrayContaining([article.author, article.blog, article.team,
      article.product, article.language, article.human_language]));
    expect(facts.join()).toContain(article.published.slice(0, 4));
    expect(await page.getByRole("link", { name: article.url }).getAttribute("href")).toBe(
      article.url);
    const own = await stage.ann.asked(page, "api/query/countries?start=2021-01-01" +
      `&end=2022-06-26&article=${article.uuid}`);
    const metrics = page.getByRole("group", { name: "Metric" });
    expect(await metrics.getByRole("button", { name: "Pageviews" }).locator(".value").textContent())
      .toBe(number(own.totals.pageviews));
    const countries = page.getByRole("region", { name: "Countries" });
    expect(await countries.getByRole("table").getAttribute("aria-rowcount")).toBe(
      String(own.row_count + 2));
    const family = page.getByRole("region", { name: "Translations" });
    const listed = await download(page, countries.getByRole("button", { name: "Download as CSV" }));
    expect(listed.bytes.toString().trim().split("\r\n")).toHaveLength(own.row_count + 1);
    const told = await download(page, family.getByRole("button", { name: "Download as JSON" }));
    const members = (JSON.parse(told.bytes.toString()) as { rows: { label: string }[] }).rows;
    expect(members.map(({ label }) => label)).toContain(article.original.title);
    await family.getByRole("button", { name: article.original.title }).first().click();
    await page.getByRole("heading", { name: article.original.title, exact: true }).waitFor();
    await settled(page);
    await page.getByRole("button", { name: "All articles" }).click();
    await page.getByRole("region", { name: "Rows" }).waitFor();
    expect(errors).toEqual([]);
    await page.close();
  });

  test("what is seen can be had as CSV, JSON, SVG and PNG", async () => {
    const { page } = await stage.ann.visit(`?${MAY}&by=teams`);
    const { rows: teams } = await stage.ann.asked(page, `api/query/teams?${MAY}`);
    const of = page.getByRole("region", { name: "Rows" });
    const csv = await download(page, of.getByRole("button", { name: "Download as CSV" }));
    expect(csv.name).toBe("pageviews-by-team-1-to-31-may-2022.csv");
    const [head, first] = csv.bytes.toString().split("\r\n");
    expect(head).toBe("\ufeffkey,label,pageviews,sessions,average_engagement_seconds,share_of_pageviews");
    expect(first?.startsWith(`${teams[0]?.key},${teams[0]?.label},${teams[0]?.pageviews},`)).toBe(true);
    const json = await download(page, of.getByRole("button", { name: "Download as JSON" }));
    expect(JSON.parse(json.bytes.toString()).rows).toHaveLength(teams.length);
    const course = page.getByRole("region", { name: "Course over time" });
    const days = await download(page, course.getByRole("button", { name: "Download as CSV" }));
    expect(days.bytes.toString().trim().split("\r\n")).toHaveLength(1 + 31);
    for (const part of [of, course]) {
      const svg = await download(page, part.getByRole("button", { name: "Download as SVG" }));
      expect(svg.bytes.toString("utf8", 0, 5)).toBe("<svg ");
      expect(svg.bytes.toString()).toContain("From the Crossover dashboard");
      const png = await download(page, part.getByRole("button", { name: "Download as PNG" }));
      expect(png.bytes.toString("latin1", 1, 4)).toBe("PNG");
      expect(png.bytes.length).toBeGreaterThan(5_000);
    }
    await page.close();
  });

  test("views are saved in this browser, links are copied, help has a key", async () => {
    const { page } = await stage.ann.visit(`?${MAY}&compare=previous&by=teams`);
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    const address = page.url();
    await page.getByRole("button", { name: "Copy link" }).click();
    await page.getByText("The link is copied").waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(address);
    await page.getByRole("button", { name: "Saved views" }).click();
    await page.getByText("Kept in this browser only").waitFor();
    await page.getByLabel("Save what is seen as").fill("Teams in May");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.keyboard.press("Escape");
    await page.goto(stage.ann.server.root);
    await settled(page);
    await page.getByRole("button", { name: "Saved views" }).click();
    await page.getByRole("button", { name: "Teams in May", exact: true }).click();
    await settled(page);
    expect(page.url()).toBe(address);
    await page.getByRole("button", { name: "Saved views" }).click();
    await page.getByRole("button", { name: "Delete Teams in May" }).click();
    await page.getByText("None yet.").waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Help" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog", { name: "Help" }).waitFor({ state: "hidden" });
    await page.close();
  });

  test("Escape takes the filters back", async () => {
    const { page } = await stage.ann.visit(`?${MAY}&country=DE`);
    await page.getByText("Country is Germany").waitFor();
    await page.keyboard.press("Escape");
    await settled(page);
    expect(new URL(page.url()).search).toBe(`?${MAY}`);
    await page.close();
  });
});
