// The table of all rows as a value: its columns, which rows are found and in which order, the row
// of totals, and the same as CSV and JSON. Nothing here draws.

import type { Cell, Csv } from "../../lib/csv";
import type { Answer, Metrics, Row } from "../data/api";
import { buckets, daysOfKey, partText, within } from "../data/calendar";
import { isCompared } from "../data/compare";
import { type Grain, type Grouping, isGrain, wordsOf } from "../data/dimension";
import {
  added, changeOf, changeText, compared, isSolid, METRIC_NAMES, minus, NOTHING, type PerDay,
  SESSIONS_WANTED, shareOf, shareText, valueOf, valueText,
} from "../data/measure";
import { faultText, isGap, type KnownDays, sentence } from "../data/states";
import type { Metric, Sort } from "../view/view";

/** A row of the answer as the table shows it. */
export interface TableRow {
  key: string;
  name: string;
  metrics: Metrics;
  /** What of it is compared, where days are left out. */
  comparable?: Metrics | undefined;
  previous: Metrics | null;
  /** Whether nothing is known of it: no day of it was imported. */
  gap?: boolean;
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
  /** What it is sorted by, where that is not its value. */
  order?: (row: TableRow) => number | null;
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
  days: KnownDays;
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
  /** Of how many days the sums are that are compared, where these are not as many. */
  perDay: PerDay | null;
  sort: Sort;
  /** Said where the order is not that of the numbers alone, and where a comparison leaves days out. */
  note: string;
}

/** Letters that Unicode does not take apart, as the server's searches have them (`spelling.rs`). */
const PLAIN_LETTERS: Readonly<Record<string, string>> = {
  ł: "l", ø: "o", đ: "d", ð: "d", þ: "th", æ: "ae", œ: "oe", ı: "i", ħ: "h", ŧ: "t", ŋ: "n", ĸ: "k",
};

