// The dashboard's pages in a real browser, from real servers on both engines: what is asked, and
// that what is shown is what the API answers.

import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { MAY, number, onEachEngine, settled, stageOf, wordsOf } from "./dashboards";

onEachEngine("the dashboard on %s", (engine) => {
  const stage = stageOf(engine);

  const table = (page: Page) => page.getByRole("region", { name: "Rows" }).getByRole("table");
  const rows = (page: Page) => table(page).locator("tbody tr[data-place]");
  const total = (page: Page, name: string) =>
    page.getByRole("group", { name: "Metric" }).getByRole("button", { name }).locator(".value");
  const bars = (page: Page) => page.getByRole("region", { name: "Rows" }).locator("ol button");

  test("begins with the last 30 days of the data, and says where answers come from", async () => {
    const { page, errors } = await stage.ann.visit();
    const { last_day } = await stage.ann.asked<{ last_day: string }>(page, "api/dataset");
    expect(last_day).toBe("2022-06-26");
    await page.getByText("28\u00a0May to 26\u00a0Jun\u00a02022").first().waitFor();
    const answer = await stage.ann.asked(page,
      "api/query/articles?start=2022-05-28&end=2022-06-26");
    expect(await total(page, "Pageviews").textContent()).toBe(number(answer.totals.pageviews));
    expect(await total(page, "Sessions").textContent()).toBe(number(answer.totals.sessions));
    const name = engine === "sqlite" ? "SQLite" : "PostgreSQL";
    for (const source of await page.locator(".source").allTextContents()) {
      expect(source).toMatch(new RegExp(`${name} [\\d.]+.* · design \\w+ · [\\d,]+ rows read · [\\d.,]+\u00a0ms`));
    }
    expect(await rows(page).first().locator("th").textContent()).toBe(answer.rows[0]?.label);
    expect(errors).toEqual([]);
    await page.close();
  });

  test("every preset is the days that it is called", async () => {
    const { page } = await stage.ann.visit();
    const presets = {
      "Last 7 days": ["2022-06-20", "2022-06-26"],
      "Last 30 days": ["2022-05-28", "2022-06-26"],
      "Last 90 days": ["2022-03-29", "2022-06-26"],
      "This month": ["2022-06-01", "2022-06-26"],
      "Last month": ["2022-05-01", "2022-05-31"],
      "This quarter": ["2022-04-01", "2022-06-26"],
      "Last quarter": ["2022-01-01", "2022-03-31"],
      "This year": ["2022-01-01", "2022-06-26"],
      "Last year": ["2021-01-01", "2021-12-31"],
      "All days": ["2021-01-01", "2022-06-26"],
    };
    const picker = page.getByRole("group", { name: "Period" });
    for (const [name, [start, end]] of Object.entries(presets)) {
      await picker.locator("button[aria-haspopup]").click();
      await picker.getByRole("dialog").getByRole("button", { name, exact: true }).click();
      await settled(page);
      const answer = await stage.ann.asked(page, `api/query/years?start=${start}&end=${end}`);
      expect(await total(page, "Pageviews").textContent(), name).toBe(
        number(answer.totals.pageviews));
    }
    await page.close();
  });

  test("own dates, presets and steps choose the period; the address holds it", async () => {
    const { page } = await stage.ann.visit();
    await page.getByRole("button", { name: /^Last 30 days/ }).click();
    await page.getByRole("button", { name: "Last quarter" }).click();
    await page.getByText("1\u00a0Jan to 31\u00a0Mar\u00a02022").first().waitFor();
    expect(wordsOf(page).get("period")).toBe("last-quarter");
    await page.getByRole("button", { name: /^Last quarter/ }).click();
    await page.getByLabel("From", { exact: true }).fill("2022-05-01");
    await page.getByLabel("To", { exact: true }).fill("2022-05-31");
    await page.getByRole("button", { name: "Show", exact: true }).click();
    await settled(page);
    expect(new URL(page.url()).search).toBe(`?${MAY}`);
    await page.getByRole("button", { name: "The period before" }).click();
    await settled(page);
    expect([wordsOf(page).get("start"), wordsOf(page).get("end")]).toEqual(
      ["2022-03-31", "2022-04-30"]);
    await page.goBack();
    await page.getByText("1 to 31\u00a0May\u00a02022").first().waitFor();
    await page.close();
  });

  test("compares with the year before on the same weekdays, and says so", async () => {
    const { page } = await stage.ann.visit(`?${MAY}&by=teams`);
    await page.getByLabel("Comparison").selectOption("With the year before");
    await page.getByText("52 weeks earlier, so that weekdays match").waitFor();
    await settled(page);
    const answer = await stage.ann.asked(page, `api/query/teams?${MAY}&compare=year`);
    const before = answer.totals.previous?.pageviews ?? 0;
    await page.getByText(`from ${number(before)}`).first().waitFor();
    const [head = ""] = await table(page).locator("thead tr").first().allTextContents();
    expect(head).toContain("Before");
    expect(head).toContain("Change");
    const first = answer.rows[0];
    const cells = await rows(page).first().locator("td").allTextContents();
    expect(cells.at(-2)).toBe(number(first?.previous?.pageviews ?? 0));
    expect(cells.at(-1)).toMatch(/^[+\u2212][\d.,]+%$/);
    await page.close();
  });

  test("months that are cut off say so and are compared with as many days", async () => {
    const { page } = await stage.ann.visit(
      "?start=2022-05-10&end=2022-06-12&by=months&compare=previous");
    const names = await rows(page).locator("th").allTextContents();
    expect(names).toEqual(["May\u00a02022, 22 days", "Jun\u00a02022, 12 days"]);
    // 5 weeks before 1 to 12 June.
    const june = await stage.ann.asked(page, "api/query/days?start=2022-04-27&end=2022-05-08");
    const cells = await rows(page).nth(1).locator("td").allTextContents();
    expect(cells.at(-2)).toBe(number(june.totals.pageviews));
    const all = await stage.ann.asked(page, "api/query/days?start=2022-04-05&end=2022-05-08");
    await page.getByText(`from ${number(all.totals.pageviews)}`).first().waitFor();
    await page.close();
  });

  test("a comparison has its days also where there is no traffic now", async () => {
    const { page } = await stage.ann.visit(`?${MAY}`);
    const { rows: all } = await stage.ann.asked(page,
      `api/query/articles?${MAY}&compare=previous_weekdays`);
    const seldom = `article=${all.findLast(({ previous }) => previous?.pageviews)?.key}`;
    const now = await stage.ann.asked(page, `api/query/days?${MAY}&${seldom}`);
    const before = await stage.ann.asked(page,
      `api/query/days?start=2022-03-27&end=2022-04-26&${seldom}`);
    const later = (day: string) =>
      new Date(Date.parse(`${day}T00:00:00Z`) + 35 * 86_400_000).toISOString().slice(0, 10);
    const days = new Set([...now.rows.map(({ key }) => key),
      ...before.rows.map(({ key }) => later(key))]);
    expect(days.size).toBeGreaterThan(now.row_count);
    await page.goto(`${stage.ann.server.root}?${MAY}&${seldom}&compare=previous&by=days`);
    await settled(page);
    expect(await table(page).getAttribute("aria-rowcount")).toBe(String(days.size + 2));
    const was = await rows(page).locator("td:nth-last-child(2)").allTextContents();
    const sum = was.reduce((so, text) => so + Number(text.replaceAll(",", "")), 0);
    expect(sum).toBe(before.totals.pageviews);
    await page.close();
  });

  test("a comparison with days before the data says that there is nothing", async () => {
    const { page } = await stage.ann.visit("?start=2021-01-01&end=2021-01-31&compare=year&by=teams");
    await page.getByText("Nothing to compare with: there is no data before").waitFor();
    const [head = ""] = await table(page).locator("thead tr").first().allTextContents();
    expect(head).not.toContain("Change");
    await page.close();
  });

  test("filters include and exclude values that are searched for; chips take them back", async () => {
    const { page } = await stage.ann.visit(`?${MAY}`);
    await page.getByRole("button", { name: "+ Filter" }).click();
    await page.getByLabel("Search country").fill("germ");
    await page.getByRole("checkbox", { name: "Germany" }).check();
    await page.getByLabel("Search country").fill("france");
    await page.getByRole("checkbox", { name: "France" }).check();
    await page.getByRole("dialog").getByRole("button", { name: "Show" }).click();
    await page.getByText("Country is Germany or France").waitFor();
    await settled(page);
    expect(wordsOf(page).getAll("country")).toEqual(["DE", "FR"]);
    const both = await stage.ann.asked(page, `api/query/days?${MAY}&country=DE&country=FR`);
    expect(await total(page, "Pageviews").textContent()).toBe(number(both.totals.pageviews));

    await page.getByRole("button", { name: "+ Filter" }).click();
    await page.getByLabel("Filter by").selectOption("Team");
    await page.getByRole("button", { name: "All but these" }).click();
    const first = page.getByRole("group", { name: "Values" }).getByRole("checkbox").first();
    await first.check();
    await page.getByRole("dialog").getByRole("button", { name: "Show" }).click();
    await settled(page);
    const team = wordsOf(page).get("not_team") ?? "";
    const without = await stage.ann.asked(page, `api/query/days?${MAY}&country=DE&country=FR&${
      new URLSearchParams({ not_team: team }).toString()}`);
    expect(await total(page, "Pageviews").textContent()).toBe(number(without.totals.pageviews));
    expect(without.totals.pageviews).toBeLessThan(both.totals.pageviews);

    await page.getByRole("button", { name: /^Remove: Country/ }).click();
    await settled(page);
    expect(wordsOf(page).getAll("country")).toEqual([]);
    await page.goBack();
    await page.getByText("Country is Germany or France").waitFor();
    // The names come from the server where an address is all there is.
    await page.reload();
    await page.getByText("Country is Germany or France").waitFor();
    await page.close();
  });

  test("a chip changes its filter", async () => {
    const { page } = await stage.ann.visit(`?${MAY}&country=DE&country=FR`);
    await page.getByRole("button", { name: "Country is Germany or France", exact: true }).click();
    const panel = page.getByRole("dialog", { name: "Change the filter" });
    await panel.getByRole("checkbox", { name: "France", exact: true }).uncheck();
    await panel.getByRole("button", { name: "Show" }).click();
    await page.getByText("Country is Germany", { exact: true }).waitFor();
    expect(wordsOf(page).getAll("country")).toEqual(["DE"]);
    await page.close();
  });

  test("every dimension has values to filter by", async () => {
    const { page } = await stage.ann.visit(`?${MAY}`);
    const panel = page.getByRole("dialog", { name: "Add a filter" });
    await page.getByRole("button", { name: "+ Filter" }).click();
    const dimensions = await panel.getByLabel("Filter by").locator("option").evaluateAll(
      (options) => options.map((option) => (option as HTMLOptionElement).value));
    expect(dimensions).toHaveLength(8);
    await page.keyboard.press("Escape");
    for (const dimension of dimensions) {
      await page.getByRole("button", { name: "+ Filter" }).click();
      await panel.getByLabel("Filter by").selectOption(dimension);
      await panel.getByRole("button", { name: "All but these" }).click();
      await panel.getByRole("checkbox").first().check();
      await panel.getByRole("button", { name: "Show" }).click();
      await settled(page);
      const not = `not_${dimension}`;
      const words = new URLSearchParams({ [not]: wordsOf(page).get(not) ?? "" });
      const answer = await stage.ann.asked(page, `api/query/years?${MAY}&${words.toString()}`);
      expect(await total(page, "Pageviews").textContent(), dimension).toBe(
        number(answer.totals.pageviews));
      await page.getByRole("button", { name: "Clear all" }).click();
      await settled(page);
    }
    await page.close();
  });

  test("days of publication and grouped translations are asked as such", async () => {
    const { page } = await stage.ann.visit(`?${MAY}`);
    await page.getByRole("button", { name: "Publication", exact: true }).click();
    await page.getByRole("dialog").getByLabel("From").first().fill("2021-01-01");
    await page.getByRole("dialog").getByLabel("To").first().fill("2021-12-31");
    await page.getByRole("dialog").getByRole("button", { name: "Show" }).click();
    await page.getByText("Published 1\u00a0Jan to 31\u00a0Dec\u00a02021").waitFor();
    await page.getByRole("button", { name: "Publication", exact: true }).click();
    const without = page.getByRole("group", { name: "No articles published" });
    await without.getByLabel("From").fill("2021-06-01");
    await without.getByLabel("To").fill("2021-06-30");
    await page.getByRole("dialog").getByRole("button", { name: "Show" }).click();
    await page.getByText("Not published 1 to 30\u00a0Jun\u00a02021").waitFor();
    await page.getByRole("button", { name: "Translations grouped" }).click();
    await settled(page);
    const answer = await stage.ann.asked(page, `api/query/articles?${MAY}` +
      "&published_from=2021-01-01&published_to=2021-12-31" +
      "&not_published_from=2021-06-01&not_published_to=2021-06-30&translations=grouped");
    expect(await total(page, "Pageviews").textContent()).toBe(number(answer.totals.pageviews));
    await page.getByText(`${number(answer.row_count)} rows`).first().waitFor();
    await page.close();
  });

  test("every grouping is a table of its own", async () => {
    const { page, errors } = await stage.ann.visit(`?${MAY}`);
    const groups = page.getByRole("group", { name: "Group by" });
    const names = await groups.getByRole("button").allTextContents();
    expect(names).toHaveLength(13);
    for (const name of names) {
      await groups.getByRole("button", { name, exact: true }).click();
      await page.getByRole("heading", { name, exact: true }).waitFor();
      await settled(page);
      const by = wordsOf(page).get("by") ?? "articles";
      const answer = await stage.ann.asked(page, `api/query/${by}?${MAY}`);
      expect(await table(page).getAttribute("aria-rowcount"), name).toBe(
        String(answer.row_count + 2));
    }
    expect(errors).toEqual([]);
    await page.close();
  });

  test("a click on a row or bar goes into it, alt leaves it out, back undoes it", async () => {
    const { page } = await stage.ann.visit(`?${MAY}&by=authors`);
    const author = await rows(page).nth(1).locator("th").textContent() ?? "";
    await rows(page).nth(1).locator("td").first().click();
    await page.getByText(`Author is ${author}`).waitFor();
    await settled(page);
    expect(wordsOf(page).has("by"), "an author's rows are articles").toBe(false);
    await page.goBack();
    await settled(page);
    const first = await bars(page).first().locator(".name").textContent() ?? "";
    await bars(page).first().click();
    await page.getByText(`Author is ${first}`).waitFor();
    await page.goBack();
    await settled(page);
    await bars(page).first().click({ modifiers: ["Alt"] });
    await page.getByText(`Author is not ${first}`).waitFor();
    await settled(page);
    expect(await bars(page).first().locator(".name").textContent()).toBe(author);
    await rows(page).first().locator("button").press("Alt+Enter");
    await page.getByText(`Author is none of ${first}, ${author}`).waitFor();
    await settled(page);
    await rows(page).first().locator("td").first().click({ modifiers: ["Alt"] });
    await settled(page);
    expect(wordsOf(page).getAll("not_author")).toHaveLength(3);
    await page.close();
  });

  test("metrics are totals to choose from; the average is engagement by session", async () => {
    const { page } = await stage.ann.visit(`?${MAY}&by=products`);
    await page.getByRole("button", { name: /^Average engagement/ }).first().click();
    await settled(page);
    expect(wordsOf(page).get("metric")).toBe("engagement");
    const { rows: all } = await stage.ann.asked(page, `api/query/products?${MAY}`);
    const first = await rows(page).first().locator("th").textContent();
    const best = all.filter(({ sessions }) => sessions >= 100).toSorted((a, b) =>
      b.engagement_seconds / b.sessions - a.engagement_seconds / a.sessions)[0];
    expect(first).toBe(best?.label);
    await page.close();
  });

  test("rows split by country add up to the row", async () => {
    const { page } = await stage.ann.visit(`?${MAY}&by=teams&split=country`);
    const { rows: countries } = await stage.ann.asked(page,
      `api/query/countries?${MAY}&limit=5`);
    const heads = await table(page).locator("thead tr").first().locator(".title")
      .allTextContents();
    const names = countries.map(({ label }) => label);
    expect(heads).toEqual(["Team", "Pageviews", ...names, "Others"]);
    const cells = (await rows(page).first().locator("td").allTextContents())
      .map((text) => Number(text.replaceAll(",", "")));
    expect(cells.slice(1).reduce((sum, cell) => sum + cell, 0)).toBe(cells[0]);
    const legend = page.getByRole("list", { name: "Lines" });
    const second = legend.getByRole("button", { name: countries[1]?.label ?? "" });
    await second.click();
    await page.getByText(`Country is ${countries[1]?.label}`).first().waitFor();
    await page.goBack();
    await second.click({ modifiers: ["Alt"] });
    await page.getByText(`Country is not ${countries[1]?.label}`).first().waitFor();
    await page.goBack();
    await page.getByLabel("Comparison").selectOption("With the period before");
    await table(page).getByRole("button", { name: "Change" }).waitFor();
    await settled(page);
    await page.getByText("Compared with the month before, 1 to 30\u00a0Apr\u00a02022").waitFor();
    const april = "start=2022-04-01&end=2022-04-30";
    const { rows: teams } = await stage.ann.asked(page, `api/query/teams?${april}`);
    const first = await rows(page).first().locator("th").textContent();
    const before = await rows(page).first().locator("td").nth(1).textContent();
    expect(before).toBe(number(teams.find(({ label }) => label === first?.trim())?.pageviews ?? 0));
    await page.close();
  });

  test("years of publication only ever narrow what is shown", async () => {
    const { page } = await stage.ann.visit(`?${MAY}&by=article_years`);
    const years = await rows(page).locator("th").allTextContents();
    const ends = [Math.min(...years.map(Number)), Math.max(...years.map(Number))].map(String);
    const at = (year = "") => rows(page).filter({ hasText: year }).locator("button");
    expect(years.length, "years between the first and the last").toBeGreaterThan(2);
    await at(ends[0]).press("Alt+Enter");
    await page.getByText(`${ends[0]} is left out`).waitFor();
    await settled(page);
    const address = page.url();
    await at(ends[1]).press("Alt+Enter");
    await page.getByText(`${ends[1]} stays`).waitFor();
    expect(page.url(), "what was left out stays out").toBe(address);
    await page.goto(`${stage.ann.server.root}?${MAY}&by=article_years&published_from=${ends[1]}-02-01`);
    await settled(page);
    await at(ends[1]).press("Enter");
    await page.getByText(`Published 1\u00a0Feb to 31\u00a0Dec\u00a0${ends[1]}`).waitFor();
    await page.close();
  });
});
