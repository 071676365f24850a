// The article's pictures in a real browser: a bar for each line, a group of them for each machine,
// each as long as its ratio; the claims below.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { blobMachines, blobs } from "../fixtures/blobs";
import { executablePath, launch, open } from "./chromium";
import { fileOf, given } from "./pages";

let browser: Browser;
let folder: string;

describe.skipIf(!executablePath || given !== undefined)("blobs in the report", () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "crossover-report-"));
    browser = await launch();
  });
  afterAll(async () => {
    await browser.close();
    await rm(folder, { recursive: true });
  });

  async function page(name: string) {
    const opened = await open(browser, pathToFileURL(await fileOf(name, folder)).href);
    return opened.page;
  }

  test("bars are as long as their ratios say, and the claims are told", async () => {
    const report = await page("blobs");
    const part = blobs().blob;
    const bars = report.locator("#picture-read_sql .bar");
    const widths = await bars.evaluateAll((all) =>
      all.map((bar) => bar.getBoundingClientRect().width));
    const ratios = [1, ...(part?.pictures[0]?.bars ?? []).map((bar) => bar.ratio.value)];
    expect(widths.length).toBe(ratios.length);
    widths.forEach((width, index) => {
      expect(width / (widths[0] ?? 1)).toBeCloseTo(ratios[index] ?? 0, 1);
    });
    const claims = await report.locator("#blobs table").last().locator("tbody tr").allTextContents();
    expect(claims.length).toBe(part?.claims.length);
    expect(claims[0]).toContain("holds");
    expect(claims[1]).toContain("not measured");
    await report.close();
  });

  test("several machines are beside each other, each by its own SQLite", async () => {
    const report = await page("blob_machines");
    const side = report.locator("#machine-read_sql tbody");
    expect(await side.count()).toBe(blobMachines().documents.length);
    expect(await side.last().textContent()).toContain("Laptop: 8 cores");
    for (const group of await side.all()) {
      expect(await group.locator("tr td.number").first().textContent()).toBe("1");
    }
    await report.close();
  });
});
