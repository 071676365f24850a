// The report of `crossover try`: the verdict first, ratios by statement, SQL to paste, reasons of what
// was not measured, and no figure over unrelated statements as an answer.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { executablePath, launch, open } from "./chromium";
import { fileOf, given } from "./pages";

let browser: Browser;
let folder: string;
let page: Page;

describe.skipIf(!executablePath || given)("the report of a plan with steps", () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "crossover-steps-"));
    browser = await launch();
    ({ page } = await open(browser, pathToFileURL(await fileOf("steps", folder)).href));
  });
  afterAll(async () => {
    await browser.close();
    await rm(folder, { recursive: true });
  });

  const row = (name: string) => page.locator("#statements tbody tr", {
    has: page.locator(".name", { hasText: new RegExp(`^${name}$`) }) });

  test("opens with the verdict, the versions below it, then the table", async () => {
    const verdict = page.locator(".opening .verdict");
    expect(await verdict.textContent()).toMatch(
      /^SQLite is enough with 2 indexes: it is then not slower than PostgreSQL 18/);
    expect(await page.locator(".opening .versions").textContent()).toContain(
      "PostgreSQL 18.1 (a build without JIT)");
    const tops = await Promise.all([".opening .verdict", ".opening .versions", "#statements table",
      "#to-do", "#not-measured", "#together"].map(async (part) =>
      (await page.locator(part).first().boundingBox())?.y ?? 0));
    expect(tops).toEqual(tops.toSorted((a, b) => a - b));
    expect(tops[2], "the table begins on the first screen").toBeLessThan(900);
  });

  test("each statement has both engines' times, ratios, and what every step brought", async () => {
    const names = await page.locator("#statements tbody .name").allTextContents();
    expect(names[0]).toBe("The log's total");
    expect(names.length).toBe(5);
    const orders = row("select orders by customer_id, day");
    const cells = await orders.locator("td").allTextContents();
    expect(cells.map((cell) => cell.replace(/\s+/g, " ").trim())).toEqual([
      expect.stringMatching(/^SQLite 2\.\d+ times as fast 95%: [\d.]+ to [\d.]+$/),
      expect.stringMatching(/^11\d$/),
      expect.stringMatching(/^0\.4\d* ▲ 2\d\d times as fast$/),
      expect.stringMatching(/^0\.4\d* (= equal|\? undecided|▲ 1\.0\d* times as fast)$/),
      expect.stringMatching(/^3\d(\.\d)?$/),
      expect.stringMatching(/^(0\.9|1\.0|0\.98)\d* ▲ 3\d(\.\d)? times as fast$/),
    ]);
    const slower = row("select order_items, products by order_id");
    expect(await slower.textContent()).toMatch(/▼\s+1\.3\d times as slow/);
    expect(await slower.textContent()).toContain("a difference below 5% of the log's total");
    await orders.locator("summary").click();
    expect(await orders.locator("pre").textContent()).toContain('ORDER BY "day" DESC LIMIT 20');
  });

  test("the SQL to paste is copied by its button", async () => {
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    const toDo = page.locator("#to-do");
    expect(await toDo.locator("h2").textContent()).toBe("What to do");
    const sql = await toDo.locator("pre").textContent();
    expect(sql?.split("\n").length).toBe(3);
    await toDo.getByRole("button", { name: "Copy: SQLite, 2 indexes" }).click();
    const status = toDo.getByRole("status");
    await status.filter({ hasText: /Copied|Selected/ }).waitFor();
    const taken = (await status.textContent()) === "Copied"
      ? await page.evaluate(() => navigator.clipboard.readText())
      : await page.evaluate(() => window.getSelection()?.toString());
    expect(taken).toBe(sql);
  });

  test("what was not measured is listed with its place and reason", async () => {
    const item = page.locator("#not-measured li");
    expect(await item.count()).toBe(1);
    expect(await item.textContent()).toMatch(
      /^select invoices by customer_id \(debug\.log, line 4711\): answers differ: column total/);
    const links = page.getByRole("navigation", { name: "Contents" });
    expect(await links.getByRole("link", { name: "Not measured" }).count()).toBe(1);
  });

  test("no chart of means or percentiles over unrelated statements", async () => {
    expect(await page.locator("main figure, main .plot, main .matrix").count()).toBe(0);
    expect(await page.locator("#charts, #percentiles, .answer").count()).toBe(0);
    expect(await page.locator("#together").textContent()).toContain("answer no question");
  });
});