/** A text for searching: without case, accents and kinds of blanks. */
export function folded(text: string): string {
  const letters = text.normalize("NFKD").replace(/\p{M}/gu, "").replace(/\s+/g, " ");
  // Upper case first: it writes `ß` and `ss` alike.
  return letters.toUpperCase().toLowerCase().replace(/[^\x00-\x7f]/g, (one) => PLAIN_LETTERS[one] ?? one);
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

/** A row of time in words; what is wrong with its days belongs to its name. */
function timeName(key: string, grain: Grain, days: KnownDays): string {
  const own = within(daysOfKey(key, grain), days);
  const fault = own ? faultText(own, days.incomplete) : "";
  return [partText(key, grain, days), fault].filter(Boolean).join(", ");
}

/** Days, weeks and so on that were never imported: rows of the table, but of no numbers. */
function gapRows({ answer, grouping, days }: Pick<TableInput, "answer" | "grouping" | "days">): Row[] {
  if (!isGrain(grouping) || !days.incomplete?.size) return [];
  const here = new Set(answer.rows.map(({ key }) => key));
  return buckets(days, grouping)
    .filter((one) => !here.has(one.key) && isGap(one.days, days.incomplete))
    .map(({ key }) => ({ ...NOTHING, key, label: key }));
}

function tableRows(
  { answer, grouping, days, split }: Omit<TableInput, "search" | "sort">,
): TableRow[] {
  const parts = partsOf(split);
  const own = (row: Row, gap: boolean): TableRow => ({
    key: row.key,
    name: isGrain(grouping) ? timeName(row.key, grouping, days) : row.label,
    metrics: row,
    comparable: row.comparable,
    previous: row.previous ?? null,
    parts: parts(row.key, row),
    gap,
  });
  return [...answer.rows.map((row) => own(row, false)),
    ...gapRows({ answer, grouping, days }).map((row) => own(row, true))];
}

function sum(all: readonly Metrics[]): Metrics {
  return all.reduce(added, NOTHING);
}

/** A row that adds up others: of all rows, or of those found. */
export function totalRow(name: string, rows: readonly TableRow[], answer: Answer | null): TableRow {
  // Where something is not known of one row, it is not known of their sum.
  const known = answer ? answer.totals.previous !== undefined
    : rows.length > 0 && rows.every((row) => row.previous !== null);
  const part = answer ? answer.totals.comparable
    : sum(rows.map((row) => row.comparable ?? row.metrics));
  const previous = answer?.totals.previous ?? sum(rows.map((row) => row.previous ?? NOTHING));
  const places = rows[0]?.parts.map((_, place) => place) ?? [];
  return {
    key: "",
    name,
    metrics: answer?.totals ?? sum(rows.map((row) => row.metrics)),
    comparable: part,
    previous: known ? previous : null,
    parts: places.map((place) => sum(rows.map((row) => row.parts[place] ?? NOTHING))),
  };
}

/** What a comparison leaves out, which a row that is new may have had traffic on. */
function leftOutNote({ answer: { leftOut }, metric }: TableInput, rows: readonly TableRow[]): string {
  if (!leftOut) return "";
  const isNew = ({ previous, ...row }: TableRow) =>
    previous && changeText(...compared({ ...row, previous }, metric, null)) === "new";
  return sentence(`${leftOut}${rows.some(isNew) ? "; new rows had no traffic on the other days" : ""}`);
}

/** Null of what was never imported. */
function ownValue({ metrics, gap }: TableRow, metric: Metric): number | null {
  return gap ? null : valueOf(metrics, metric);
}

function metricColumn(metric: Metric): Column {
  const value = (row: TableRow) => ownValue(row, metric);
  const text = (row: TableRow) => valueText(value(row), metric);
  return { id: metric, title: METRIC_NAMES[metric], numeric: true, value, text };
}

const SHARE_OF_PERIOD = "Share of period";

/** Rows of time are parts of their sum, not of all traffic of each day or month. */
function shareTitle(metric: Metric, grouping: Grouping): string {
  const name = METRIC_NAMES[metric].toLowerCase();
  return isGrain(grouping) ? SHARE_OF_PERIOD : `Share of ${name}`;
}

function shareColumn(metric: Metric, grouping: Grouping, whole: Metrics): Column {
  const total = valueOf(whole, metric);
  const value = (row: TableRow) => shareOf(ownValue(row, metric), total, metric);
  const text = (row: TableRow) => shareText(value(row));
  return { id: "share", title: shareTitle(metric, grouping), numeric: true, value, text };
}

/** Where days are left out, a row is more than what of it is compared. */
function isInPart({ totals, rows }: Answer): boolean {
  return totals.comparable !== undefined || rows.some(({ comparable }) => comparable !== undefined);
}

/** Rows of time are beside as many days, and averages need no number of days. */
function rowsPerDay({ answer, grouping, metric }: Omit<TableInput, "search" | "sort">): PerDay | null {
  return isGrain(grouping) || metric === "engagement" ? null : answer.perDay ?? null;
}

function comparedColumns(metric: Metric, answer: Answer, perDay: PerDay | null): Column[] {
  const before = ({ previous }: TableRow) => (previous ? valueOf(previous, metric) : null);
  const both = (row: TableRow) => compared(row, metric, perDay);
  const part = (row: TableRow) => (row.previous ? compared(row, metric, null)[0] : null);
  return [
    ...(isInPart(answer) ? [{ id: "compared", title: "Compared", numeric: true, value: part,
      text: (row: TableRow) => valueText(part(row), metric) }] : []),
    { id: "previous", title: "Before", numeric: true, value: before,
      text: (row) => valueText(before(row), metric) },
    { id: "change", title: perDay ? "Change a day" : "Change", numeric: true,
      value: (row) => changeOf(...both(row)),
      text: (row) => changeText(...both(row)),
      // A percentage of next to nothing is not a large change.
      order: (row) => {
        const [now, then] = both(row);
        return now === null || then === null ? null : Math.abs(now - then);
      } },
  ];
}

function splitColumns(metric: Metric, { countries }: Split): Column[] {
  const names = [...countries, { key: "other", label: "Others" }];
  return names.map(({ key, label }, place) => {
    const value = ({ parts, gap }: TableRow) =>
      (gap ? null : valueOf(parts[place] ?? NOTHING, metric));
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
  const columns = isCompared(answer) ? comparedColumns(metric, answer, rowsPerDay(input)) : [];
  if (split) {
    return [name, ...extra, metricColumn(metric), ...columns, ...splitColumns(metric, split)];
  }
  const shared = metric === "engagement" ? [] : [shareColumn(metric, grouping, answer.totals)];
  return [
    name,
    ...extra,
    metricColumn("pageviews"),
    metricColumn("sessions"),
    metricColumn("engagement"),
    ...shared,
    ...columns,
  ];
}

const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

/**
 * What has no value comes last in both directions, before it averages over a handful of sessions;
 * equal ones keep the answer's order.
 */
function sorted(rows: readonly TableRow[], column: Column, descending: boolean): TableRow[] {
  const values = rows.map((row, place) => {
    const value = (column.order ?? column.value)(row);
    const last = value === null ? 2 : column.id === "engagement" && !isSolid(row.metrics) ? 1 : 0;
    return { row, place, value, last };
  });
  const direction = descending ? -1 : 1;
  return values.toSorted((a, b) => {
    if (a.last !== b.last) return a.last - b.last;
    if (a.value === null || b.value === null) return a.place - b.place;
    const order = typeof a.value === "number" && typeof b.value === "number"
      ? a.value - b.value
      : collator.compare(String(a.value), String(b.value));
    return order * direction || a.place - b.place;
  }).map(({ row }) => row);
}

/** Said where rows stand last though their numbers are not the least. */
function orderNote(rows: readonly TableRow[], column: Column | undefined): string {
  if (column?.id === "change") return "By the size of the change, not by its percentage.";
  if (column?.id !== "engagement") return "";
  const measured = rows.filter(({ metrics }) => metrics.sessions > 0);
  const solid = measured.filter(({ metrics }) => isSolid(metrics)).length;
  return solid > 0 && solid < measured.length
    ? `Rows with fewer than ${SESSIONS_WANTED} sessions come last.` : "";
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
  // Rows of time are beside other days than those of the month or quarter before.
  const whole = isGrain(grouping) && answer.perDay ? null : answer;
  const found = wanted ? all.filter(({ name }) => folded(name).includes(wanted)) : all;
  return {
    columns,
    rows: column ? sorted(found, column, sort.descending) : found,
    total: { ...(wanted ? totalRow("Rows found", found, null) : totalRow("All rows", all, whole)),
      gap: found.length > 0 && found.every(({ gap }) => gap) },
    all: all.length,
    compared: isCompared(answer),
    perDay: rowsPerDay(input),
    sort,
    note: [orderNote(found, column), leftOutNote(input, found)].filter(Boolean).join(" "),
  };
}

/** What a click on a column's head does: its usual direction first, then the other. */
export function nextSort(sort: Sort, column: Column): Sort {
  if (sort.column !== column.id) return { column: column.id, descending: column.numeric };
  return { column: column.id, descending: !sort.descending };
}

/** Columns of a download: names for programs, with units. */
function downloadName({ id, title }: Column, metric: Metric): string {
  if (id === "engagement") return "average_engagement_seconds";
  if (id === "share") return title === SHARE_OF_PERIOD ? `share_of_period_${metric}` : `share_of_${metric}`;
  if (id === "previous" || id === "change" || id === "compared") {
    return `${metric === "engagement" ? "average_engagement_seconds" : metric}_${id}`;
  }
  return id.replace("-", "_").toLowerCase();
}

/** The rows as shown, numbers in full. */
export function csvOf({ columns, rows }: Pick<Table, "columns" | "rows">, metric: Metric): Csv {
  return {
    header: ["key", ...columns.map((column) => downloadName(column, metric))],
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
