// Who may see the dashboard, what it says when something is wrong, and that everybody can use it:
// in light and dark, on a telephone, with a screen reader.

import { readFile } from "node:fs/promises";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  executablePath, expectAccessible, expectNoSidewaysScroll, launch, open,
} from "./chromium";
import { asked, dashboardOf, number, PERSON, settled, Visitor, wordsOf } from "./dashboards";
import { ENGINES, Place, program } from "./server";
import { unreadableTexts } from "./svg-texts";

const MAY = "start=2022-05-01&end=2022-05-31";

describe.skipIf(!executablePath || !program).each(ENGINES)("everybody on %s", (engine) => {
  let browser: Browser;
  let place: Place;
  let ann: Visitor;
  beforeAll(async () => {
    browser = await launch();
    place = new Place();
    ann = await dashboardOf(place, browser, engine);
  }, 300_000);
  afterAll(async () => {
    await browser?.close();
    await place?.leave();
  }, 60_000);

  test("signs in to the view that the link is of, and out again", async () => {
    const { page } = await ann.stranger(`?${MAY}&by=teams`);
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await expectAccessible(page);
    await page.getByLabel("Name").fill(PERSON.name);
    await page.getByLabel("Password").fill("not the password");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("the name or the password is wrong").waitFor();
    await page.getByLabel("Password").fill(PERSON.password);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: "Teams" }).waitFor();
    expect(wordsOf(page).get("by")).toBe("teams");
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    const answer = await page.request.get(`${ann.server.root}api/dataset`);
    expect(answer.status()).toBe(401);
    await page.close();
  });

  test("with an API key needs no account", async () => {
    const url = ann.server.database;
    const key = place.run("dashboard", "key", "add", "pages", "--database", url);
    const { page } = await ann.stranger();
    await page.getByText("Use an API key instead").click();
    await page.getByLabel("API key").fill("wrong");
    await page.getByRole("button", { name: "Use this key" }).click();
    await page.getByRole("alert").waitFor();
    await page.getByLabel("API key").fill(key);
    await page.getByRole("button", { name: "Use this key" }).click();
    await settled(page);
    await page.getByRole("button", { name: "By country", exact: true }).click();
    const every = page.getByRole("button", { name: "Download as CSV with every country" });
    const [file] = await Promise.all([page.waitForEvent("download"), every.click()]);
    expect(await readFile(await file.path(), "utf8")).toMatch(/^key,label,country,pageviews,/);
    place.run("dashboard", "key", "revoke", "pages", "--database", url);
    const told = page.getByText("The API key is not accepted any more.");
    // The page may ask by itself before the click does, and then the button is gone.
    await Promise.any([
      told.waitFor(),
      page.getByRole("button", { name: "Authors", exact: true }).click(),
    ]);
    await told.waitFor();
    await page.close();
  });

  test("reads a public server without signing in", async () => {
    const server = await place.serve(ann.server.database, "--public");
    const { page, errors } = await open(browser, server.root);
    await settled(page);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("button", { name: "Read without signing in" }).click();
    await settled(page);
    expect(errors).toEqual([]);
    await page.close();
  });

  test("is told of an empty database how to fill it", async () => {
    const server = await place.serve(place.database(engine, "empty", null), "--public");
    const { page } = await open(browser, server.root);
    await page.getByRole("heading", { name: "There is no traffic yet" }).waitFor();
    await page.getByText("crossover dashboard generate").waitFor();
    await expectAccessible(page);
    await page.close();
  });

  test("is told which value is not there, and can go on", async () => {
    const { page } = await ann.visit(`?${MAY}&country=XX`);
    await page.getByText('country names "XX", which is not there').first().waitFor();
    await page.getByRole("button", { name: "Clear the filters" }).first().click();
    await settled(page);
    expect(await page.getByRole("alert").count()).toBe(0);
    expect(wordsOf(page).has("country")).toBe(false);
    await page.close();
  });

  test("is told what to narrow when a question takes too long", async () => {
    const { page } = await ann.visit(`?${MAY}`);
    await page.route("**/api/query/authors**", (route) => route.fulfill({ status: 503,
      contentType: "application/problem+json", body: JSON.stringify({ title: "Service Unavailable",
        status: 503, detail: "the query took longer than its limit of 10 s" }) }));
    await page.getByRole("button", { name: "Authors", exact: true }).click();
    const alert = page.getByRole("alert");
    await alert.getByText("the query took longer than its limit of 10 s").waitFor();
    await alert.getByText(/a shorter period, more filters/).waitFor();
    await page.unroute("**/api/query/authors**");
    await alert.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("heading", { name: "Authors", exact: true }).waitFor();
    await page.close();
  });

  test("is told when the server has gone, and keeps the page", async () => {
    const { page } = await ann.visit(`?${MAY}`);
    await page.route("**/api/**", (route) => route.abort());
    await page.getByRole("button", { name: "Teams", exact: true }).click();
    await page.getByText("The server does not answer.").first().waitFor();
    await page.close();
  });

  test("sees the old answer until the new one comes, and only the last one asked for", async () => {
    const { page } = await ann.visit(`?${MAY}`);
    let release = () => {};
    const held = new Promise<void>((done) => (release = done));
    const given: string[] = [];
    page.on("requestfailed", (request) => given.push(new URL(request.url()).pathname));
    await page.route("**/api/query/authors**", async (route) => {
      await held;
      await route.continue().catch(() => {});
    });
    const first = await page.locator(".rows tbody th").first().textContent();
    await page.getByRole("button", { name: "Authors", exact: true }).click();
    await page.locator("section[aria-label=Rows][aria-busy=true]").waitFor();
    expect(await page.locator(".rows tbody th").first().textContent()).toBe(first);
    await page.getByRole("button", { name: "Teams", exact: true }).click();
    await page.getByRole("heading", { name: "Teams", exact: true }).waitFor();
    expect(given).toContain("/api/query/authors");
    release();
    await settled(page);
    expect(await page.getByRole("heading", { name: "Teams", exact: true }).isVisible()).toBe(true);
    await page.close();
  });

  test("is told where there is nothing, with a way on", async () => {
    const { page } = await ann.visit("?start=2019-01-01&end=2019-01-31");
    await page.getByText(/No traffic in/).first().waitFor();
    await page.getByRole("button", { name: /^Show all days/ }).click();
    await settled(page);
    expect(wordsOf(page).get("period")).toBe("all");
    await page.close();
  });

  test("is shown newer data when coming back to the tab, all of it at once", async () => {
    const { page, errors } = await ann.visit("?period=last-7&by=days");
    const url = ann.server.database;
    const { rows } = await asked(page, ann.server,
      "api/query/articles?start=2022-06-26&end=2022-06-26");
    const article = await asked<{ url: string }>(page, ann.server, `api/articles/${rows[0]?.key}`);
    place.run("dashboard", "import", "traffic", "--database", url, place.file("day.csv",
      `date,url,country,pageviews,sessions,engagement_seconds\n2022-06-26,${article.url},DE,777000,5,5\n`));
    const total = page.getByRole("group", { name: "Metric" }).locator(".value").first();
    const old = await total.textContent();
    await page.evaluate(() => window.dispatchEvent(new Event("focus")));
    await page.getByText("The data has changed; this is the newest").waitFor();
    await settled(page);
    const answer = await asked(page, ann.server, "api/query/days?start=2022-06-20&end=2022-06-26");
    expect(answer.totals.pageviews).toBeGreaterThan(777_000);
    expect(await total.textContent()).toBe(number(answer.totals.pageviews));
    expect(await total.textContent()).not.toBe(old);
    const last = page.getByRole("region", { name: "Rows" }).locator("tbody tr[data-place]").last();
    expect(await last.locator("td").first().textContent()).toBe("777,000");
    expect(errors).toEqual([]);
    await page.close();
  });

  test("is not shown a new answer beside old ones", async () => {
    const { page } = await ann.visit(`?${MAY}`);
    // The data changes while the page asks for its rows anew.
    await page.route("**/api/dataset", async (route) => {
      const answer = await (await route.fetch()).json();
      await route.fulfill({ json: { ...answer, data_version: "newer" } });
    });
    const asks: string[] = [];
    page.on("request", (request) => asks.push(new URL(request.url()).pathname));
    await page.getByRole("button", { name: "Teams", exact: true }).click();
    await page.getByRole("heading", { name: "Teams", exact: true }).waitFor();
    await settled(page);
    expect(asks, "the chart is asked again too").toContain("/api/query/days");
    await page.close();
  });

  const VIEWS = {
    "all traffic": `?${MAY}&compare=year&country=US&country=DE`,
    "months compared, split by country":
      "?start=2022-02-10&end=2022-06-12&by=months&compare=previous&split=country",
    "split by country": `?${MAY}&by=teams&split=country`,
    "average engagement": `?${MAY}&by=authors&metric=engagement`,
    "weeks of all days": "?period=all&by=weeks",
  };
  const LOOKS = [
    { name: "light", look: {} },
    { name: "dark", look: { dark: true } },
    { name: "on 390 pixels", look: { width: 390 } },
  ];

  describe.each(LOOKS)("$name", ({ look }) => {
    test.each(Object.entries(VIEWS))("%s: accessible, readable, no sideways scroll", async (_, search) => {
      const { page, errors } = await ann.visit(search, look);
      await page.getByText("Numbers of the chart").click();
      await expectAccessible(page);
      await expectNoSidewaysScroll(page);
      expect(await unreadableTexts(page)).toEqual([]);
      expect(errors).toEqual([]);
      await page.close();
    });

    test("an article, open panels and the help", async () => {
      const { page } = await ann.visit("?period=all", look);
      await page.locator(".rows tbody th button").first().click();
      await page.getByRole("region", { name: "Countries" }).getByRole("table").waitFor();
      await settled(page);
      await expectAccessible(page);
      await expectNoSidewaysScroll(page);
      for (const name of [/^All days/, /^\+ Filter$/, /^Publication$/, /^Saved views$/]) {
        await page.getByRole("button", { name }).click();
        await page.locator(".panel").waitFor();
        await expectAccessible(page);
        await expectNoSidewaysScroll(page);
        await page.keyboard.press("Escape");
      }
      await page.getByRole("button", { name: "Help and keys" }).click();
      await expectAccessible(page);
      await page.close();
    });
  });
});
