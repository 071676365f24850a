// What the parts of a page load: one or more questions that together are one answer.

import { type Answer, type Origin, type Outcome, together } from "./api";
import { type Period, within } from "./calendar";
import { beside, comparisonOf, earlierAsked, presentAsked } from "./compare";
import type { Grain, Grouping } from "./dimension";
import { askedAddress, queryAddress, splitAddress, topCountriesAddress } from "./question";
import type { KnownDays } from "./states";
import type { Split } from "../tables/table";
import type { View } from "../view/view";

/** Asks the server; how, with which key and until when, is the caller's business. */
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
  known: KnownDays;
}

/** The days of a question that there is data of. */
export function coveredDays({ period, known }: RowsContext): KnownDays {
  const { incomplete } = known;
  return { ...(within(period, known) ?? period), ...(incomplete ? { incomplete } : {}) };
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

/**
 * Rows of a grouping beside those of the view's comparison, with their parts by country where
 * `split` says so. The earlier days are a question of their own: the API sets them only beside rows
 * that have traffic now, and weeks that a period cuts off beside whole ones.
 */
export function rowsLoading(wanted: Wanted, split: boolean, known: KnownDays): Loading<Rows> {
  const { grouping, period, view } = wanted;
  const comparison = comparisonOf(view.compare, period, known);
  const address = queryAddress(grouping, period, view);
  const asked = comparison && earlierAsked(grouping, comparison);
  const earlier = asked && askedAddress(asked, view);
  // Where days are left out, what is compared of the present is a question of its own.
  const part = asked && presentAsked(grouping, comparison);
  const present = part && askedAddress(part, view);
  // The countries that are shown by name depend on the metric.
  const countries = split ? topCountriesAddress(period, view) : "";
  return {
    id: [address, earlier, present, countries].join(" "),
    load: async (ask) => {
      const begin = performance.now();
      const [now, before, compared, parts] = await Promise.all([
        ask<Answer>(address),
        earlier ? ask<Answer>(earlier) : null,
        present ? ask<Answer>(present) : null,
        split ? splitOf(ask, wanted) : null,
      ]);
      if (now.problem) return now;
      if (before?.problem) return before;
      if (compared?.problem) return compared;
      if (parts?.problem) return parts;
      const origins = [now, before, compared, parts].flatMap((one): Origin[] => (one ? [one.origin] : []));
      const answer = before && comparison
        ? beside(now.answer, before.answer, compared?.answer ?? null, grouping, comparison)
        : now.answer;
      const origin = { ...together(origins), totalMs: performance.now() - begin };
      return { answer: { answer, split: parts?.answer ?? null }, origin, problem: null };
    },
  };
}

/** One address, one answer. */
export function plainLoading<T>(address: string): Loading<T> {
  return { id: address, load: (ask) => ask<T>(address) };
}
