// The ranked bars as a value: the first rows by the metric, each with its parts by country where
// rows are split, and what all other rows add up to.

import { type Table, type TableRow, totalRow } from "../tables/table";
import { changeText, compared, isSolid, type PerDay, SESSIONS_WANTED, shareOf, valueOf } from "../data/measure";
import type { Metric } from "../view/view";

export const BARS = 10;

export interface Bar {
  key: string;
  name: string;
  value: number;
  share: number | null;
  /** Against the comparison, in words. */
  change: string;
  /** From 0 to 1 of the longest bar. */
  length: number;
  /** Parts by country, from 0 to 1 of the longest bar; empty without a split. */
  parts: readonly number[];
}

export interface Bars {
  bars: readonly Bar[];
  /** How many rows are not shown, and what they come to; null where that is not a sum. */
  rest: { rows: number; value: number } | null;
  /** Said where not every row was ranked. */
  note: string;
}

function ranked(rows: readonly TableRow[], metric: Metric): { rows: TableRow[]; note: string } {
  const measured = rows.filter(({ metrics, gap }) => !gap && valueOf(metrics, metric) !== null);
  const solid = metric === "engagement"
    ? measured.filter(({ metrics }) => isSolid(metrics))
    : measured;
  const some = solid.length > 0 && solid.length < measured.length;
  const of = solid.length > 0 ? solid : measured;
  return {
    rows: of.toSorted((a, b) =>
      (valueOf(b.metrics, metric) ?? 0) - (valueOf(a.metrics, metric) ?? 0)),
    note: some ? `Of rows with at least ${SESSIONS_WANTED} sessions.` : "",
  };
}

export function barsOf(
  rows: readonly TableRow[], whole: Table["total"], metric: Metric, most = BARS,
  perDay: PerDay | null = null,
): Bars {
  const { rows: all, note } = ranked(rows, metric);
  const shown = all.slice(0, most);
  const longest = Math.max(0, ...shown.map(({ metrics }) => valueOf(metrics, metric) ?? 0)) || 1;
  const total = valueOf(whole.metrics, metric);
  const bars = shown.map((row): Bar => {
    const value = valueOf(row.metrics, metric) ?? 0;
    return {
      key: row.key,
      name: row.name,
      value,
      share: shareOf(value, total, metric),
      change: changeText(...compared(row, metric, perDay)),
      length: value / longest,
      // Averages do not add up to the row's own.
      parts: metric === "engagement" ? []
        : row.parts.map((part) => (valueOf(part, metric) ?? 0) / longest),
    };
  });
  const left = all.slice(most);
  const summable = metric !== "engagement" && left.length > 0;
  const value = summable ? valueOf(totalRow("", left, null).metrics, metric) : null;
  return { bars, rest: value === null ? null : { rows: left.length, value }, note };
}
