// npm run picture -- report.html out.png: the top of a report as a picture for the README, from
// the title to the first row of charts, 1280 pixels wide.

import { resolve } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { CHROMIUM_FLAGS, findChromium } from "../tests/browser/find-chromium.mjs";

const WIDTH = 1280;
const MARGIN = 24;

/**
 * @param {string} report
 * @param {string} picture
 * @param {string} executablePath
 */
async function take(report, picture, executablePath) {
  const browser = await chromium.launch({ executablePath, args: CHROMIUM_FLAGS });
  try {
    const page = await browser.newPage({ viewport: { width: WIDTH, height: 900 } });
    await page.goto(pathToFileURL(resolve(report)).href);
    const row = await page.locator("#charts .row").first().boundingBox();
    if (!row) throw new Error(`${report} shows no chart`);
    const height = Math.ceil(row.y + row.height + MARGIN);
    const clip = { x: 0, y: 0, width: WIDTH, height };
    await page.screenshot({ path: picture, clip, fullPage: true });
  } finally {
    await browser.close();
  }
}

const [report, picture] = process.argv.slice(2);
if (!report || !picture) {
  console.error("Usage: npm run picture -- report.html out.png");
  process.exit(2);
}
const executablePath = findChromium();
if (!executablePath) {
  console.error("No Chromium on this machine: install one, or name it in CHROMIUM.");
  process.exit(1);
}
await take(report, picture, executablePath);
console.log(picture);
