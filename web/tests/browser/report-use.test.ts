// A reader at work in the report: choices and their link, hover, downloads, tables, plans, runs
// side by side, keys alone, paper.

import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { executablePath, launch, open } from "./chromium";
import { fileOf, given } from "./pages";
import { unreadableTexts } from "./svg-texts";

let browser: Browser;
let folder: string;

const urlOf = async (name: string) => pathToFileURL(await fileOf(name, folder)).href;

async function download(page: Page, button: Locator): Promise<string> {
  const [file] = await Promise.all([page.waitForEvent("download"), button.click()]);
  const path = join(folder, file.suggestedFilename());
  await file.saveAs(path);
  return path;
}

const lines = (page: Page, row: string) =>
  page.locator(`#row-${row} figure`).first().locator(".plot svg path[stroke-width='2']");

describe.skipIf(!executablePath || given)("a reader of the report", () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "crossover-use-"));
    browser = await launch();
  });
  afterAll(async () => {
    await browser.close();
    await rm(folder, { recursive: true });
  });

  test("chooses scales, axes and theme; the link shows the same to another", async () => {
    const { page, errors } = await open(browser, await urlOf("article"));
    const first = page.locator("#charts .row").first();
    await first.scrollIntoViewIfNeeded();
    await first.locator("svg").first().waitFor();
    const zero = first.locator("svg text", { hasText: /^0$/ });
    const tick = first.locator("svg text", { hasText: /^quarter$/ }).first();
    expect(await zero.count()).toBeGreaterThan(0);
    const before = await tick.boundingBox();
    for (const [group, button] of [["Scale of the y axes", "Log"],
      ["Scale of the x axes", "Linear"], ["Range of the y axes", "Common axes"],
      ["Theme", "Dark"]] as const) {
      await page.getByRole("group", { name: group }).getByRole("button", { name: button }).click();
    }
    expect(await zero.count()).toBe(0);
    expect((await tick.boundingBox())?.x).toBeLessThan((before?.x ?? 0) - 10);
    expect(new URL(page.url()).hash).toBe("#scale=log&x=linear&axes=common&theme=dark");
    const again = await open(browser, page.url());
    const pressed = await again.page.locator("button[aria-pressed=true]").allTextContents();
    expect(pressed.map((text) => text.trim())).toEqual(
      expect.arrayContaining(["Log", "Linear", "Common axes", "Dark"]));
    await expect(again.page.locator("body").evaluate((body) =>
      getComputedStyle(body).backgroundColor)).resolves.toBe("rgb(15, 18, 22)");
    expect(await unreadableTexts(again.page)).toEqual([]);
    expect([...errors, ...again.errors]).toEqual([]);
    await page.close();
    await again.page.close();
  });

  test("hovers over a level and sees every engine's value", async () => {
    const { page } = await open(browser, await urlOf("article"));
    const plot = page.locator(".plot").first();
    await plot.scrollIntoViewIfNeeded();
    const box = await plot.boundingBox();
    if (!box) throw new Error("no plot");
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await plot.locator("td", { hasText: "PostgreSQL 18" }).waitFor();
    await page.close();
  });

  test("hides engines where there are many", async () => {
    const { page } = await open(browser, await urlOf("twelve"));
    await page.locator("#row-mean").scrollIntoViewIfNeeded();
    await page.locator("#row-mean figure svg").first().waitFor();
    expect(await lines(page, "mean").count()).toBe(12);
    await page.getByRole("button", { name: /^mariadb/ }).click();
    expect(await lines(page, "mean").count()).toBe(11);
    expect(await page.locator(".answer .plot svg path[stroke-width='2']").count()).toBe(11);
    expect(new URL(page.url()).hash).toBe("#hide=mariadb%3A11.8");
    await page.getByRole("button", { name: /^mariadb/ }).click();
    expect(await lines(page, "mean").count()).toBe(12);
    await page.close();
  });

  test("chooses the treatment whose percentiles are drawn", async () => {
    const { page } = await open(browser, await urlOf("article"));
    const title = page.locator("#percentiles figure h4");
    await page.getByLabel("Treatment", { exact: true }).selectOption({ label: "month, 2 clients" });
    expect(await title.textContent()).toBe("month, 2 clients");
    await page.locator("#percentiles").scrollIntoViewIfNeeded();
    await page.locator("#percentiles svg text", { hasText: "p90" }).waitFor();
    expect(new URL(page.url()).hash).toMatch(/^#percentiles=\d+$/);
    await page.reload();
    expect(await title.textContent()).toBe("month, 2 clients");
    await page.close();
  });

  test("downloads a chart as SVG and as PNG", async () => {
    const { page, errors } = await open(browser, await urlOf("article"));
    const figure = page.locator("figure").first();
    for (const [format, starts] of [["SVG", "<svg "], ["PNG", "\u0089PNG"]] as const) {
      const path = await download(page, figure.getByRole("button", { name: format }));
      expect(path).toMatch(new RegExp(`\\.${format.toLowerCase()}$`));
      expect((await readFile(path)).toString("latin1", 0, starts.length)).toBe(starts);
      expect((await stat(path)).size).toBeGreaterThan(5_000);
    }
    expect(errors).toEqual([]);
    await page.close();
  });

  test("has every table as CSV, with its numbers in full", async () => {
    const { page, errors } = await open(browser, await urlOf("article"));
    await page.locator("details").evaluateAll((all) => {
      for (const details of all) (details as HTMLDetailsElement).open = true;
    });
    await page.getByRole("button", { name: "Counters of all treatments" }).waitFor();
    const boxes = page.locator(".scroll:has(table)");
    expect(await page.locator(".table button", { hasText: "CSV" }).count()).toBe(
      await boxes.count());
    const path = await download(page, page.getByRole("button", {
      name: "Download as CSV: Table of all treatments" }));
    const [header = "", first = "", ...rest] = (await readFile(path, "utf8")).split("\r\n");
    expect(header).toMatch(/^days,clients,engine,response_time_ms_mean,response_time_ms_mean_low/);
    expect(first).toMatch(/^7,1,sqlite,\d+\.\d{6,},/);
    expect(rest.filter(Boolean)).toHaveLength(23);
    expect(errors).toEqual([]);
    await page.close();
  });

  test("reads thresholds, notes and both plans beside the crossing", async () => {
    const { page } = await open(browser, await urlOf("article"));
    expect(await page.locator("#thresholds h2").textContent()).toBe(
      "Thresholds: 1 missed, 1 not told, of 3");
    expect(await page.locator("#counters .note").textContent()).toContain(
      "postgres:18 (year, 1 client; year, 2 clients; year, 4 clients): spilled 25 MB of a sort");
    const change = page.locator("#details details").first();
    await change.locator("summary").click();
    const plans = change.locator(".plan");
    expect(await plans.count()).toBe(2);
    expect(await plans.nth(1).locator("mark").allTextContents()).toContainEqual(
      expect.stringContaining("Parallel Seq Scan"));
    expect(await page.locator("#settings h4").first().textContent()).toBe(
      "Started with work_mem=16MB");
    await page.close();
  });

  test("reads what each factor does", async () => {
    const { page } = await open(browser, await urlOf("twist"));
    const groups = page.locator("#effects .group");
    expect(await groups.count()).toBe(9);
    expect(await groups.nth(2).textContent()).toContain("work_mem 16MB instead of 4MB");
    expect(await page.locator("#effects thead th").allTextContents()).toEqual(
      ["Engine", "month", "quarter", "year"]);
    await page.close();
  });

  test("compares runs side by side and opens one of them in full", async () => {
    const { page, errors } = await open(browser, await urlOf("machines"));
    expect(await page.locator(".verdicts section").count()).toBe(3);
    const row = page.locator("#row-side-1");
    await row.locator("svg").nth(2).waitFor();
    const tops = await row.locator("figure").evaluateAll((figures) => figures.map((figure) => {
      const ticks = [...figure.querySelectorAll("svg text")].map((text) => text.textContent ?? "");
      return ticks.filter((text) => text.endsWith("\u00a0s")).at(-1);
    }));
    expect(new Set(tops).size, "the document asks for common axes").toBe(1);
    expect(await page.locator("#row-side-2 figure").nth(2).textContent()).toContain(
      "Nothing was measured here");
    expect(await page.locator("#differences tbody tr").count()).toBe(2);
    await page.getByRole("button", { name: "Run 3", exact: true }).click();
    expect(await page.locator(".opening .verdict").textContent()).toBe(
      "postgres:18 is faster at every period measured.");
    expect(new URL(page.url()).hash).toBe("#run=3");
    expect(errors).toEqual([]);
    await page.close();
  });

  test("gets everywhere by keys, and sees where the focus is", async () => {
    const { page } = await open(browser, await urlOf("article"));
    const log = page.getByRole("group", { name: "Scale of the y axes" }).getByRole("button", {
      name: "Log" });
    for (let presses = 0; presses < 60; presses += 1) {
      await page.keyboard.press("Tab");
      if (await log.evaluate((button) => button === document.activeElement)) break;
    }
    expect(await log.evaluate((button) => getComputedStyle(button).outlineStyle)).toBe("solid");
    await page.keyboard.press("Enter");
    expect(await log.getAttribute("aria-pressed")).toBe("true");
    await page.close();
  });

  test("gets light charts that fit their boxes on paper", async () => {
    const { page } = await open(browser, `${await urlOf("article")}#theme=dark`);
    await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
    const overflow = await page.locator(".plot").evaluateAll((plots) =>
      // A chart that paper leaves out has no box.
      plots.filter((plot) => plot.clientWidth > 0).filter((plot) => {
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

  test.each(["article", "three", "throughput"])("finds %s on two to four pages", async (name) => {
    const { page } = await open(browser, await urlOf(name));
    const pdf = (await page.pdf({ preferCSSPageSize: true })).toString("latin1");
    const pages = pdf.match(/\/Type\s*\/Page\b/g)?.length ?? 0;
    expect(pages).toBeGreaterThanOrEqual(2);
    expect(pages).toBeLessThanOrEqual(4);
    await page.close();
  });

  test("finds on paper the warnings that the screen keeps folded", async () => {
    const { page } = await open(browser, await urlOf("failing"));
    const last = page.getByText("Warning 9: block means rise by 11%.");
    expect(await last.isVisible()).toBe(false);
    await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
    expect(await last.isVisible()).toBe(true);
    await page.evaluate(() => window.dispatchEvent(new Event("afterprint")));
    expect(await last.isVisible()).toBe(false);
    await page.close();
  });
});
