// The built report in a real browser, from a file:// address, one page after the other: charts
// drawn and readable, nothing asked of the network, accessible in light and dark, usable at 390
// pixels. REPORT=/path/report.html looks at that report; otherwise at the invented documents.

import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chartRows } from "../../src/report/chart/rows";
import {
  executablePath,
  expectAccessible,
  expectNoSidewaysScroll,
  launch,
  open,
} from "./chromium";
import { drawAll, unreadableTexts } from "./svg-texts";
import { experimentOf, fileOf, given, PAGE_NAMES } from "./pages";

const MEGABYTE = 1_000_000;
/** Pages whose dark look differs from the others' by more than its colours. */
const DARK = given ? PAGE_NAMES : ["article", "twelve", "machines"];

let browser: Browser;
let folder: string;

const urlOf = async (name: string) => pathToFileURL(await fileOf(name, folder)).href;

describe.skipIf(!executablePath)("the report in Chromium", () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "crossover-report-"));
    browser = await launch();
  });
  afterAll(async () => {
    await browser.close();
    await rm(folder, { recursive: true });
  });

  describe.each(PAGE_NAMES)("%s", (name) => {
    test("draws every panel, says the verdict, asks nothing of the network", async () => {
      const file = await fileOf(name, folder);
      const experiment = await experimentOf(file);
      const { page, errors, requests } = await open(browser, pathToFileURL(file).href);
      await drawAll(page);
      for (const row of chartRows(experiment)) {
        const panels = page.locator(`#row-${row.id} figure`);
        expect(await panels.count(), row.id).toBe(row.charts.length);
        for (const [index, chart] of row.charts.entries()) {
          const drawn = await panels.nth(index).locator(".plot svg path[stroke-width='2']").count();
          expect(drawn, `lines of ${chart.id}`).toBe(chart.lines.length);
        }
      }
      const { summary, treatments } = experiment.document;
      expect(await page.locator(".opening .verdict").textContent()).toBe(summary.headline);
      expect(await page.locator("#treatments > .table .engine").count()).toBe(treatments.length);
      const outside = requests.filter((url) => !/^(file|data|blob):/.test(url));
      expect(outside).toEqual([]);
      expect(errors).toEqual([]);
      await page.close();
    });

    test.each(DARK.includes(name) ? ["light", "dark"] : ["light"])(
      "is accessible, its charts' texts are readable: %s",
      async (look) => {
        const { page } = await open(browser, await urlOf(name), {
          dark: look === "dark" });
        await drawAll(page);
        expect(await unreadableTexts(page)).toEqual([]);
        await page.locator("details").evaluateAll((all) => {
          for (const details of all) (details as HTMLDetailsElement).open = true;
        });
        await expectAccessible(page);
        await page.close();
      },
    );

    test("fits 390 pixels", async () => {
      const { page } = await open(browser, await urlOf(name), { width: 390 });
      await drawAll(page);
      await expectNoSidewaysScroll(page);
      expect(await unreadableTexts(page)).toEqual([]);
      await page.close();
    });
  });

  test("the empty page says what it is and stays under a megabyte", async () => {
    const empty = new URL("../../dist/report.html", import.meta.url);
    expect((await stat(empty)).size).toBeLessThan(MEGABYTE);
    const { page, errors } = await open(browser, empty.href);
    expect(await page.locator("main").textContent()).toContain("crossover report RUN");
    expect(errors).toEqual([]);
    await page.close();
  });
});
