// One Chromium for the browser tests, and what every page is held to: no console error, no
// request outside, no accessibility violation, no sideways scroll. Without a Chromium the tests
// are skipped, which is noted.

import { createRequire } from "node:module";
import { readFile } from "node:fs/promises";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { expect } from "vitest";
import { CHROMIUM_FLAGS, findChromium } from "./find-chromium.mjs";
import { noteSkip } from "./skip";

export const executablePath = findChromium();
if (!executablePath) {
  noteSkip("the browser tests", "no Chromium; install one, or name it by CHROMIUM=/path");
}

export function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: executablePath ?? "", args: CHROMIUM_FLAGS });
}

export interface Watched {
  page: Page;
  /** Console errors and uncaught exceptions. */
  errors: string[];
  /** Addresses of everything the page asked for. */
  requests: string[];
}

export interface Appearance {
  width?: number;
  dark?: boolean;
  /** Cookies and storage of a reader who was here before. */
  state?: Awaited<ReturnType<BrowserContext["storageState"]>>;
}

export async function open(
  browser: Browser,
  url: string,
  look: Appearance = {},
): Promise<Watched> {
  const page = await browser.newPage({
    ...(look.state ? { storageState: look.state } : {}),
    viewport: { width: look.width ?? 1440, height: 900 },
    colorScheme: look.dark ? "dark" : "light",
  });
  const errors: string[] = [];
  const requests: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error") errors.push(message.text());
  });
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("request", (request) => requests.push(request.url()));
  await page.goto(url);
  return { page, errors, requests };
}

const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

/** Runs axe-core in the page; by evaluation, because the page's own policy forbids new scripts. */
export async function expectAccessible(page: Page): Promise<void> {
  await page.evaluate(await readFile(axe, "utf8"));
  const violations = await page.evaluate(async () => {
    const { axe } = window as unknown as { axe: typeof import("axe-core") };
    const result = await axe.run();
    return result.violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
  });
  expect(violations).toEqual([]);
}

export async function expectNoSidewaysScroll(page: Page): Promise<void> {
  const widths = await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    return { scrollWidth, clientWidth };
  });
  expect(widths.scrollWidth).toBe(widths.clientWidth);
}
