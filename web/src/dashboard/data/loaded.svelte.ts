// Something loaded and shown: the old answer stays in sight while the new one is on its way, a
// question whose answer is no longer wanted is broken off, an answer is always shown with the view it
// answers, and when the data changes it is asked for again.

import { untrack } from "svelte";
import type { Origin, Outcome, Problem } from "./api";
import type { Loading } from "./load";

export interface Shown<T, Context> {
  answer: T;
  origin: Origin;
  context: Context;
}

/** The part that asks the server; `Model` implements it. */
export interface QuestionClient {
  ask: <T>(address: string, signal: AbortSignal) => Promise<Outcome<T>>;
  /** Names the state of the data that the page shows; reactive. */
  readonly version: string;
  /** Makes sure that `version` knows of every change before the call. */
  check: () => Promise<void>;
}

/** Made with the component that shows it, and broken off with it. */
export class Loaded<T, Context> {
  shown = $state.raw<Shown<T, Context> | null>(null);
  problem = $state.raw<Problem | null>(null);
  busy = $state(false);
  readonly #client: QuestionClient;
  #wanted: { loading: Loading<T>; context: Context } | null = null;
  /** What `shown` answers, and of which state of the data. */
  #answered = "";
  #running: AbortController | null = null;

  constructor(client: QuestionClient) {
    this.#client = client;
    $effect(() => {
      void client.version;
      untrack(() => void this.#load());
    });
    $effect(() => () => this.#running?.abort());
  }

  /** Loads, unless just that is shown or on its way already. */
  want(loading: Loading<T>, context: Context): void {
    const same = this.#wanted?.loading.id === loading.id && this.problem === null;
    this.#wanted = { loading, context };
    if (!same) void this.#load();
    else if (!this.busy && this.shown) this.shown = { ...this.shown, context };
  }

  /** Asks once more. */
  again(): void {
    void this.#load();
  }

  async #load(): Promise<void> {
    const wanted = this.#wanted;
    if (!wanted) return;
    this.#running?.abort();
    const { version } = this.#client;
    const id = `${version} ${wanted.loading.id}`;
    if (this.#answered === id && this.shown && this.problem === null) {
      // Back to what is still in sight, before the other answer came.
      this.busy = false;
      this.shown = { ...this.shown, context: wanted.context };
      return;
    }
    const running = new AbortController();
    this.#running = running;
    this.busy = true;
    // An answer of other data than the rest of the page is not shown: all of it is asked again.
    const current = () => !running.signal.aborted && version === this.#client.version;
    try {
      const outcome = await wanted.loading.load((address) =>
        this.#client.ask(address, running.signal));
      // Only now: the data may have changed while the answer was made.
      if (!outcome.problem) await this.#client.check();
      if (current()) this.#take(outcome, id);
    } catch (error) {
      if (!running.signal.aborted) throw error;
    } finally {
      if (current()) this.busy = false;
    }
  }

  #take(outcome: Outcome<T>, id: string): void {
    // What the reader chose meanwhile without another question.
    const context = this.#wanted?.context;
    this.problem = outcome.problem;
    if (outcome.problem || context === undefined) return;
    this.#answered = id;
    this.shown = { answer: outcome.answer, origin: outcome.origin, context };
  }
}
