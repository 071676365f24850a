// What the parts of a page load: one or more questions that together are one answer.

import { type Answer, type Origin, type Outcome, together } from "./api";
import { type Period, within } from "./calendar";
import { beside, type Comparison, comparisonOf, earlierGrouping } from "./compare";
import type { Grain, Grouping } from "./dimension";
import { queryAddress, splitAddress, topCountriesAddress } from "./question";
import type { Split } from "../tables/table";
import type { View } from "../view/view";

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
  /** The days that the data covers. */
  known: Period;
}

/** The days of a question that there is data of. */
export function coveredDays({ period, known }: RowsContext): Period {
  return within(period, known) ?? period;
}

export interface TimeContext extends RowsContext {
  grain: Grain;
}

/** Rows of a grouping that are asked for. */
interface Wanted {
  grouping: Grouping;
  period: Period;
  view: View;
}

async function splitOf(ask: Ask, { grouping, period, view }: Wanted): Promise<Outcome<Split>> {
  const top = await ask<Answer>(topCountriesAddress(period, view));
  if (top.problem) return top;
  const countries = top.answer.rows.map(({ key, label }) => ({ key, label }));
  if (countries.length === 0) return { ...top, answer: { countries, rows: [] } };
  const keys = countries.map(({ key }) => key);
  const rows = await ask<Answer>(splitAddress(grouping, period, view, keys));
  if (rows.problem) return rows;
  const origin = together([top.origin, rows.origin]);
  return { answer: { countries, rows: rows.answer.rows }, origin, problem: null };
}

/** The address of what is compared with; null where there is nothing. */
function earlierAddress({ grouping, view }: Wanted, comparison: Comparison | null): string | null {
  const by = comparison && earlierGrouping(grouping, comparison);
  return by ? queryAddress(by, comparison.before, view) : null;
}

/**
 * Rows of a grouping beside those of the view's comparison, with their parts by country where
 * `split` says so. The earlier days are a question of their own: the API sets them only beside rows
 * that have traffic now, and weeks that a period cuts off beside whole ones.
 */
export function rowsLoading(wanted: Wanted, split: boolean, known: Period): Loading<Rows> {
  const { grouping, period, view } = wanted;
  const comparison = comparisonOf(view.compare, period, known);
  const address = queryAddress(grouping, period, view);
  const earlier = earlierAddress(wanted, comparison);
  // The countries that are shown by name depend on the metric.
  const countries = split ? topCountriesAddress(period, view) : "";
  return {
    id: `${address} ${earlier ?? ""} ${countries}`,
    load: async (ask) => {
      const begin = performance.now();
      const [now, before, parts] = await Promise.all([
        ask<Answer>(address),
        earlier ? ask<Answer>(earlier) : null,
        split ? splitOf(ask, wanted) : null,
      ]);
      if (now.problem) return now;
      if (before?.problem) return before;
      if (parts?.problem) return parts;
      const origins = [now, before, parts].flatMap((one): Origin[] => (one ? [one.origin] : []));
      const answer = before && comparison
        ? beside(now.answer, before.answer, grouping, comparison) : now.answer;
      const origin = { ...together(origins), totalMs: performance.now() - begin };
      return { answer: { answer, split: parts?.answer ?? null }, origin, problem: null };
    },
  };
}

/** One address, one answer. */
export function plainLoading<T>(address: string): Loading<T> {
  return { id: address, load: (ask) => ask<T>(address) };
}
