// Tables as files: the rows as shown, with the question that they answer.

import { csvText } from "../../lib/csv";
import { save, slug } from "../../lib/save";
import type { ListedArticle, Outcome } from "../data/api";
import type { Period } from "../data/calendar";
import { csvOf, jsonOf, type Table } from "./table";
import { searchOf, type View } from "../view/view";

/** A kind of file and what makes one. */
export type FileMaker = readonly [kind: string, make: () => void | Promise<void>];

/** Without it spreadsheets take a CSV for one of their own encoding. */
export const BYTE_ORDER_MARK = "\ufeff";

/** Further columns of a CSV, by the keys of its rows. */
export interface FurtherColumns {
  header: readonly string[];
  cells: (key: string) => readonly string[];
}

interface Told {
  table: Table;
  /** What the rows are; names the files. */
  title: string;
  view: View;
  period: Period;
  /** Further columns of each row of the CSV; null where they cannot be had. */
  further?: (() => Promise<FurtherColumns | null>) | undefined;
}

/** The rows as shown, with further columns behind the name. */
export async function tableCsv({ table, view, further }: Told): Promise<string> {
  const { header, rows } = csvOf(table, view.metric);
  const more = further && await further();
  const wide = more ? { header: header.toSpliced(2, 0, ...more.header),
    rows: rows.map((row) => row.toSpliced(2, 0, ...more.cells(String(row[0])))) } : { header, rows };
  return BYTE_ORDER_MARK + csvText(wide);
}

/** What a CSV of articles tells beside their titles. */
export function articleColumns(articles: readonly ListedArticle[]): FurtherColumns {
  const found = new Map(articles.map((one) => [one.uuid, one]));
  return {
    header: ["url", "author", "team", "published"],
    cells: (key) => {
      const one = found.get(key);
      return [one?.url ?? "", one?.author ?? "", one?.team ?? "", one?.published ?? ""];
    },
  };
}

/** URLs and titles of all articles: a title alone may be ambiguous. */
export async function aboutArticles(
  client: { ask: <T>(address: string) => Promise<Outcome<T>>; say: (message: string) => void },
): Promise<FurtherColumns | null> {
  const { answer, problem } = await client.ask<ListedArticle[]>("api/articles");
  if (problem) client.say(problem.detail);
  return answer && articleColumns(answer);
}

/** The CSV and the JSON of a table. */
export function tableFiles(told: Told): FileMaker[] {
  const { table, title, view, period } = told;
  const asked = () => ({ title, ...period,
    view: new URL(searchOf(view), window.location.href).href });
  const hand = (text: string, type: string, ending: string) =>
    save(new Blob([text], { type }), `${slug(title)}.${ending}`);
  return [
    ["CSV", () => tableCsv(told).then((text) => hand(text, "text/csv", "csv"))],
    ["JSON", () => hand(jsonOf(table, view.metric, asked()), "application/json", "json")],
  ];
}
