// The table of all rows: columns, search, order, totals, split, downloads.

import { describe, expect, test } from "vitest";
import type { Answer, Row } from "../../src/dashboard/data/api";
import { barsOf } from "../../src/dashboard/charts/bars";
import { articleColumns, tableCsv } from "../../src/dashboard/tables/files";
import { DEFAULT_VIEW } from "../../src/dashboard/view/view";
import { csvOf, jsonOf, nextSort, type Table, type TableInput, tableOf } from "../../src/dashboard/tables/table";

const metrics = (pageviews: number, sessions: number, engagement_seconds: number) =>
  ({ pageviews, sessions, engagement_seconds });
const row = (key: string, label: string, ...numbers: [number, number, number]): Row =>
  ({ key, label, ...metrics(...numbers) });

const ROWS = [
  row("a", "Ärger with SQL", 600, 300, 30_000),
  row("b", "Beta", 300, 200, 4_000),
  row("c", "café 10", 100, 0, 0),
  row("d", "Café 9", 0, 0, 0),
];
const answer: Answer = { totals: metrics(1000, 500, 34_000), row_count: 4, rows: ROWS };
const input: TableInput = { answer, grouping: "authors", metric: "pageviews",
  days: { start: "2021-01-01", end: "2021-12-31" }, split: null, search: "", sort: null };

const names = (table: Table) => table.rows.map(({ name }) => name);
const texts = (table: Table, place: number) => {
  const of = table.rows[place];
  return of ? table.columns.map((column) => column.text(of)) : [];
};

describe("columns", () => {
  test("sums, the average and the share of the whole", () => {
    const table = tableOf(input);
    expect(table.columns.map(({ id }) => id)).toEqual(
      ["label", "pageviews", "sessions", "engagement", "share"]);
    expect(texts(table, 0)).toEqual(["Ärger with SQL", "600", "300", "1m\u00a040s", "60.0%"]);
    expect(table.columns.map((column) => column.text(table.total))).toEqual(
      ["All rows", "1,000", "500", "1m\u00a08s", "100%"]);
  });

  test("an average over no session is a dash, and averages have no share", () => {
    const table = tableOf({ ...input, metric: "engagement" });
    expect(table.columns.map(({ id }) => id)).not.toContain("share");
    expect(texts(table, 2).at(-1)).toBe("\u2013");
  });

  test("a comparison adds what was before and by how much it changed", () => {
    const previous = metrics(300, 100, 1);
    const compared: Answer = { ...answer, totals: { ...answer.totals, previous: metrics(2000, 1, 1) },
      rows: ROWS.map((one, place) => ({ ...one,
        previous: place === 0 ? previous : metrics(place === 1 ? 600 : 0, 0, 0) })) };
    const table = tableOf({ ...input, answer: compared });
    expect(table.rows.map((_, place) => texts(table, place).slice(-2))).toEqual([
      ["300", "+100%"], ["600", "\u221250.0%"], ["0", "new"], ["0", "\u2013"]]);
    expect(table.columns.at(-1)?.text(table.total)).toBe("\u221250.0%");
    expect([table.compared, tableOf(input).compared]).toEqual([true, false]);
  });

  test("what is not known of one row is not known of the rows found", () => {
    const days = [{ ...row("2021-01-01", "", 4, 2, 1), previous: metrics(2, 1, 1) },
      row("2021-01-02", "", 1, 1, 1)];
    const table = tableOf({ ...input, grouping: "days", search: "jan 2021",
      answer: { ...answer, rows: days } });
    expect(table.rows.map((_, place) => texts(table, place).slice(-2))).toEqual(
      [["2", "+100%"], ["\u2013", "\u2013"]]);
    expect(table.columns.at(-1)?.text(table.total)).toBe("\u2013");
  });

  test("weeks that the period cuts off say so, in files too", () => {
    const table = tableOf({ ...input, grouping: "weeks", answer: { ...answer,
      rows: [row("2020-12-28", "", 1, 1, 1), row("2021-01-04", "", 1, 1, 1)] } });
    expect(names(table)).toEqual(["week of 28\u00a0Dec\u00a02020, 3 days",
      "week of 4\u00a0Jan\u00a02021"]);
    expect(csvOf(table, "pageviews").rows[0]?.[1]).toBe(names(table)[0]);
  });
});

