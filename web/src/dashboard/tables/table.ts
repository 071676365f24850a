// The table of all rows as a value: its columns, which rows are found and in which order, the row
// of totals, and the same as CSV and JSON. Nothing here draws.

import type { Cell, Csv } from "../../lib/csv";
import type { Answer, Metrics, Row } from "../data/api";
import { partText, type Period } from "../data/calendar";
import { isCompared } from "../data/compare";
import { type Grouping, isGrain, wordsOf } from "../data/dimension";
import {
  added, changeOf, changeText, METRIC_NAMES, minus, NOTHING, shareOf, shareText, valueOf, valueText,
} from "../data/measure";
import type { Metric, Sort } from "../view/view";

/** A row of the answer as the table shows it. */
export interface TableRow {
  key: string;
  name: string;
  metrics: Metrics;
  previous: Metrics | null;
  /** Of the countries that rows are split by, then of all others; empty without a split. */
  parts: readonly Metrics[];
}

export interface Column {
  /** Names it in the address and in downloads. */
  id: string;
  title: string;
  numeric: boolean;
  value: (row: TableRow) => number | string | null;
  text: (row: TableRow) => string;
}

/** The countries of a split, with their rows under each key. */
export interface Split {
  countries: readonly { key: string; label: string }[];
  rows: readonly Row[];
}

export interface TableInput {
  answer: Answer;
  grouping: Grouping;
  metric: Metric;
  /** The days that count: what of weeks and months lies outside is not there. */
  days: Period;
  split: Split | null;
  /** Columns that stand between the name and the numbers. */
  extra?: readonly Column[];
  search: string;
  sort: Sort | null;
}

export interface Table {
  columns: readonly Column[];
  /** Those found, in order. */
  rows: readonly TableRow[];
  total: TableRow;
  /** How many there are without the search. */
  all: number;
  /** Whether there is something earlier beside them. */
  compared: boolean;
  sort: Sort;
}

/** A text for searching: without case, accents and kinds of blanks. */
export function folded(text: string): string {
  return text.normalize("NFD").replace(/\p{Mn}/gu, "").replace(/\s+/g, " ").toLowerCase();
}

function partsOf(split: Split | null): (key: string, whole: Metrics) => readonly Metrics[] {
  if (!split) return () => [];
  const places = new Map(split.countries.map(({ key }, place) => [key, place]));
  const found = new Map<string, Metrics[]>();
  for (const row of split.rows) {
    const place = places.get(row.country ?? "");
    if (place === undefined) continue;
    const parts = found.get(row.key) ?? split.countries.map(() => NOTHING);
    parts[place] = row;
    found.set(row.key, parts);
  }
  return (key, whole) => {
    const parts = found.get(key) ?? split.countries.map(() => NOTHING);
    return [...parts, minus(whole, parts)];
  };
}

function tableRows(
  { answer, grouping, days, split }: Omit<TableInput, "search" | "sort">,
): TableRow[] {
  const parts = partsOf(split);
  return answer.rows.map((row) => ({
    key: row.key,
    name: isGrain(grouping) ? partText(row.key, grouping, days) : row.label,
    metrics: row,
    previous: row.previous ?? null,
    parts: parts(row.key, row),
  }));
}

function sum(all: readonly Metrics[]): Metrics {
  return all.reduce(added, NOTHING);
}

/** A row that adds up others: of all rows, or of those found. */
export function totalRow(name: string, rows: readonly TableRow[], answer: Answer | null): TableRow {
  // Where something is not known of one row, it is not known of their sum.
  const compared = answer ? answer.totals.previous !== undefined
    : rows.length > 0 && rows.every((row) => row.previous !== null);
  const previous = answer?.totals.previous ?? sum(rows.map((row) => row.previous ?? NOTHING));
  const places = rows[0]?.parts.map((_, place) => place) ?? [];
  return {
    key: "",
    name,
    metrics: answer?.totals ?? sum(rows.map((row) => row.metrics)),
    previous: compared ? previous : null,
    parts: places.map((place) => sum(rows.map((row) => row.parts[place] ?? NOTHING))),
  };
}

function metricColumn(metric: Metric): Column {
  const value = ({ metrics }: TableRow) => valueOf(metrics, metric);
  const text = (row: TableRow) => valueText(value(row), metric);
  return { id: metric, title: METRIC_NAMES[metric], numeric: true, value, text };
}

function shareColumn(metric: Metric, whole: Metrics): Column {
  const total = valueOf(whole, metric);
  const value = ({ metrics }: TableRow) => shareOf(valueOf(metrics, metric), total, metric);
  const text = (row: TableRow) => shareText(value(row));
  return { id: "share", title: "Share", numeric: true, value, text };
}

