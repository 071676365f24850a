// Something loaded and shown: the old answer stays in sight while the new one is on its way, a
// question that nobody waits for any more is broken off, and an answer is always shown with the
// view it answers.

import type { Origin, Outcome, Problem } from "./api";
import type { Loading } from "./load";

export interface Shown<T, Context> {
  answer: T;
  origin: Origin;
  context: Context;
}

/** Whoever asks the server; `Access` does. */
export interface Asker {
  ask: <T>(address: string, signal: AbortSignal) => Promise<Outcome<T>>;
}

export class Loaded<T, Context> {
  shown = $state.raw<Shown<T, Context> | null>(null);
  problem = $state.raw<Problem | null>(null);
  busy = $state(false);
  readonly #asker: Asker;
  #wanted: { loading: Loading<T>; context: Context } | null = null;
  /** What `shown` answers. */
  #answered = "";
  #running: AbortController | null = null;

  constructor(asker: Asker) {
    this.#asker = asker;
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

  /** Breaks off what is on its way, when the page that shows it goes. */
  stop(): void {
    this.#running?.abort();
  }

  async #load(): Promise<void> {
    const wanted = this.#wanted;
    if (!wanted) return;
    this.#running?.abort();
    if (this.#answered === wanted.loading.id && this.shown && this.problem === null) {
      // Back to what is still in sight, before the other answer came.
      this.busy = false;
      this.shown = { ...this.shown, context: wanted.context };
      return;
    }
    const running = new AbortController();
    this.#running = running;
    this.busy = true;
    try {
      const outcome = await wanted.loading.load((address) =>
        this.#asker.ask(address, running.signal));
      if (!running.signal.aborted) this.#take(outcome, wanted.loading.id);
    } catch (error) {
      if (!running.signal.aborted) throw error;
    } finally {
      if (this.#running === running) this.busy = false;
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
