// Who asks: a person signed in, a program's API key lent to this tab, or anybody where the server
// is public. Everything the pages ask goes through here, so that an ended sign-in is noticed once.

import { keep, kept } from "../../lib/keep";
import { ask, askFile, type Dataset, type Outcome, type Problem, type Session } from "../data/api";

const KEY_PLACE = "crossover-key";

/** The one-time token of the link that `serve` prints while there is no account. */
export function setupToken(hash: string): string {
  return new URLSearchParams(hash.replace(/^#/, "")).get("setup") ?? "";
}

export class Access {
  session = $state.raw<Session | null>(null);
  /** Why there is no session to speak of. */
  problem = $state.raw<Problem | null>(null);
  key = $state(kept("tab", KEY_PLACE) ?? "");
  /** Said on the sign-in page: why one is there again. */
  notice = $state("");
  /** The reader of a public server asked to sign in. */
  wantsSignIn = $state(false);
  token = $state(setupToken(window.location.hash));

  readonly page: "wait" | "problem" | "setup" | "sign-in" | "dashboard" = $derived.by(() => {
    if (this.problem) return "problem";
    if (!this.session) return "wait";
    if (this.token && !this.session.has_accounts) return "setup";
    if (this.wantsSignIn) return "sign-in";
    if (this.session.name !== null || this.session.public || this.key) return "dashboard";
    return "sign-in";
  });

  /** Asks who is signed in. */
  async open(): Promise<void> {
    const { answer, problem } = await ask<Session>("api/session");
    this.problem = problem;
    if (!answer) return;
    this.session = answer;
    if (this.token && answer.has_accounts) {
      this.leaveSetup();
      this.notice = "The first account is there already; the link has done its work.";
    }
  }

  /** Asks the server with the reader's account or key. */
  ask<T>(address: string, signal?: AbortSignal): Promise<Outcome<T>> {
    const { key } = this;
    return this.#admitted(key, ask<T>(address, { key, ...(signal ? { signal } : {}) }));
  }

  /** Asks for a file with the reader's account or key: a link cannot lend a key. */
  file(address: string): Promise<Outcome<Blob>> {
    const { key } = this;
    return this.#admitted(key, askFile(address, { key }));
  }

  async #admitted<T>(key: string, asked: Promise<Outcome<T>>): Promise<Outcome<T>> {
    const outcome = await asked;
    // Of several refusals of a key the first has forgotten it.
    if (outcome.problem?.status === 401 && key === this.key) this.#refused();
    return outcome;
  }

  #refused(): void {
    if (this.key) {
      this.notice = "The API key is not accepted any more.";
      this.#keep("");
      return;
    }
    // A reader who has signed out gets no message.
    if (this.page !== "dashboard") return;
    this.notice = "Your sign-in has ended. Sign in again to go on where you were.";
    if (this.session) this.session = { ...this.session, name: null, public: false };
  }

  async signIn(name: string, password: string): Promise<Problem | null> {
    const body = { name, password };
    return this.#enter(await ask<Session>("api/session", { method: "POST", body }));
  }

  /** Makes the first account; its maker is signed in. */
  async setUp(name: string, password: string): Promise<Problem | null> {
    const body = { token: this.token, name, password };
    const problem = this.#enter(await ask<Session>("api/account", { method: "POST", body }));
    if (!problem) this.leaveSetup();
    return problem;
  }

  /** The token has done its work and goes from the address. */
  leaveSetup(): void {
    this.token = "";
    const { pathname, search } = window.location;
    window.history.replaceState(null, "", pathname + search);
  }

  #enter({ answer, problem }: Outcome<Session>): Problem | null {
    if (problem) return problem;
    this.session = answer;
    this.notice = "";
    this.wantsSignIn = false;
    this.#keep("");
    return null;
  }

  /** Tries an API key; it stays in this tab. */
  async useKey(key: string): Promise<Problem | null> {
    const { problem } = await ask<Dataset>("api/dataset", { key });
    if (problem) return problem;
    this.#keep(key);
    this.notice = "";
    this.wantsSignIn = false;
    return null;
  }

  async signOut(): Promise<Problem | null> {
    if (this.key) this.#keep("");
    const csrfToken = this.session?.csrf_token ?? null;
    if (csrfToken) {
      const { problem } = await ask("api/session", { method: "DELETE", csrfToken });
      // Not signed in any more is what was wanted.
      if (problem && problem.status !== 401) return problem;
    }
    await this.open();
    return null;
  }

  #keep(key: string): void {
    this.key = key;
    keep("tab", KEY_PLACE, key || null);
  }
}