function comparedColumns(metric: Metric): Column[] {
  const before = ({ previous }: TableRow) => (previous ? valueOf(previous, metric) : null);
  const now = ({ metrics }: TableRow) => valueOf(metrics, metric);
  return [
    { id: "previous", title: "Before", numeric: true, value: before,
      text: (row) => valueText(before(row), metric) },
    { id: "change", title: "Change", numeric: true,
      value: (row) => changeOf(now(row), before(row)),
      text: (row) => changeText(now(row), before(row)) },
  ];
}

function splitColumns(metric: Metric, { countries }: Split): Column[] {
  const names = [...countries, { key: "other", label: "Others" }];
  return names.map(({ key, label }, place) => {
    const value = ({ parts }: TableRow) => valueOf(parts[place] ?? NOTHING, metric);
    return { id: `country-${key}`, title: label, numeric: true, value,
      text: (row: TableRow) => valueText(value(row), metric) };
  });
}

function columnsOf(input: Omit<TableInput, "search" | "sort">): Column[] {
  const { answer, grouping, metric, split, extra = [] } = input;
  const time = isGrain(grouping);
  const name: Column = { id: "label", title: wordsOf(grouping).one, numeric: false,
    // Names of days and months are in order by their keys only.
    value: (row) => (time ? row.key : row.name), text: (row) => row.name };
  const compared = isCompared(answer) ? comparedColumns(metric) : [];
  if (split) {
    return [name, ...extra, metricColumn(metric), ...compared, ...splitColumns(metric, split)];
  }
  const shared = metric === "engagement" ? [] : [shareColumn(metric, answer.totals)];
  return [
    name,
    ...extra,
    metricColumn("pageviews"),
    metricColumn("sessions"),
    metricColumn("engagement"),
    ...shared,
    ...compared,
  ];
}

const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

/** What has no value comes last in both directions; equal ones keep the answer's order. */
function sorted(rows: readonly TableRow[], column: Column, descending: boolean): TableRow[] {
  const values = rows.map((row, place) => ({ row, place, value: column.value(row) }));
  const direction = descending ? -1 : 1;
  return values.toSorted((a, b) => {
    if (a.value === null || b.value === null) {
      return Number(a.value === null) - Number(b.value === null) || a.place - b.place;
    }
    const order = typeof a.value === "number" && typeof b.value === "number"
      ? a.value - b.value
      : collator.compare(String(a.value), String(b.value));
    return order * direction || a.place - b.place;
  }).map(({ row }) => row);
}

/** The order that rows have by themselves: time runs, everything else is ranked. */
function usualSort(grouping: Grouping, metric: Metric): Sort {
  return isGrain(grouping) ? { column: "label", descending: false }
    : { column: metric, descending: true };
}

export function tableOf(input: TableInput): Table {
  const { answer, grouping, metric, search } = input;
  const columns = columnsOf(input);
  const usual = usualSort(grouping, metric);
  const asked = columns.find((column) => column.id === input.sort?.column);
  const sort = asked && input.sort ? input.sort : usual;
  const column = asked ?? columns.find(({ id }) => id === usual.column);
  const all = tableRows(input);
  const wanted = folded(search.trim());
  const found = wanted ? all.filter(({ name }) => folded(name).includes(wanted)) : all;
  return {
    columns,
    rows: column ? sorted(found, column, sort.descending) : found,
    total: wanted ? totalRow("Rows found", found, null)
      : totalRow("All rows", all, answer),
    all: all.length,
    compared: isCompared(answer),
    sort,
  };
}

/** What a click on a column's head does: its usual direction first, then the other. */
export function nextSort(sort: Sort, column: Column): Sort {
  if (sort.column !== column.id) return { column: column.id, descending: column.numeric };
  return { column: column.id, descending: !sort.descending };
}

/** Columns of a download: names for programs, with units. */
function downloadName(id: string, metric: Metric): string {
  if (id === "engagement") return "average_engagement_seconds";
  if (id === "previous" || id === "change") {
    return `${metric === "engagement" ? "average_engagement_seconds" : metric}_${id}`;
  }
  return id.replace("-", "_").toLowerCase();
}

/** The rows as they are seen, numbers in full. */
export function csvOf({ columns, rows }: Pick<Table, "columns" | "rows">, metric: Metric): Csv {
  return {
    header: ["key", ...columns.map(({ id }) => downloadName(id, metric))],
    rows: rows.map((row): Cell[] =>
      [row.key, ...columns.map((column) => (column.id === "label" ? row.name : column.value(row)))]),
  };
}

/** The same as JSON, with what was asked. */
export function jsonOf(table: Table, metric: Metric, asked: Record<string, unknown>): string {
  const { header, rows } = csvOf(table, metric);
  const object = (cells: readonly Cell[]) =>
    Object.fromEntries(header.map((name, place) => [name, cells[place] ?? null]));
  const [total] = csvOf({ columns: table.columns, rows: [table.total] }, metric).rows;
  const { key: _, label: __, ...totals } = object(total ?? []);
  return `${JSON.stringify({ ...asked, totals, rows: rows.map(object) }, null, 1)}\n`;
}