describe("order", () => {
  test("the greatest of the metric first, unless asked otherwise", () => {
    expect(names(tableOf(input))[0]).toBe("Ärger with SQL");
    const byName = tableOf({ ...input, sort: { column: "label", descending: false } });
    expect(names(byName)).toEqual(["Ärger with SQL", "Beta", "Café 9", "café 10"]);
  });

  test("rows without a value come last in both directions", () => {
    for (const descending of [true, false]) {
      const table = tableOf({ ...input, sort: { column: "engagement", descending } });
      expect(names(table).slice(2), String(descending)).toEqual(["café 10", "Café 9"]);
    }
  });

  test("time runs by itself, by its keys and not by its names", () => {
    const days = ["2021-02-01", "2021-01-09", "2021-01-10"].map((day) => row(day, day, 1, 1, 1));
    const table = tableOf({ ...input, grouping: "days", answer: { ...answer, rows: days } });
    expect(table.rows.map(({ key }) => key)).toEqual(["2021-01-09", "2021-01-10", "2021-02-01"]);
    expect(names(table)[0]).toBe("9\u00a0Jan\u00a02021");
  });

  test("a column that is not there is not asked for", () => {
    expect(tableOf({ ...input, sort: { column: "nothing", descending: true } }).sort).toEqual(
      { column: "pageviews", descending: true });
  });

  test("a click on a head turns its order", () => {
    const [label, pageviews] = tableOf(input).columns;
    const sort = { column: "pageviews", descending: true };
    expect(pageviews && nextSort(sort, pageviews)).toEqual({ column: "pageviews", descending: false });
    expect(label && nextSort(sort, label)).toEqual({ column: "label", descending: false });
  });
});

describe("an order that misleads", () => {
  test("averages over a handful of sessions come last, as in the bars, and that is said", () => {
    const few = row("e", "Lucky", 1, 99, 999_999);
    for (const descending of [true, false]) {
      const table = tableOf({ ...input, metric: "engagement", sort: { column: "engagement", descending },
        answer: { ...answer, rows: [few, ...ROWS] } });
      expect(names(table).indexOf("Lucky"), String(descending)).toBe(2);
      expect(table.note).toBe("Rows with fewer than 100 sessions come last.");
    }
    expect(tableOf({ ...input, answer: { ...answer, rows: [few, ...ROWS] } }).note).toBe("");
  });

  test("a change is sorted by its size, not by its percentage", () => {
    const changed = ([["tiny", 10, 1], ["fall", 500, 1000], ["rise", 1100, 1000], ["new", 300, 0]] as const)
      .map(([key, now, before]) => ({ ...row(key, key, now, 1, 1), previous: metrics(before, 1, 1) }));
    const table = tableOf({ ...input, answer: { ...answer, rows: changed },
      sort: { column: "change", descending: true } });
    expect(names(table)).toEqual(["fall", "new", "rise", "tiny"]);
    expect(table.note).toBe("By the size of the change, not by its percentage.");
  });

  test("a share says of what", () => {
    expect(tableOf(input).columns.at(-1)?.title).toBe("Share of pageviews");
    expect(tableOf({ ...input, metric: "sessions" }).columns.at(-1)?.title).toBe("Share of sessions");
    // Of each month's own traffic nothing is known where an author is chosen.
    const months = { ...answer, rows: [row("2021-01", "", 1, 1, 1)] };
    expect(tableOf({ ...input, grouping: "months", answer: months }).columns.at(-1)?.title).toBe("Share of period");
  });
});

describe("days that are not complete", () => {
  const days = { start: "2021-01-01", end: "2021-01-04",
    incomplete: new Map([["2021-01-02", "missing"], ["2021-01-04", "today"]] as const) };
  const rows = [row("2021-01-01", "", 4, 2, 1), row("2021-01-04", "", 1, 1, 1)];
  const table = tableOf({ ...input, grouping: "days", days, answer: { ...answer, rows } });

  test("are rows that say so; of a gap no number is known", () => {
    expect(names(table)).toEqual(["1\u00a0Jan\u00a02021", "2\u00a0Jan\u00a02021, never imported",
      "4\u00a0Jan\u00a02021, not over"]);
    expect(texts(table, 1).slice(1)).toEqual(["\u2013", "\u2013", "\u2013", "\u2013"]);
    expect(csvOf(table, "pageviews").rows[1]?.slice(2)).toEqual([null, null, null, null]);
  });

  test("never imported are no zero in a ranking or a sum", () => {
    const { bars, rest } = barsOf(table.rows, table.total, "pageviews");
    expect(bars.map(({ name, value }) => [name, value])).toEqual(
      [["1\u00a0Jan\u00a02021", 4], ["4\u00a0Jan\u00a02021, not over", 1]]);
    expect(rest).toBeNull();
    const gap = tableOf({ ...input, grouping: "days", answer: { ...answer, rows: [], totals: metrics(0, 0, 0) },
      days: { ...days, start: "2021-01-02", end: "2021-01-02" } });
    expect(gap.columns.map((column) => column.text(gap.total)).slice(1)).toEqual(
      ["\u2013", "\u2013", "\u2013", "\u2013"]);
  });

  test("are told of weeks and months that they are in", () => {
    const weeks = tableOf({ ...input, grouping: "months", days: { ...days, end: "2021-01-31" },
      answer: { ...answer, rows: [row("2021-01", "", 5, 3, 2)] } });
    expect(names(weeks)).toEqual(["Jan\u00a02021, 1 day never imported, today not over"]);
  });
});

