// The server's answers: what they are, where they came from, and what is wrong in words that say
// what to do. The one place that fetches.

import type { PerDay } from "./measure";
import type { DaySpan } from "./states";

export interface Metrics {
  pageviews: number;
  sessions: number;
  engagement_seconds: number;
}

export interface Row extends Metrics {
  key: string;
  label: string;
  /** The ISO code, where rows are split. */
  country?: string;
  previous?: Metrics;
  /** What of it is compared with `previous`, where days are left out. */
  comparable?: Metrics;
}

export interface Answer {
  totals: Metrics & { previous?: Metrics; comparable?: Metrics };
  /** Of how many days the totals are that are compared, where these are not as many. */
  perDay?: PerDay;
  /** Days that the comparison leaves out, in words. */
  leftOut?: string;
  row_count: number;
  rows: Row[];
}

export interface Dataset {
  /** Null while there is no traffic. */
  first_day: string | null;
  last_day: string | null;
  articles: number;
  traffic_rows: number;
  data_version: string;
  states?: DaySpan[];
}

/** A value of a dimension: its key in filters, its label for people. */
export interface Value {
  key: string;
  label: string;
}

export interface Values {
  rows: Value[];
  row_count: number;
}

export interface Relative {
  uuid: string;
  title: string;
  human_language: string;
  url: string;
}

export interface Article extends Relative {
  slug: string;
  blog: string;
  author: string;
  team: string;
  product: string;
  language: string;
  published: string;
  original: Relative | null;
  translations: Relative[];
}

export interface ListedArticle {
  uuid: string;
  url: string;
  author: string;
  team: string;
  published: string;
}

export interface Session {
  name: string | null;
  public: boolean;
  csrf_token: string | null;
  has_accounts: boolean;
}

/** Which engine answered and what it took there, from the answer's headers. */
export interface Origin {
  engine: string | null;
  design: string | null;
  rowsRead: number | null;
  cache: string | null;
  /** How many questions it took. */
  questions: number;
  /** In the server, milliseconds. */
  queryMs: number | null;
  /** Until the page had the answer, milliseconds. */
  totalMs: number;
}

export interface Problem {
  /** 0 where no answer came at all. */
  status: number;
  detail: string;
  /** The parameter or field at fault. */
  parameter: string | null;
  /** Names the request in the server's log; only of unexpected problems. */
  requestId: string | null;
}

export type Outcome<T> =
  | { answer: T; origin: Origin; problem: null }
  | { answer: null; origin: null; problem: Problem };

/** `query;dur=1.234` of a Server-Timing header, milliseconds. */
export function timingMs(header: string | null): number | null {
  for (const metric of (header ?? "").split(",")) {
    const [name = "", ...parameters] = metric.trim().split(";");
    if (name.trim() !== "query") continue;
    const duration = parameters.map((p) => /^\s*dur=([\d.]+)\s*$/.exec(p)?.[1]).find(Boolean);
    if (duration !== undefined) return Number(duration);
  }
  return null;
}

function originOf(headers: Headers, totalMs: number): Origin {
  const rows = headers.get("Crossover-Rows-Read");
  return {
    engine: headers.get("Crossover-Engine"),
    design: headers.get("Crossover-Design"),
    rowsRead: rows !== null && /^\d+$/.test(rows) ? Number(rows) : null,
    cache: headers.get("Crossover-Answer-Cache"),
    questions: 1,
    queryMs: timingMs(headers.get("Server-Timing")),
    totalMs,
  };
}

/** The origin of an answer that several questions made together, one beside the other. */
export function together(origins: readonly Origin[]): Origin {
  const known = (of: (origin: Origin) => string | null) =>
    [...new Set(origins.map(of).filter((text) => text !== null))].join(" and ") || null;
  const sum = (of: (origin: Origin) => number | null) =>
    origins.reduce<number | null>((so, origin) => {
      const one = of(origin);
      return one === null ? so : (so ?? 0) + one;
    }, null);
  return {
    engine: known(({ engine }) => engine),
    design: known(({ design }) => design),
    rowsRead: sum(({ rowsRead }) => rowsRead),
    cache: origins.every(({ cache }) => cache === "hit") ? "hit" : "miss",
    questions: sum(({ questions }) => questions) ?? 0,
    queryMs: sum(({ queryMs }) => queryMs),
    totalMs: Math.max(...origins.map(({ totalMs }) => totalMs)),
  };
}

const NO_ANSWER = "The server does not answer. Is `crossover dashboard serve` still running?";

/** What an answer that is none means to the reader of the page. */
export function problemOf(
  status: number, body: string, requestId: string | null = null,
): Problem {
  let said: { title?: string; detail?: string; parameter?: string } = {};
  try {
    said = JSON.parse(body) as typeof said;
  } catch {
    // Not a problem document, perhaps a proxy's page: the status has to do.
  }
  const detail = said?.detail ?? said?.title ?? `The server answered with status ${status}.`;
  const unexpected = status >= 500 && status !== 503;
  return { status, detail, parameter: said?.parameter ?? null,
    requestId: unexpected ? requestId : null };
}

/** What would help beside the problem's own words; empty where they say it all. */
export function adviceFor({ status }: Problem): string {
  if (status === 503) {
    // Also where the database is away: the detail says which of both it is.
    return "If it took too long: a shorter period, more filters or no split by country help.";
  }
  if (status === 429) return "Wait a moment and try again.";
  if (status === 414) return "The question is longer than the server reads: fewer values to filter by help.";
  return "";
}

export interface Asking {
  /** An API key, for those who come without an account. */
  key?: string;
  signal?: AbortSignal;
  method?: "GET" | "POST" | "DELETE";
  body?: unknown;
  csrfToken?: string | null;
}

function requestOf({ key, signal, method = "GET", body, csrfToken }: Asking): RequestInit {
  const headers: Record<string, string> = {};
  if (key) headers.Authorization = `Bearer ${key}`;
  if (csrfToken) headers["X-CSRF-Token"] = csrfToken;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  return {
    method, headers, ...(signal ? { signal } : {}),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  };
}

/** Never throws but for an abort, so that pages have one place for problems. */
async function outcomeOf<T>(
  address: string, asking: Asking, read: (response: Response) => Promise<T>,
): Promise<Outcome<T>> {
  const begin = performance.now();
  try {
    const response = await fetch(address, requestOf(asking));
    if (!response.ok) {
      const body = await response.text();
      const problem = problemOf(response.status, body, response.headers.get("X-Request-Id"));
      return { answer: null, origin: null, problem };
    }
    const answer = await read(response);
    return { answer, origin: originOf(response.headers, performance.now() - begin), problem: null };
  } catch (error) {
    if (asking.signal?.aborted) throw error;
    const problem = { status: 0, detail: NO_ANSWER, parameter: null, requestId: null };
    return { answer: null, origin: null, problem };
  }
}

async function json<T>(response: Response): Promise<T> {
  const body = await response.text();
  return (body === "" ? null : JSON.parse(body)) as T;
}

/** Asks the server. */
export function ask<T>(address: string, asking: Asking = {}): Promise<Outcome<T>> {
  return outcomeOf(address, asking, json<T>);
}

/** Asks for something that is passed on unchanged. */
export function askFile(address: string, asking: Asking = {}): Promise<Outcome<Blob>> {
  return outcomeOf(address, asking, (response) => response.blob());
}
