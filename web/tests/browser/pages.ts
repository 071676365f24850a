// The reports that the browser tests open: one that was named, or the invented documents.

import { readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { Experiment } from "../../src/report/document/experiment";
import { readReport } from "../../src/report/document/read";
import { PAGES } from "../fixtures/experiments";
import { filledReport } from "../fixtures/inject";

/** A report made by the program, to be held to the same rules. */
export const given = process.env.REPORT;
export const PAGE_NAMES = given ? [given] : Object.keys(PAGES);

/** The file of a page, written into `folder` unless it exists. */
export async function fileOf(name: string, folder: string): Promise<string> {
  if (name === given) return resolve(name);
  const file = join(folder, `${name}.html`);
  const make = PAGES[name];
  if (!make) throw new Error(`no fixture ${name}`);
  await writeFile(file, await filledReport(make()));
  return file;
}

/** The (first) experiment inside a report file, read as the page reads it. */
export async function experimentOf(file: string): Promise<Experiment> {
  const html = await readFile(file, "utf8");
  const data = /<script type="application\/json" id="report">(.*?)<\/script>/s.exec(html)?.[1];
  const { documents, problem } = readReport(data ?? "");
  if (!documents) throw new Error(problem);
  return new Experiment(documents[0]);
}