test("where days are left out, what of a row is compared is a column of its own", () => {
  const rows = [{ ...row("a", "A", 618, 1, 1), comparable: metrics(518, 1, 1),
    previous: metrics(553, 1, 1) }];
  const totals = { ...metrics(618, 1, 1), comparable: metrics(518, 1, 1), previous: metrics(553, 1, 1) };
  const table = tableOf({ ...input, answer: { ...answer, rows, totals } });
  expect(texts(table, 0).slice(-3)).toEqual(["518", "553", "\u22126.33%"]);
  expect(table.columns.map((column) => column.text(table.total)).slice(-3)).toEqual(
    ["518", "553", "\u22126.33%"]);
  expect(csvOf(table, "pageviews").header.slice(-3)).toEqual(
    ["pageviews_compared", "pageviews_previous", "pageviews_change"]);
});

test("what a comparison leaves out is said, and what new means then", () => {
  const leftOut = "left out on both sides: never imported: 3\u00a0May\u00a02021";
  const old = { ...row("a", "A", 9, 1, 1), previous: metrics(8, 1, 1) };
  const fresh = { ...row("b", "B", 9, 1, 1), previous: metrics(0, 0, 0) };
  const note = (rows: Row[]) => tableOf({ ...input, answer: { ...answer, rows, leftOut } }).note;
  expect(note([old])).toBe("Left out on both sides: never imported: 3\u00a0May\u00a02021.");
  expect(note([old, fresh])).toBe("Left out on both sides: never imported: 3\u00a0May\u00a02021; " +
    "new rows had no traffic on the other days.");
});

test.each([["Łukasz Øster", "lukasz oster"], ["Straße, Ærø", "STRASSE, AERO"],
  ["Đorđe, Guðrún, Þór", "dorde, gudrun, thor"], ["Diyarbakır", "DIYARBAKIR"]])(
  "letters without an accent of their own are found: %s", (name, search) => {
    const rows = [row("a", name, 1, 1, 1), row("b", "Other", 1, 1, 1)];
    expect(names(tableOf({ ...input, search, answer: { ...answer, rows } }))).toEqual([name]);
  });

test("months of other lengths are compared by their averages per day", () => {
  const rows = [{ ...row("a", "A", 310, 1, 1), previous: metrics(280, 1, 1) }];
  const february = { ...answer, rows, perDay: { now: 31, before: 28 },
    totals: { ...metrics(310, 1, 1), previous: metrics(280, 1, 1) } };
  const table = tableOf({ ...input, answer: february });
  expect(table.columns.at(-1)?.title).toBe("Change a day");
  expect([texts(table, 0).at(-1), table.columns.at(-1)?.text(table.total)]).toEqual(["0%", "0%"]);
  // Weeks are beside weeks of as many days, averages beside averages.
  const weeks = { ...february, rows: rows.map((one) => ({ ...one, key: "2021-01-04" })) };
  for (const other of [tableOf({ ...input, grouping: "weeks", answer: weeks }),
    tableOf({ ...input, metric: "engagement", answer: february })]) {
    expect(other.columns.at(-1)?.title).toBe("Change");
  }
  expect(texts(tableOf({ ...input, grouping: "weeks", answer: weeks }), 0).at(-1)).toBe("+10.7%");
  expect(barsOf(table.rows, table.total, "pageviews", 1, table.perDay).bars[0]?.change).toBe("0%");
});

test("the search knows neither case nor accents, and totals are of what is found", () => {
  const table = tableOf({ ...input, search: " CAFE " });
  expect(names(table)).toEqual(["café 10", "Café 9"]);
  expect([table.total.name, table.total.metrics.pageviews, table.all]).toEqual(
    ["Rows found", 100, 4]);
});

