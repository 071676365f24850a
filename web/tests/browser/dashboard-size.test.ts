// What the first view of the dashboard loads: the built files, compressed.

import { readdir, readFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";

const DIST = new URL("../../dist/dashboard/", import.meta.url);
const KB = 1_000;

async function scripts(): Promise<{ name: string; compressed: number }[]> {
  const folder = new URL("assets/", DIST);
  const names = (await readdir(folder)).filter((name) => name.endsWith(".js"));
  return Promise.all(names.map(async (name) => ({
    name, compressed: gzipSync(await readFile(new URL(name, folder))).length })));
}

test("all scripts together stay under 250 KB, the chart library comes later", async () => {
  const all = await scripts();
  const index = await readFile(new URL("index.html", DIST), "utf8");
  const first = all.filter(({ name }) => index.includes(name));
  const sum = (of: typeof all) => of.reduce((total, { compressed }) => total + compressed, 0);
  expect(sum(all)).toBeGreaterThan(100 * KB);
  expect(sum(all)).toBeLessThan(250 * KB);
  expect(first.length).toBeGreaterThan(0);
  expect(sum(first)).toBeLessThan(80 * KB);
});

test("the page loads nothing from elsewhere and has no script inside", async () => {
  const index = await readFile(new URL("index.html", DIST), "utf8");
  expect(index).not.toMatch(/(src|href)="https?:/);
  expect(index).not.toMatch(/<script(?![^>]*\bsrc=)/);
});
