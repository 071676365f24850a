// The three metrics: what they are called, how they come out of sums, how they read.

import { change, clock, count, share, shortCount } from "../../lib/format";
import type { Metrics } from "./api";
import type { Metric } from "../view/view";

export const METRIC_NAMES: Record<Metric, string> = {
  pageviews: "Pageviews",
  sessions: "Sessions",
  engagement: "Average engagement",
};

/** The value of a metric; null where an average has nothing to be an average of. */
export function valueOf(metrics: Metrics, metric: Metric): number | null {
  if (metric !== "engagement") return metrics[metric];
  return metrics.sessions > 0 ? metrics.engagement_seconds / metrics.sessions : null;
}

/** In full: '1,234,567', '1m 22s'; a dash where there is none. */
export function valueText(value: number | null, metric: Metric): string {
  if (value === null) return "\u2013";
  return metric === "engagement" ? clock(value) : count(value);
}

/** Where there is little room. */
export function shortText(value: number | null, metric: Metric): string {
  if (value === null) return "\u2013";
  return metric === "engagement" ? clock(value) : shortCount(value);
}

/** Averages over fewer sessions than these say little, so they are not ranked first. */
export const SESSIONS_WANTED = 100;

/** Whether an average over these sessions says something. */
export function isSolid({ sessions }: Metrics): boolean {
  return sessions >= SESSIONS_WANTED;
}

/** How many days two sums are of. */
export interface PerDay {
  now: number;
  before: number;
}

/** Sums beside earlier ones. */
export interface Pair {
  metrics: Metrics;
  /** What of them is compared, where that is not all. */
  comparable?: Metrics | undefined;
  previous: Metrics | null | undefined;
}

/** What is compared of a metric, now and before: sums of unlike periods per day. */
export function compared(
  { metrics, comparable, previous }: Pair, metric: Metric, perDay: PerDay | null | undefined,
): [number | null, number | null] {
  const now = valueOf(comparable ?? metrics, metric);
  const before = previous ? valueOf(previous, metric) : null;
  if (!perDay || metric === "engagement") return [now, before];
  return [now === null ? null : now / perDay.now, before === null ? null : before / perDay.before];
}

/** (now - before) / before; null where there is nothing to compare with. */
export function changeOf(now: number | null, before: number | null): number | null {
  if (now === null || before === null || before === 0) return null;
  return now / before - 1;
}

/** '+12.3%'; 'new' where there was nothing before; a dash where that is not known. */
export function changeText(now: number | null, before: number | null): string {
  const ratio = changeOf(now, before);
  if (ratio !== null) return change(ratio);
  return (now ?? 0) > 0 && before === 0 ? "new" : "\u2013";
}

/** The part of the whole that a row is; an average is not part of anything. */
export function shareOf(value: number | null, total: number | null, metric: Metric): number | null {
  if (metric === "engagement" || value === null || !total) return null;
  return value / total;
}

export function shareText(part: number | null): string {
  return part === null ? "\u2013" : share(part);
}

export const NOTHING: Metrics = { pageviews: 0, sessions: 0, engagement_seconds: 0 };

export function added(a: Metrics, b: Metrics): Metrics {
  return {
    pageviews: a.pageviews + b.pageviews,
    sessions: a.sessions + b.sessions,
    engagement_seconds: a.engagement_seconds + b.engagement_seconds,
  };
}

/** What is left of a whole when parts are taken away. */
export function minus(whole: Metrics, parts: readonly Metrics[]): Metrics {
  const left = (name: keyof Metrics) =>
    Math.max(0, parts.reduce((rest, part) => rest - part[name], whole[name]));
  return { pageviews: left("pageviews"), sessions: left("sessions"),
    engagement_seconds: left("engagement_seconds") };
}
