// The columns of a table as values: how a reader sees each, and its numbers in full as CSV.

import type { Cell, Csv } from "../../lib/csv";
import type { Estimate } from "../document/document";

export interface Column<Row> {
  title: string;
  show: (row: Row) => string;
  /** Names and values in a CSV file. */
  csv: readonly (readonly [string, (row: Row) => Cell])[];
  /** How a cell stands out, if it does. */
  tone?: (row: Row) => "strong" | "caution" | "muted" | undefined;
  /** Names the row: an engine with its line of the charts, anything else, or code. */
  heading?: "engine" | "name" | "code";
  /** A text, where most columns hold numbers. */
  text?: boolean;
  /** Only in the CSV file. */
  hidden?: boolean;
}

type Part = "value" | "low" | "high";

/** An estimate with its bounds, which are NAME_low and NAME_high unless named. */
export function estimateCsv<Row>(
  name: string,
  estimate: (row: Row) => Estimate | null | undefined,
  [low, high] = [`${name}_low`, `${name}_high`],
): Column<Row>["csv"] {
  const part = (of: Part) => (row: Row) => estimate(row)?.[of];
  return [[name, part("value")], [low, part("low")], [high, part("high")]];
}

export const strongIf = (holds: unknown) => (holds ? "strong" : undefined);

/** A column of text. */
export function text<Row>(
  title: string,
  name: string,
  show: (row: Row) => string,
  more: Partial<Column<Row>> = {},
): Column<Row> {
  return { title, show, csv: [[name, show]], text: true, ...more };
}

export function columnsCsv<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): Csv {
  const all = columns.flatMap((column) => column.csv);
  return {
    header: all.map(([name]) => name),
    rows: rows.map((row) => all.map(([, value]) => value(row))),
  };
}
