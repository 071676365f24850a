// One question to the query API: its URL, its answer with where that came from, or what is wrong
// in words that say what to do.

export const GROUPINGS = [
  "articles",
  "days",
  "weeks",
  "months",
  "years",
  "products",
  "teams",
  "authors",
  "languages",
  "human_languages",
  "countries",
  "article_years",
  "blogs",
] as const;
export type Grouping = (typeof GROUPINGS)[number];

/** What the page asks; also what its URL holds. Dates are ISO, both inclusive. */
export interface Query {
  grouping: Grouping;
  start: string;
  end: string;
  /** Empty for all blogs. */
  blog: string;
}

export interface Metrics {
  pageviews: number;
  sessions: number;
  engagement_seconds: number;
}

export interface Answer {
  totals: Metrics;
  row_count: number;
  rows: ({ key: string; label: string } & Metrics)[];
}

/** Which engine answered and how long it took there, from the answer's headers. */
export interface Origin {
  engine: string | null;
  design: string | null;
  timing: string | null;
}

export type Outcome =
  | { answer: Answer; origin: Origin; problem: null }
  | { answer: null; origin: null; problem: string };

const DEFAULTS: Query = {
  grouping: "articles",
  start: "2021-01-01",
  end: "2021-12-31",
  blog: "",
};

/** Reads a query from the page's own URL; what is absent or unknown is the default. */
export function queryFrom(search: string): Query {
  const words = new URLSearchParams(search);
  return {
    grouping: GROUPINGS.find((name) => name === words.get("grouping")) ?? DEFAULTS.grouping,
    start: words.get("start") ?? DEFAULTS.start,
    end: words.get("end") ?? DEFAULTS.end,
    blog: words.get("blog") ?? DEFAULTS.blog,
  };
}

/** The page's URL for a query, without the key, which belongs in no URL. */
export function searchOf(query: Query): string {
  const { blog, ...rest } = query;
  return `?${new URLSearchParams(blog ? { ...rest, blog } : rest).toString()}`;
}

/** The API's address for a query, relative to the page. */
export function addressOf(query: Query): string {
  const { grouping, start, end, blog } = query;
  const parameters = new URLSearchParams(blog ? { start, end, blog } : { start, end });
  return `api/query/${grouping}?${parameters.toString()}`;
}

/** `db;dur=12.3, total;dur=15` as 'db 12.3 ms, total 15 ms'. */
export function timingText(header: string | null): string | null {
  if (!header) return null;
  const parts = header.split(",").flatMap((metric) => {
    const [name = "", ...parameters] = metric.trim().split(";");
    const length = parameters.map((p) => /^\s*dur=([\d.]+)$/.exec(p)?.[1]).find(Boolean);
    return length ? [`${name} ${length}\u00a0ms`] : [];
  });
  return parts.length ? parts.join(", ") : null;
}

/** What an answer other than 200 means to the reader of the page. */
export function problemOf(status: number, body: string): string {
  if (status === 401 || status === 403) {
    return "The key is not accepted. crossover dashboard key add NAME makes one.";
  }
  let detail = "";
  try {
    const problem = JSON.parse(body) as { title?: string; detail?: string };
    detail = problem.detail ?? problem.title ?? "";
  } catch {
    // Not a problem document: the status has to do.
  }
  return detail || `The server answered with status ${status}.`;
}

/** Asks the API. Never throws but for an abort, so that the page has one place for problems. */
export async function ask(query: Query, key: string, signal: AbortSignal): Promise<Outcome> {
  const headers = { Authorization: `Bearer ${key}` };
  let response: Response;
  let body: string;
  try {
    response = await fetch(addressOf(query), { headers, signal });
    body = await response.text();
  } catch (error) {
    if (signal.aborted) throw error;
    const problem = "The server does not answer. Is crossover dashboard serve still running?";
    return { answer: null, origin: null, problem };
  }
  if (!response.ok) {
    return { answer: null, origin: null, problem: problemOf(response.status, body) };
  }
  const origin = {
    engine: response.headers.get("Crossover-Engine"),
    design: response.headers.get("Crossover-Design"),
    timing: timingText(response.headers.get("Server-Timing")),
  };
  return { answer: JSON.parse(body) as Answer, origin, problem: null };
}
