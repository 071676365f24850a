// npm run picture -- report.html out.png [--whole] [--dark] [--width 390]: the top of a report as a
// picture for the README, from the title to the chart and the matrix that answer it, 1280 pixels
// wide; or all of it, dark, as wide as a telephone: to be looked at.

import { resolve } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { chromium } from "playwright-core";
import { CHROMIUM_FLAGS, findChromium } from "../tests/browser/find-chromium.mjs";

const WIDTH = 1280;
const MARGIN = 24;

/** @typedef {{ whole: boolean, dark: boolean, width: number }} Look */

/**
 * Charts are drawn when they come near the window, so the page is scrolled through first.
 * @param {import("playwright-core").Page} page
 */
async function drawAll(page) {
  await page.evaluate(async () => {
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    for (let y = 0; y < document.documentElement.scrollHeight; y += window.innerHeight) {
      window.scrollTo(0, y);
      await frame();
      await frame();
    }
    window.scrollTo(0, 0);
  });
}

/**
 * @param {string} report
 * @param {string} picture
 * @param {Look} look
 * @param {string} executablePath
 */
async function take(report, picture, look, executablePath) {
  const { whole, dark, width } = look;
  const browser = await chromium.launch({ executablePath, args: CHROMIUM_FLAGS });
  try {
    const page = await browser.newPage({
      viewport: { width, height: 900 }, colorScheme: dark ? "dark" : "light" });
    await page.goto(pathToFileURL(resolve(report)).href);
    await drawAll(page);
    if (whole) {
      await page.screenshot({ path: picture, fullPage: true });
      return;
    }
    const row = await page.locator("main .answer").first().boundingBox();
    if (!row) throw new Error(`${report} shows no chart`);
    const height = Math.ceil(row.y + row.height + MARGIN);
    await page.screenshot({ path: picture, clip: { x: 0, y: 0, width, height }, fullPage: true });
  } finally {
    await browser.close();
  }
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { whole: { type: "boolean", default: false }, dark: { type: "boolean", default: false },
    width: { type: "string", default: String(WIDTH) } },
});
const [report, picture] = positionals;
const width = Number(values.width);
if (!report || !picture || !(width >= 200)) {
  console.error("Usage: npm run picture -- report.html out.png [--whole] [--dark] [--width 390]");
  process.exit(2);
}
const executablePath = findChromium();
if (!executablePath) {
  console.error("No Chromium on this machine: install one, or name it in CHROMIUM.");
  process.exit(1);
}
await take(report, picture, { whole: values.whole, dark: values.dark, width }, executablePath);
console.log(picture);
