// The built dashboard page in a real browser, against a small server that answers as the query
// API's contract says (crate dashboard tests the real one).

import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { extname } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  executablePath,
  expectAccessible,
  expectNoSidewaysScroll,
  launch,
  open,
} from "./chromium";

const DIST = new URL("../../dist/dashboard/", import.meta.url);
const TYPES: Record<string, string> = {
  ".html": "text/html", ".js": "text/javascript", ".css": "text/css",
};
const ROWS = 250;

function answer(url: URL): string {
  const rows = Array.from({ length: ROWS }, (_, index) => ({
    key: `k${index}`, label: `Article ${index + 1} of ${url.searchParams.get("start")}`,
    pageviews: 1_000_000 - index, sessions: 1000 - index, engagement_seconds: 60,
  }));
  const totals = { pageviews: 248_968_875, sessions: 218_875, engagement_seconds: 15_000 };
  return JSON.stringify({ query: {}, totals, row_count: ROWS, rows });
}

/** Serves the page at / and answers queries: 401 without the key, 400 for an unknown blog. */
function serve(): Server {
  return createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://localhost");
    if (!url.pathname.startsWith("/api/")) {
      const file = new URL(`.${url.pathname === "/" ? "/index.html" : url.pathname}`, DIST);
      readFile(file).then(
        (body) => response.writeHead(200, { "Content-Type": TYPES[extname(file.pathname)] })
          .end(body),
        () => response.writeHead(404).end(),
      );
    } else if (request.headers.authorization !== "Bearer right") {
      response.writeHead(401).end();
    } else if (url.searchParams.get("blog") === "nobody") {
      response.writeHead(400, { "Content-Type": "application/problem+json" })
        .end(JSON.stringify({ title: "Bad request", detail: "blog: there is no blog nobody" }));
    } else {
      response.writeHead(200, { "Content-Type": "application/json",
        "Crossover-Engine": "sqlite 3.53.1", "Crossover-Design": "daily",
        "Server-Timing": "db;dur=12.3" }).end(answer(url));
    }
  });
}

describe.skipIf(!executablePath)("the dashboard in Chromium", () => {
  let browser: Browser;
  let server: Server;
  let root: string;
  beforeAll(async () => {
    browser = await launch();
    server = serve();
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    root = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  });
  afterAll(async () => {
    await browser.close();
    server.closeAllConnections();
    server.close();
  });

  async function answered(look: { width?: number; dark?: boolean }, search = "") {
    const watched = await open(browser, root + search, look);
    await watched.page.getByLabel("API key").fill("right");
    await watched.page.getByRole("button", { name: "Show", exact: true }).click();
    return watched;
  }

  test("shows rows, totals and where the answer came from; the URL repeats it", async () => {
    const june = "?grouping=authors&start=2021-06-01&end=2021-06-30";
    const { page, errors } = await answered({}, june);
    await page.getByText("Article 1 of 2021-06-01").waitFor();
    expect(await page.locator(".total").textContent()).toContain("248,968,875");
    expect(await page.locator(".source").textContent()).toContain(
      "Answered by sqlite 3.53.1 · design daily · db 12.3\u00a0ms",
    );
    expect(await page.locator("tbody tr").count()).toBe(101);
    await page.getByRole("button", { name: `Show all ${ROWS} rows` }).click();
    expect(await page.locator("tbody tr").count()).toBe(ROWS + 1);
    expect(page.url()).toBe(root + june);
    await page.reload();
    await page.getByText("Article 1 of 2021-06-01").waitFor();
    expect(errors).toEqual([]);
    await page.close();
  });

  test("a refused key and a refused parameter say what to do", async () => {
    const { page } = await answered({});
    await page.getByText("Article 1 of").waitFor();
    await page.getByRole("textbox", { name: "Blog" }).fill("nobody");
    await page.getByRole("button", { name: "Show", exact: true }).click();
    await page.getByText("blog: there is no blog nobody").waitFor();
    await page.getByLabel("API key").fill("wrong");
    await page.getByRole("button", { name: "Show", exact: true }).click();
    await page.getByText("crossover dashboard key add NAME makes one").waitFor();
    await page.close();
  });

  test.each([["light", false], ["dark", true]])("is accessible: %s", async (_, dark) => {
    const { page } = await answered({ dark });
    await page.getByText("Article 1 of").waitFor();
    await expectAccessible(page);
    await page.close();
  });

  test("fits 390 pixels", async () => {
    const { page } = await answered({ width: 390 });
    await page.getByText("Article 1 of").waitFor();
    await expectNoSidewaysScroll(page);
    await page.close();
  });
});
