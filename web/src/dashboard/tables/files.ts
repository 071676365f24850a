// Tables as files: the rows as they are seen, with the question that they answer.

import { csvText } from "../../lib/csv";
import { save, slug } from "../../lib/save";
import type { Period } from "../data/calendar";
import { csvOf, jsonOf, type Table } from "./table";
import { searchOf, type View } from "../view/view";

/** A kind of file and what makes one. */
export type FileMaker = readonly [kind: string, make: () => void | Promise<void>];

interface Told {
  table: Table;
  /** What the rows are; names the files. */
  title: string;
  view: View;
  period: Period;
}

/** The CSV and the JSON of a table. */
export function tableFiles({ table, title, view, period }: Told): FileMaker[] {
  const asked = () => ({ title, ...period,
    view: new URL(searchOf(view), window.location.href).href });
  const hand = (text: string, type: string, ending: string) =>
    save(new Blob([text], { type }), `${slug(title)}.${ending}`);
  return [
    ["CSV", () => hand(csvText(csvOf(table, view.metric)), "text/csv", "csv")],
    ["JSON", () => hand(jsonOf(table, view.metric, asked()), "application/json", "json")],
  ];
}