describe("a split by country", () => {
  const split = {
    countries: [{ key: "DE", label: "Germany" }, { key: "FR", label: "France" }],
    rows: [
      { ...row("a", "Ärger with SQL", 400, 100, 100), country: "DE" },
      { ...row("a", "Ärger with SQL", 50, 100, 100), country: "FR" },
      { ...row("b", "Beta", 300, 200, 4_000), country: "FR" },
    ],
  };

  test("has a column for each country and one for all others", () => {
    const table = tableOf({ ...input, split });
    expect(table.columns.map(({ title }) => title)).toEqual(
      ["Author", "Pageviews", "Germany", "France", "Others"]);
    expect(texts(table, 0).slice(1)).toEqual(["600", "400", "50", "150"]);
    expect(texts(table, 2).slice(1)).toEqual(["100", "0", "0", "100"]);
    expect(table.columns.map((column) => column.text(table.total)).slice(1)).toEqual(
      ["1,000", "400", "350", "250"]);
  });

  test("is compared as a whole", () => {
    const compared: Answer = { ...answer, totals: { ...answer.totals, previous: metrics(500, 1, 1) },
      rows: ROWS.map((one) => ({ ...one, previous: metrics(1200, 1, 1) })) };
    const table = tableOf({ ...input, answer: compared, split });
    expect(table.columns.map(({ title }) => title)).toEqual(
      ["Author", "Pageviews", "Before", "Change", "Germany", "France", "Others"]);
    expect(texts(table, 0)).toEqual(
      ["Ärger with SQL", "600", "1,200", "\u221250.0%", "400", "50", "150"]);
  });

  test("averages are of the parts' own sessions", () => {
    const table = tableOf({ ...input, split, metric: "engagement" });
    expect(texts(table, 0)).toEqual(
      ["Ärger with SQL", "1m\u00a040s", "1s", "1s", "4m\u00a058s"]);
  });

  test("bars are divided alike, and their parts fill the bar", () => {
    const table = tableOf({ ...input, split });
    const [first] = barsOf(table.rows, table.total, "pageviews").bars;
    expect(first?.length).toBe(1);
    expect(first?.parts.reduce((sum, part) => sum + part, 0)).toBeCloseTo(1, 12);
  });
});

describe("bars", () => {
  test("rank by the metric whatever the table's order, and sum up the rest", () => {
    const table = tableOf({ ...input, sort: { column: "label", descending: true } });
    const { bars, rest } = barsOf(table.rows, table.total, "pageviews", 2);
    expect(bars.map(({ name, share }) => [name, share])).toEqual(
      [["Ärger with SQL", 0.6], ["Beta", 0.3]]);
    expect(rest).toEqual({ rows: 2, value: 100 });
  });

  test("averages over a handful of sessions are not ranked first", () => {
    const few = row("e", "Lucky", 1, 1, 9_999);
    const table = tableOf({ ...input, metric: "engagement",
      answer: { ...answer, rows: [...ROWS, few] } });
    const { bars, rest, note } = barsOf(table.rows, table.total, "engagement");
    expect(bars.map(({ name }) => name)).toEqual(["Ärger with SQL", "Beta"]);
    expect(rest).toBeNull();
    expect(note).toBe("Of rows with at least 100 sessions.");
  });
});

describe("downloads", () => {
  const told = { title: "t", view: DEFAULT_VIEW, period: { start: "2021-01-01", end: "2021-12-31" } };

  test("CSV begins with a byte order mark, and of articles says which they are", async () => {
    const further = async () => articleColumns([{ uuid: "a", url: "https://e.com/a", author: "Zo\u00eb",
      team: "T", published: "2020-02-01" }]);
    const text = await tableCsv({ ...told, table: tableOf(input), further });
    expect(text.startsWith("\ufeffkey,label,url,author,team,published,pageviews,")).toBe(true);
    expect(text.split("\r\n").slice(1, 3)).toEqual(
      ["a,\u00c4rger with SQL,https://e.com/a,Zo\u00eb,T,2020-02-01,600,300,100,0.6",
        "b,Beta,,,,,300,200,20,0.3"]);
    const plain = await tableCsv({ ...told, table: tableOf(input) });
    expect(plain.startsWith("\ufeffkey,label,pageviews,")).toBe(true);
  });

  test("CSV has what is seen, numbers in full", () => {
    const table = tableOf({ ...input, search: "a", sort: { column: "sessions", descending: true } });
    const { header, rows } = csvOf(table, "pageviews");
    expect(header).toEqual(
      ["key", "label", "pageviews", "sessions", "average_engagement_seconds", "share_of_pageviews"]);
    expect(rows.slice(0, 2)).toEqual(
      [["a", "Ärger with SQL", 600, 300, 100, 0.6], ["b", "Beta", 300, 200, 20, 0.3]]);
  });

  test("CSV of rows of time names the share as one of the period", () => {
    const { header } = csvOf(tableOf({ ...input, grouping: "months", answer: { ...answer, rows: [] } }), "pageviews");
    expect(header.at(-1)).toBe("share_of_period_pageviews");
  });

  test("JSON has the same with the totals and what was asked", () => {
    const parsed = JSON.parse(jsonOf(tableOf(input), "pageviews", { start: "2021-01-01" }));
    expect(parsed.start).toBe("2021-01-01");
    expect(parsed.totals).toEqual({ pageviews: 1000, sessions: 500,
      average_engagement_seconds: 68, share_of_pageviews: 1 });
    expect(parsed.rows[2]).toEqual({ key: "c", label: "café 10", pageviews: 100, sessions: 0,
      average_engagement_seconds: null, share_of_pageviews: 0.1 });
  });
});
