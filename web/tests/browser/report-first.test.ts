// What a reader sees first: on a screen of 1440 by 900 the question, the answer, its chart and its
// matrix without scrolling; on a telephone a sign at what lies beyond the edge.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { executablePath, launch, open } from "./chromium";
import { fileOf, given } from "./pages";

let browser: Browser;
let folder: string;

const urlOf = async (name: string) => pathToFileURL(await fileOf(name, folder)).href;

describe.skipIf(!executablePath || given)("the report's first screen", () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "crossover-first-"));
    browser = await launch();
  });
  afterAll(async () => {
    await browser.close();
    await rm(folder, { recursive: true });
  });

  test.each(["article", "flat", "range", "bisected", "three", "throughput", "failing"])(
    "shows answer, chart and matrix without scrolling: %s",
    async (name) => {
      const { page } = await open(browser, await urlOf(name));
      await page.locator(".answer svg text").first().waitFor();
      for (const part of [".opening .verdict", ".answer .plot", ".answer .matrix table"]) {
        const box = await page.locator(part).first().boundingBox();
        expect(box?.y, part).toBeGreaterThanOrEqual(0);
        expect((box?.y ?? 0) + (box?.height ?? 9999), part).toBeLessThanOrEqual(900);
      }
      const [chart, matrix] = await Promise.all([".answer figure", ".answer .matrix"].map((part) =>
        page.locator(part).boundingBox()));
      expect((chart?.x ?? 0) + (chart?.width ?? 0), "side by side").toBeLessThanOrEqual(
        matrix?.x ?? 0);
      await page.close();
    },
  );

  test("says the cores used, and names the gravest warning, which is a link to all", async () => {
    const { page } = await open(browser, await urlOf("article"));
    const small = page.locator(".opening .small").first();
    expect(await small.textContent()).toContain(
      "Processor cores used (1 client): PostgreSQL 18 up to 1.70, SQLite up to 0.98.");
    expect(await small.textContent()).toMatch(/2 warnings:\s+postgres:18 used up to 1\.70 cores/);
    await small.getByRole("link", { name: "2 warnings" }).click();
    const titles = page.locator("#warnings h2");
    expect(await titles.allTextContents()).toEqual(
      ["Doubts that could change the answer", "Remarks"]);
    expect((await titles.first().boundingBox())?.y).toBeLessThan(900);
    await page.close();
  });

  test("sections follow each other in the order of a reader's questions", async () => {
    const { page } = await open(browser, await urlOf("article"));
    const ids = await page.locator("main section[id]").evaluateAll((all) =>
      all.map((section) => section.id));
    expect(ids).toEqual(["thresholds", "details", "charts", "treatments", "requests", "percentiles",
      "counters", "plans", "warnings", "environment", "settings", "repeat", "method"]);
    expect(await page.locator("#method li").first().isVisible()).toBe(false);
    await page.close();
  });

  test("the matrix tells each cell by number and word, and is hovered in words", async () => {
    const { page } = await open(browser, await urlOf("article"));
    const cells = page.locator(".matrix tbody td");
    expect(await cells.count()).toBe(12);
    expect(await cells.first().getAttribute("title")).toMatch(
      /^PostgreSQL 18 by SQLite: 1\.\d\d \(1\.\d\d to 1\.\d\d\), faster$/);
    expect(await page.locator(".matrix tbody th[scope=row]").allTextContents()).toEqual(
      ["1 client", "2 clients", "4 clients"]);
    await page.close();
  });

  test("many rows of a matrix are folded", async () => {
    const { page } = await open(browser, await urlOf("twelve"));
    const rest = page.locator(".matrix details.rest");
    expect(await rest.locator("summary").textContent()).toBe("10 more rows");
    expect(await rest.locator("table").isVisible()).toBe(false);
    await rest.locator("summary").click();
    expect(await rest.locator("tbody th[scope=row]").count()).toBe(10);
    await page.close();
  });

  test("a table wider than 390 pixels has a shadow at the edge where it goes on", async () => {
    const { page } = await open(browser, await urlOf("article"), { width: 390 });
    const box = page.locator("#treatments .edges").first();
    const shadow = (side: string) => box.evaluate((edges, pseudo) =>
      getComputedStyle(edges, pseudo).opacity, side);
    expect([await shadow("::before"), await shadow("::after")]).toEqual(["0", "1"]);
    const scroll = box.locator(".scroll");
    await scroll.focus();
    await scroll.evaluate((element) => (element.scrollLeft = element.scrollWidth));
    await page.waitForFunction(() => document.querySelector("#treatments .edges.before"));
    expect([await shadow("::before"), await shadow("::after")]).toEqual(["1", "0"]);
    await page.close();
  });

  test("several runs: each one's answer first, then their charts and matrices", async () => {
    const { page } = await open(browser, await urlOf("machines"));
    const tops = await Promise.all([".verdicts .verdict", "#row-side-1", ".matrices table",
      "#comparison-warnings"].map(async (part) =>
      (await page.locator(part).first().boundingBox())?.y ?? 0));
    expect(tops).toEqual(tops.toSorted((a, b) => a - b));
    await page.getByRole("link", { name: "1 warning" }).click();
    expect(await page.locator("#comparison-warnings").textContent()).toContain("different");
    await page.close();
  });
});
