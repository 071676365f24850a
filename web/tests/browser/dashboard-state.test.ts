// Who may see the dashboard, what it says when something is wrong, and that everybody can use it:
// in light and dark, on a telephone, with a screen reader.

import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { expectAccessible, expectNoSidewaysScroll, open } from "./chromium";
import { MAY, number, onEachEngine, PERSON, settled, stageOf, wordsOf } from "./dashboards";
import { unreadableTexts } from "./svg-texts";

onEachEngine("everybody on %s", (engine) => {
  const stage = stageOf(engine);

  test("signs in to the view that the link is of, and out again", async () => {
    const { page } = await stage.ann.stranger(`?${MAY}&by=teams`);
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
    const answer = await page.request.get(`${stage.ann.server.root}api/dataset`);
    expect(answer.status()).toBe(401);
    await page.close();
  });

  test("with an API key needs no account", async () => {
    const url = stage.ann.server.database;
    const key = stage.place.run("dashboard", "key", "add", "pages", "--database", url);
    const { page } = await stage.ann.stranger();
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
    expect(await readFile(await file.path(), "utf8")).toMatch(/^\ufeffkey,label,country,pageviews,/);
    stage.place.run("dashboard", "key", "revoke", "pages", "--database", url);
    // Whoever comes back to the tab asks, as every click does.
    await page.evaluate(() => window.dispatchEvent(new Event("focus")));
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await page.getByText("The API key is not accepted any more.").waitFor();
    await page.close();
  });

  test("reads a public server without signing in", async () => {
    const server = await stage.place.serve(stage.ann.server.database, "--public");
    const { page, errors } = await open(stage.browser, server.root);
    await settled(page);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("button", { name: "Read without signing in" }).click();
    await settled(page);
    expect(errors).toEqual([]);
    await page.close();
  });

  test("is told of an empty database how to fill it", async () => {
    const server = await stage.place.serve(stage.place.database(engine, "empty", null), "--public");
    const { page } = await open(stage.browser, server.root);
    await page.getByRole("heading", { name: "There is no traffic yet" }).waitFor();
    await page.getByText("crossover dashboard generate").waitFor();
    await expectAccessible(page);
    await page.close();
  });

  test("is told which value is not there, and can go on", async () => {
    const { page } = await stage.ann.visit(`?${MAY}&country=XX`);
    await page.getByText("Country is XX (unknown)").waitFor();
    await page.getByText("No traffic matches these filters in").first().waitFor();
    await page.getByRole("button", { name: "Clear the filters" }).first().click();
    await settled(page);
    expect(await page.getByRole("alert").count()).toBe(0);
    expect(wordsOf(page).has("country")).toBe(false);
    await page.close();
  });

  test("is told what to narrow when a question takes too long", async () => {
    const { page } = await stage.ann.visit(`?${MAY}`);
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
    const { page } = await stage.ann.visit(`?${MAY}`);
    await page.route("**/api/**", (route) => route.abort());
    await page.getByRole("button", { name: "Teams", exact: true }).click();
    await page.getByText("The server does not answer.").first().waitFor();
    await page.close();
  });

  test("sees the old answer until the new one comes, and only the last one asked for", async () => {
    const { page } = await stage.ann.visit(`?${MAY}`);
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

  test("sees that the first answers are on their way", async () => {
    const { page } = await stage.ann.visit(`?${MAY}`);
    let release = () => {};
    const held = new Promise<void>((done) => (release = done));
    await page.route("**/api/query/**", async (route) => {
      await held;
      await route.continue();
    });
    await page.reload();
    for (const name of ["Course over time", "Rows"]) {
      await page.locator(`section[aria-label="${name}"][aria-busy=true]`).waitFor();
    }
    release();
    await settled(page);
    expect(await page.locator(".rows tbody tr[data-place]").count()).toBeGreaterThan(0);
    await page.close();
  });

  test("is told where there is nothing, with a way on", async () => {
    const { page } = await stage.ann.visit("?start=2019-01-01&end=2019-01-31");
    await page.getByText(/There is data from .* only/).first().waitFor();
    await page.getByRole("button", { name: /^Show all days/ }).click();
    await settled(page);
    expect(wordsOf(page).get("period")).toBe("all");
    await page.close();
  });

  test("is shown newer data when coming back to the tab, all of it at once", async () => {
    const { page, errors } = await stage.ann.visit("?period=last-7&by=days");
    const url = stage.ann.server.database;
    const { rows } = await stage.ann.asked(page,
      "api/query/articles?start=2022-06-26&end=2022-06-26");
    const article = await stage.ann.asked<{ url: string }>(page, `api/articles/${rows[0]?.key}`);
    stage.place.run("dashboard", "import", "traffic", "--database", url, stage.place.file("day.csv",
      `date,url,country,pageviews,sessions,engagement_seconds\n2022-06-26,${article.url},DE,777000,5,5\n`));
    const total = page.getByRole("group", { name: "Metric" }).locator(".value").first();
    const old = await total.textContent();
    await page.evaluate(() => window.dispatchEvent(new Event("focus")));
    await page.getByText("The data has changed; this is the newest").waitFor();
    await settled(page);
    const answer = await stage.ann.asked(page, "api/query/days?start=2022-06-20&end=2022-06-26");
    expect(answer.totals.pageviews).toBeGreaterThan(777_000);
    expect(await total.textContent()).toBe(number(answer.totals.pageviews));
    expect(await total.textContent()).not.toBe(old);
    const last = page.getByRole("region", { name: "Rows" }).locator("tbody tr[data-place]").last();
    // The traffic of other blogs stays.
    const day = answer.rows.find(({ key }) => key === "2022-06-26")?.pageviews ?? 0;
    expect(await last.locator("td").first().textContent()).toBe(number(day));
    expect(errors).toEqual([]);
    await page.close();
  });

  test("is not shown an answer of newer data beside old ones", async () => {
    const { page } = await stage.ann.visit(`?${MAY}`);
    const dataset = await stage.ann.asked<object>(page, "api/dataset");
    let change = {};
    await page.route("**/api/dataset*", (route) =>
      route.fulfill({ json: { ...dataset, ...change } }));
    // The data changes while the rows are made: whoever asked for its version before heard of the
    // old one, and this question is the last of those.
    await page.route("**/api/query/teams**", async (route) => {
      await page.evaluate(async () => void (await fetch("api/dataset")));
      change = { data_version: "newer" };
      await route.continue();
    });
    const asks: string[] = [];
    page.on("request", (request) => asks.push(new URL(request.url()).pathname));
    await page.getByRole("button", { name: "Teams", exact: true }).click();
    await page.getByText("The data has changed; this is the newest").waitFor();
    await page.getByRole("heading", { name: "Teams", exact: true }).waitFor();
    await settled(page);
    expect(asks, "the chart is asked again too").toContain("/api/query/days");
    await page.close();
  });

  test("chooses light or dark for good, whatever the system prefers", async () => {
    const { page } = await stage.ann.visit(`?${MAY}`, { dark: true });
    const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const dark = await paper();
    await page.getByRole("button", { name: "Light", exact: true }).click();
    const light = await paper();
    expect(light).not.toBe(dark);
    expect(await unreadableTexts(page), "the chart goes with the page").toEqual([]);
    await page.reload();
    await settled(page);
    expect(await paper()).toBe(light);
    await page.getByRole("button", { name: "Auto", exact: true }).click();
    expect(await paper()).toBe(dark);
    await page.close();
  });

  test("groups rows from a list where there is no room for buttons", async () => {
    const { page } = await stage.ann.visit(`?${MAY}`, { width: 390 });
    await page.getByRole("combobox", { name: "Group by" }).selectOption("Teams");
    await page.getByRole("heading", { name: "Teams", exact: true }).waitFor();
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

  // The page draws answers, which both engines give alike: one of them is enough for its looks.
  describe.runIf(engine === "sqlite").each(LOOKS)("$name", ({ look }) => {
    test.each(Object.entries(VIEWS))("%s: accessible, readable, no sideways scroll", async (_, search) => {
      const { page, errors } = await stage.ann.visit(search, look);
      await page.getByText("Numbers of the chart").click();
      await expectAccessible(page);
      await expectNoSidewaysScroll(page);
      expect(await unreadableTexts(page)).toEqual([]);
      expect(errors).toEqual([]);
      await page.close();
    });

    test("what is not there, and a problem", async () => {
      const { page } = await stage.ann.visit("?start=2019-01-01&end=2019-01-31", look);
      await expectAccessible(page);
      await expectNoSidewaysScroll(page);
      await page.route("**/api/query/**", (route) => route.fulfill({ status: 503,
        contentType: "application/problem+json", body: JSON.stringify({ title: "Service Unavailable",
          status: 503, detail: "the query took longer than its limit of 10 s" }) }));
      await page.goto(`${stage.ann.server.root}?${MAY}&country=XX`);
      await page.getByRole("alert").first().waitFor();
      await settled(page);
      await expectAccessible(page);
      await expectNoSidewaysScroll(page);
      await page.close();
    });

    test("an article, open panels and the help", async () => {
      const { page } = await stage.ann.visit("?period=all", look);
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
