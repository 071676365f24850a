// What the parts of a page load: one or more questions that together are one answer.

import type { Answer, Outcome } from "./api";
import type { Period } from "./calendar";
import type { Grain, Grouping } from "./dimension";
import { queryAddress, splitAddress, topCountriesAddress } from "./question";
import type { Split } from "./table";
import type { View } from "./view";

/** Asks the server; how, with which key and until when, is the asker's business. */
export type Ask = <T>(address: string) => Promise<Outcome<T>>;

/** Something to load; the same id is the same answer. */
export interface Loading<T> {
  id: string;
  load: (ask: Ask) => Promise<Outcome<T>>;
}

export interface Rows {
  answer: Answer;
  /** By the countries with the most; null where rows are not split. */
  split: Split | null;
}

/** What rows answer, and how they are shown. */
export interface RowsContext {
  view: View;
  period: Period;
}

export interface TimeContext extends RowsContext {
  grain: Grain;
}

async function splitOf(
  ask: Ask, grouping: Grouping, period: Period, view: View,
): Promise<Outcome<Split>> {
  const top = await ask<Answer>(topCountriesAddress(period, view));
  if (top.problem) return top;
  const countries = top.answer.rows.map(({ key, label }) => ({ key, label }));
  if (countries.length === 0) return { ...top, answer: { countries, rows: [] } };
  const keys = countries.map(({ key }) => key);
  const rows = await ask<Answer>(splitAddress(grouping, period, view, keys));
  return rows.problem ? rows : { ...rows, answer: { countries, rows: rows.answer.rows } };
}

/** Rows of a grouping, with their parts by country where `split` says so. */
export function rowsLoading(
  grouping: Grouping, period: Period, view: View, split: boolean,
): Loading<Rows> {
  const address = queryAddress(grouping, period, view);
  // The countries that are shown by name depend on the metric.
  const id = split ? `${address} ${topCountriesAddress(period, view)}` : address;
  return {
    id,
    load: async (ask) => {
      const [whole, parts] = await Promise.all([
        ask<Answer>(address),
        split ? splitOf(ask, grouping, period, view) : null,
      ]);
      if (whole.problem) return whole;
      if (parts?.problem) return parts;
      return { ...whole, answer: { answer: whole.answer, split: parts?.answer ?? null } };
    },
  };
}

/** One address, one answer. */
export function plainLoading<T>(address: string): Loading<T> {
  return { id: address, load: (ask) => ask<T>(address) };
}
