// An article among its translations: who they are, and their traffic as a table.

import type { Article, Relative } from "../data/api";
import { NOTHING } from "../data/measure";
import { type Column, type Table, type TableInput, tableOf } from "../tables/table";

/** The whole family, the original first, each once. */
export function familyOf(article: Article): Relative[] {
  const all = [article.original, article, ...article.translations];
  return [...new Map(all.flatMap((one): [string, Relative][] =>
    (one ? [[one.uuid, one]] : []))).values()];
}

function languageColumn(article: Article, family: readonly Relative[]): Column {
  const languages = new Map(family.map((one) => [one.uuid, one.human_language]));
  const original = (article.original ?? article).uuid;
  const value = ({ key }: { key: string }) => languages.get(key) ?? "";
  const text = (row: { key: string }) =>
    `${value(row)}${row.key === original ? ", original" : ""}`;
  return { id: "human_language", title: "Language", numeric: false, value, text };
}

/** The traffic of every article in the family, also of those without traffic. */
export function familyTable(
  article: Article, input: Omit<TableInput, "grouping" | "split" | "search">,
): Table {
  const family = familyOf(article);
  const { answer } = input;
  const found = new Map(answer.rows.map((row) => [row.key, row]));
  const before = answer.totals.previous ? { previous: NOTHING } : {};
  const rows = family.map(({ uuid, title }) =>
    found.get(uuid) ?? { ...NOTHING, ...before, key: uuid, label: title });
  return tableOf({ ...input, answer: { ...answer, rows }, grouping: "articles", split: null,
    search: "", extra: [languageColumn(article, family)] });
}
