// The state of the dashboard: the view that the address holds, what is known of the data, the names
// behind keys. Components read it and ask it to go elsewhere; only it touches the history.

import type { Dataset, Outcome, Problem, Values } from "../data/api";
import type { Access } from "../access/access.svelte";
import type { Period } from "../data/calendar";
import type { Dimension } from "../data/dimension";
import { periodOf } from "../data/question";
import { incompleteDays, type KnownDays } from "../data/states";
import { DEFAULT_VIEW, searchOf, type View, viewFrom } from "./view";

/** While data comes in day by day, a page follows no faster than this. */
const REST_MS = 5_000;

/** What the data covers, with the states of its days. */
const DATASET = "api/dataset?states=1";

export class Model {
  view = $state.raw<View>(viewFrom(window.location.search));
  dataset = $state.raw<Dataset | null>(null);
  problem = $state.raw<Problem | null>(null);
  /** A message for all readers, also by screen reader. */
  message = $state("");
  #labels = $state.raw<ReadonlyMap<string, string>>(new Map());
  readonly #asked = new Set<string>();
  #silence = 0;
  #looking: Promise<void> = Promise.resolve();
  /** The look that waits for the end of the one under way. */
  #next: Promise<void> | null = null;
  /** Not 0 while the page rests after newer data. */
  #rest = 0;
  readonly access: Access;

  /** The days that the data covers, up to today; null while that is not known or none. */
  readonly known: KnownDays | null = $derived.by(() => {
    const [start, last] = [this.dataset?.first_day, this.dataset?.last_day];
    if (!start || !last) return null;
    const today = new Date().toISOString().slice(0, 10);
    const days = { start, end: start <= today && today < last ? today : last };
    const spans = this.dataset?.states ?? [];
    return { ...days, incomplete: incompleteDays(spans, this.view.filters, days, today) };
  });

  /** Names the state of the data that is shown. */
  readonly version: string = $derived(this.dataset?.data_version ?? "");

  readonly period: Period | null = $derived(this.known && periodOf(this.view, this.known));

  constructor(access: Access) {
    this.access = access;
  }

  /** Learns what the data covers. */
  async open(): Promise<void> {
    const { answer, problem } = await this.access.ask<Dataset>(DATASET);
    this.problem = problem;
    if (answer) this.dataset = answer;
  }

  ask<T>(address: string, signal?: AbortSignal): Promise<Outcome<T>> {
    return this.access.ask<T>(address, signal);
  }

  /**
   * Finds out whether the data has changed by now: then everything that is shown asks again. A look
   * that is under way may have missed the change: a caller in the same time shares the next one.
   */
  check(): Promise<void> {
    this.#next ??= this.#looking.then(() => {
      this.#next = null;
      this.#looking = this.#look();
      return this.#looking;
    });
    return this.#next;
  }

  async #look(): Promise<void> {
    if (this.#rest !== 0) return;
    const { answer } = await this.access.ask<Dataset>(DATASET);
    // A failed check is reported by the questions themselves.
    if (!answer || answer.data_version === this.version) return;
    if (this.dataset) this.say("The data has changed; this is the newest");
    this.dataset = answer;
    this.problem = null;
    this.#rest = window.setTimeout(() => {
      this.#rest = 0;
      void this.check();
    }, REST_MS);
  }

  /** The page goes: it looks after the data no more. */
  close(): void {
    window.clearTimeout(this.#rest);
  }

  /** Follows the back button. */
  follow(): void {
    this.view = viewFrom(window.location.search);
  }

  /** Shows another view; `quiet` ones, as letters of a search, make no step of the history. */
  go(view: View, quiet = false): void {
    const address = searchOf(view);
    if (address === searchOf(this.view)) return;
    this.view = view;
    if (quiet) window.history.replaceState(null, "", address);
    else window.history.pushState(null, "", address);
  }

  /** All traffic as the page begins, in the same look. */
  goHome(): void {
    this.go(DEFAULT_VIEW);
  }

  change(change: Partial<View>, quiet = false): void {
    this.go({ ...this.view, ...change }, quiet);
  }

  /** What a key is called; the key itself until that is known. */
  readonly labelOf = (dimension: Dimension, key: string): string =>
    this.#labels.get(`${dimension}/${key}`) ?? key;

  /** Remembers names that an answer brought along. */
  learn(dimension: Dimension, values: Iterable<{ key: string; label: string }>): void {
    const labels = new Map(this.#labels);
    for (const { key, label } of values) labels.set(`${dimension}/${key}`, label);
    this.#labels = labels;
  }

  /** Asks for the names of keys; one that is not there, of an old link perhaps, says so. */
  async name(dimension: Dimension, keys: readonly string[]): Promise<void> {
    const unknown = keys.filter((key) => !this.#asked.has(`${dimension}/${key}`)).slice(0, 50);
    if (unknown.length === 0) return;
    for (const key of unknown) this.#asked.add(`${dimension}/${key}`);
    const words = new URLSearchParams(unknown.map((key) => ["key", key]));
    const { answer } = await this.access.ask<Values>(`api/values/${dimension}?${words.toString()}`);
    if (!answer) return;
    const found = new Set(answer.rows.map(({ key }) => key));
    const gone = unknown.filter((key) => !found.has(key));
    this.learn(dimension, [...answer.rows, ...gone.map((key) => ({ key, label: `${key} (unknown)` }))]);
  }

  /** For a few seconds; the same words again are announced again. */
  say(message: string): void {
    window.clearTimeout(this.#silence);
    this.message = "";
    window.setTimeout(() => (this.message = message), 50);
    this.#silence = window.setTimeout(() => (this.message = ""), 4000);
  }
}
