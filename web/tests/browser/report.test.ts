// The built report in a real browser, from a file:// address: charts drawn, nothing asked of the
// network, accessible in light and dark, usable at 390 pixels, downloads and print that work.
// REPORT=/path/report.html looks at that report; otherwise at the invented documents.

import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chartRows } from "../../src/report/chart/rows";
import { Experiment } from "../../src/report/experiment";
import { readReport } from "../../src/report/read";
import { FIXTURES } from "../fixtures/experiments";
import { filledReport } from "../fixtures/inject";
import {
  executablePath,
  expectAccessible,
  expectNoSidewaysScroll,
  launch,
  open,
} from "./chromium";

const given = process.env.REPORT;
const names = given ? [given] : Object.keys(FIXTURES);
const MEGABYTE = 1_000_000;

let browser: Browser;
let folder: string;

async function fileOf(name: string): Promise<string> {
  if (given) return resolve(given);
  const file = join(folder, `${name}.html`);
  const make = FIXTURES[name];
  if (!make) throw new Error(`no fixture ${name}`);
  await writeFile(file, await filledReport(make()));
  return file;
}

/** The experiment inside a report file, read as the page reads it. */
async function experimentOf(file: string): Promise<Experiment> {
  const html = await readFile(file, "utf8");
  const data = /<script type="application\/json" id="report">(.*?)<\/script>/s.exec(html)?.[1];
  const { documents, problem } = readReport(data ?? "");
  if (!documents) throw new Error(problem);
  return new Experiment(documents[0]);
}

describe.skipIf(!executablePath)("the report in Chromium", () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "crossover-report-"));
    browser = await launch();
  });
  afterAll(async () => {
    await browser.close();
    await rm(folder, { recursive: true });
  });

  describe.each(names)("%s", (name) => {
    test("draws every panel, says the verdict, asks nothing of the network", async () => {
      const file = await fileOf(name);
      const experiment = await experimentOf(file);
      const { page, errors, requests } = await open(browser, pathToFileURL(file).href);
      for (const row of chartRows(experiment)) {
        const panels = page.locator(`#row-${row.id} figure`);
        expect(await panels.count(), row.id).toBe(row.charts.length);
        for (const [index, chart] of row.charts.entries()) {
          const drawn = await panels.nth(index).locator(".plot svg path[stroke-width='2']").count();
          expect(drawn, `lines of ${chart.id}`).toBe(chart.lines.length);
        }
      }
      const { verdict, treatments } = experiment.document;
      expect(await page.locator(".verdict").textContent()).toBe(verdict.headline);
      expect(await page.locator("#treatments > .scroll .engine").count()).toBe(treatments.length);
      const outside = requests.filter((url) => !/^(file|data|blob):/.test(url));
      expect(outside).toEqual([]);
      expect(errors).toEqual([]);
      await page.close();
    });

    test.each([["light", false], ["dark", true]])("is accessible: %s", async (_, dark) => {
      const url = pathToFileURL(await fileOf(name)).href;
      const { page } = await open(browser, url, { dark });
      await page.locator("details").evaluateAll((all) => {
        for (const details of all) (details as HTMLDetailsElement).open = true;
      });
      await expectAccessible(page);
      await page.close();
    });

    test("fits 390 pixels", async () => {
      const url = pathToFileURL(await fileOf(name)).href;
      const { page } = await open(browser, url, { width: 390 });
      await expectNoSidewaysScroll(page);
      await page.close();
    });
  });

  test("scale, axes and theme follow the buttons and live in the URL", async () => {
    const url = pathToFileURL(await fileOf(names[0] ?? "")).href;
    const { page, errors } = await open(browser, url);
    const zero = page.locator("#charts .row").first().locator("svg text", { hasText: /^0$/ });
    expect(await zero.count()).toBeGreaterThan(0);
    for (const button of ["Log", "Common axes", "Dark"]) {
      await page.getByRole("button", { name: button, exact: true }).click();
    }
    expect(await zero.count()).toBe(0);
    expect(new URL(page.url()).hash).toBe("#scale=log&axes=common&theme=dark");
    const again = await open(browser, page.url());
    const pressed = again.page.locator("button[aria-pressed=true]");
    expect(await pressed.allTextContents()).toEqual(
      expect.arrayContaining([expect.stringContaining("Log"), expect.stringContaining("Dark")]),
    );
    const dark = "rgb(15, 18, 22)";
    await expect(again.page.locator("body").evaluate((body) =>
      getComputedStyle(body).backgroundColor)).resolves.toBe(dark);
    expect([...errors, ...again.errors]).toEqual([]);
    await page.close();
    await again.page.close();
  });

  test("hovering shows the values of a level", async () => {
    const file = await fileOf(names[0] ?? "");
    const [engine = ""] = (await experimentOf(file)).engines;
    const { page } = await open(browser, pathToFileURL(file).href);
    const plot = page.locator(".plot").first();
    await plot.scrollIntoViewIfNeeded();
    const box = await plot.boundingBox();
    if (!box) throw new Error("no plot");
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await plot.getByText(engine, { exact: true }).waitFor();
    await page.close();
  });

  test("downloads a chart as SVG and as PNG", async () => {
    const { page, errors } = await open(browser, pathToFileURL(await fileOf(names[0] ?? "")).href);
    const figure = page.locator("figure").first();
    for (const [format, starts] of [["SVG", "<svg "], ["PNG", "\u0089PNG"]] as const) {
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        figure.getByRole("button", { name: format }).click(),
      ]);
      const path = join(folder, download.suggestedFilename());
      await download.saveAs(path);
      expect(path).toMatch(new RegExp(`\\.${format.toLowerCase()}$`));
      expect((await readFile(path)).toString("latin1", 0, starts.length)).toBe(starts);
      expect((await stat(path)).size).toBeGreaterThan(5_000);
    }
    expect(errors).toEqual([]);
    await page.close();
  });

  test("on paper charts fit their boxes and are light", async () => {
    const url = `${pathToFileURL(await fileOf(names[0] ?? "")).href}#theme=dark`;
    const { page } = await open(browser, url);
    await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
    const overflow = await page.locator(".plot").evaluateAll((plots) =>
      plots.filter((plot) => {
        const svg = plot.querySelector("svg");
        return !svg || Math.abs(svg.getBoundingClientRect().width - plot.clientWidth) > 1;
      }).length,
    );
    expect(overflow).toBe(0);
    const surface = await page.locator("figure").first().evaluate((figure) =>
      getComputedStyle(figure).backgroundColor);
    expect(surface).toBe("rgb(255, 255, 255)");
    await page.close();
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
