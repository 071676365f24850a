// The built report in a real browser, from a file:// address, one page after the other: charts
// drawn and readable, nothing asked of the network, accessible in light and dark, usable at 390
// pixels. REPORT=/path/report.html looks at that report; otherwise at the invented documents.

import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { chartRows } from "../../src/report/chart/rows";
import {
  type Appearance,
  executablePath,
  expectAccessible,
  expectNoSidewaysScroll,
  launch,
  open,
  type Watched,
} from "./chromium";
import { drawAll, unreadableTexts } from "./svg-texts";
import { experimentOf, fileOf, given, PAGE_NAMES } from "./pages";

const MEGABYTE = 1_000_000;
/** Pages whose dark look differs from the others' by more than its colours. */
const DARK = given ? PAGE_NAMES : ["article", "twelve", "machines"];

let folder: string;

/** A page in a browser of its own: one that hangs (seen once in twenty runs of a loaded machine)
 *  takes no other test with it, and the test that is repeated gets another. */
async function visit(url: string, look: Appearance, use: (watched: Watched) => Promise<void>) {
  const browser = await launch();
  onTestFinished(() => browser.close());
  await use(await open(browser, url, look));
}

async function openAllDetails(page: Page) {
  await page.locator("details").evaluateAll((all) => {
    for (const details of all) (details as HTMLDetailsElement).open = true;
  });
}

describe.skipIf(!executablePath)("the report in Chromium", () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "crossover-report-"));
  });
  afterAll(() => rm(folder, { recursive: true }));

  describe.each(PAGE_NAMES)("%s", (name) => {
    test("draws every panel, says the verdict, can be read; asks nothing of the network", async () => {
      const file = await fileOf(name, folder);
      const experiment = await experimentOf(file);
      await visit(pathToFileURL(file).href, {}, async ({ page, errors, requests }) => {
        await drawAll(page);
        for (const row of chartRows(experiment)) {
          const panels = page.locator(`#row-${row.id} figure`);
          expect(await panels.count(), row.id).toBe(row.charts.length);
          for (const [index, chart] of row.charts.entries()) {
            const lines = panels.nth(index).locator(".plot svg path[stroke-width='2']");
            expect(await lines.count(), `lines of ${chart.id}`).toBe(chart.lines.length);
          }
        }
        const { summary, treatments } = experiment.document;
        expect(await page.locator(".opening .verdict").textContent()).toBe(summary.headline);
        expect(await page.locator("#treatments > .table .engine").count()).toBe(treatments.length);
        expect(await unreadableTexts(page)).toEqual([]);
        await openAllDetails(page);
        await expectAccessible(page);
        expect(requests.filter((url) => !/^(file|data|blob):/.test(url))).toEqual([]);
        expect(errors).toEqual([]);
      });
    });

    test.runIf(DARK.includes(name))("can be read in the dark", async () => {
      const url = pathToFileURL(await fileOf(name, folder)).href;
      await visit(url, { dark: true }, async ({ page }) => {
        await drawAll(page);
        expect(await unreadableTexts(page)).toEqual([]);
        await openAllDetails(page);
        await expectAccessible(page);
      });
    });

    test("fits 390 pixels", async () => {
      const url = pathToFileURL(await fileOf(name, folder)).href;
      await visit(url, { width: 390 }, async ({ page }) => {
        await drawAll(page);
        await expectNoSidewaysScroll(page);
        expect(await unreadableTexts(page)).toEqual([]);
      });
    });
  });

  test("the empty page says what it is and stays under a megabyte", async () => {
    const empty = new URL("../../dist/report.html", import.meta.url);
    expect((await stat(empty)).size).toBeLessThan(MEGABYTE);
    await visit(empty.href, {}, async ({ page, errors }) => {
      expect(await page.locator("main").textContent()).toContain("crossover report RUN");
      expect(errors).toEqual([]);
    });
  });
});
