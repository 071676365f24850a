// Numbers as a reader wants them: three significant digits, times in ms or s,
// intervals as '52.1 (50.9 to 53.3)'. One place, so that every page rounds alike.

/** What a page shows where a number could not be obtained. */
export const MISSING = "not measured";

const DIGITS = 3;
/** An interval may need more digits than its value before its ends differ from it. */
const EXTRA_DIGITS = 2;

/** Units that measure the same thing, by their size in the base unit, smallest first. */
type Family = readonly (readonly [string, number])[];
const FAMILIES: readonly Family[] = [
  [["µs", 1e-6], ["ms", 1e-3], ["s", 1]],
  [["bytes", 1], ["kB", 1e3], ["MB", 1e6], ["GB", 1e9]],
];
const ALIASES: Record<string, string> = {
  us: "µs", seconds: "s", milliseconds: "ms", B: "bytes",
};

/** A unit to show, and what a value must be multiplied by to be in it. */
export interface ShownUnit {
  unit: string;
  factor: number;
}

/** The power of ten of the last digit shown when `value` is rounded to `digits` digits. */
function lastPlace(value: number, digits: number): number {
  if (value === 0 || !Number.isFinite(value)) return 0;
  const rounded = Math.abs(Number(value.toPrecision(digits)));
  return Math.floor(Math.log10(rounded) + 1e-9) - (digits - 1);
}

function atPlace(value: number, place: number): string {
  const decimals = Math.max(0, -place);
  const step = 10 ** place;
  const rounded = place > 0 ? Math.round(value / step) * step : value;
  const text = rounded.toLocaleString("en-US", {
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  });
  return text.replace(/^-(?=[0.,]*$)/, "");
}

/** `value` with three significant digits: 2,530, 52.1, 0.0511. */
export function significant(value: number | null | undefined, digits = DIGITS): string {
  if (value == null || !Number.isFinite(value)) return MISSING;
  if (value === 0) return "0";
  return atPlace(value, lastPlace(value, digits));
}

export function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A count, in full: 1,234,567. */
export function count(value: number | null | undefined): string {
  if (value == null || !Number.isFinite(value)) return MISSING;
  return Math.round(value).toLocaleString("en-US");
}

/** A count where there is little room: 950, 12.3k, 4.56M. */
export function shortCount(value: number): string {
  const sizes = [["", 1], ["k", 1e3], ["M", 1e6], ["G", 1e9]] as const;
  // 999,600 would be 1,000k: what three digits round up to belongs to the next size.
  const fits = sizes.filter(([, size]) => Math.abs(value) >= size * 0.9995).at(-1) ?? sizes[0];
  const shown = value / fits[1];
  if (fits[1] === 1) return Number(shown.toPrecision(DIGITS)).toLocaleString("en-US");
  return `${Number(shown.toPrecision(DIGITS))}${fits[0]}`;
}

/** A part of a whole: 12.3%, 0.05%, under 0.01%. */
export function share(part: number | null | undefined): string {
  if (part == null || !Number.isFinite(part)) return MISSING;
  const percent = part * 100;
  if (percent === 0) return "0%";
  if (percent < 0.01) return "under 0.01%";
  return `${percent.toFixed(percent >= 99.95 ? 0 : percent >= 9.95 ? 1 : 2)}%`;
}

/** How much more or less than before: +12.3%, −4.56%, +240%; the sign is a true minus. */
export function change(ratio: number): string {
  const percent = Math.abs(ratio * 100);
  const digits = percent >= 99.95 ? 0 : percent >= 9.95 ? 1 : 2;
  const text = percent.toFixed(digits);
  if (Number(text) === 0) return "0%";
  const grouped = digits === 0 ? Number(text).toLocaleString("en-US") : text;
  return `${ratio < 0 ? "\u2212" : "+"}${grouped}%`;
}

/** A short span where there is little room: 42s, 1m 22s, 1h 3m. */
export function clock(seconds: number | null | undefined): string {
  if (seconds == null || !Number.isFinite(seconds)) return MISSING;
  const whole = Math.round(seconds);
  if (whole < 10 && whole !== seconds) return `${seconds.toFixed(1)}s`;
  if (whole < 60) return `${whole}s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return whole % 60 ? `${minutes}m\u00a0${whole % 60}s` : `${minutes}m`;
  return `${Math.floor(minutes / 60).toLocaleString("en-US")}h\u00a0${minutes % 60}m`;
}

/** The unit in which a value of this magnitude reads best; unknown units stay. */
export function shownUnit(unit: string | null, magnitude: number): ShownUnit {
  const name = unit === null ? "" : (ALIASES[unit] ?? unit);
  const family = FAMILIES.find((units) => units.some(([symbol]) => symbol === name));
  const from = family?.find(([symbol]) => symbol === name);
  if (!family || !from) return { unit: name, factor: 1 };
  const size = Math.abs(magnitude) * from[1];
  const fits = family.filter(([, unitSize]) => size >= unitSize).at(-1);
  const to = fits ?? (size === 0 ? from : family[0]) ?? from;
  // Rounded, because 1e-3 / 1e-6 is 1000.0000000000001 in floating point.
  return { unit: to[0], factor: Number((from[1] / to[1]).toPrecision(12)) };
}

/** The unit for a whole column or axis: the largest that keeps most values at 1 or more. */
export function columnUnit(unit: string | null, values: readonly number[]): ShownUnit {
  const positive = values.filter((value) => value > 0).toSorted((a, b) => a - b);
  return shownUnit(unit, positive[Math.floor(positive.length / 4)] ?? 0);
}

/** Joins a number and its unit with a no-break space; a unit of null leaves the number alone. */
export function withUnit(text: string, unit: string | null): string {
  return unit ? `${text}\u00a0${unit}` : text;
}

/** `value` with the unit that suits it: 52.1 ms, 2.53 s. */
export function quantity(value: number | null | undefined, unit: string | null): string {
  if (value == null || !Number.isFinite(value)) return MISSING;
  const shown = shownUnit(unit, value);
  return withUnit(significant(value * shown.factor), shown.unit);
}

/** The three numbers of an estimate, as the document has them. */
export interface Bounds {
  value: number;
  low: number | null;
  high: number | null;
}

/**
 * '52.1 (50.9 to 53.3)', all three with the same number of decimals; more digits than three
 * only where an end would otherwise read like the value. Without ends: the value alone.
 */
export function interval(bounds: Bounds | null | undefined, factor = 1): string {
  if (!bounds || !Number.isFinite(bounds.value)) return MISSING;
  const value = bounds.value * factor;
  if (bounds.low === null || bounds.high === null) return significant(value);
  const [low, high] = [bounds.low * factor, bounds.high * factor];
  const first = lastPlace(value, DIGITS);
  let place = first;
  const reads = (end: number) => end !== value && atPlace(end, place) === atPlace(value, place);
  while (place > first - EXTRA_DIGITS && (reads(low) || reads(high))) place -= 1;
  return `${atPlace(value, place)} (${atPlace(low, place)} to ${atPlace(high, place)})`;
}

/** An interval with its unit: '52.1 ms (50.9 to 53.3)'. */
export function intervalWithUnit(bounds: Bounds | null | undefined, unit: string | null): string {
  if (!bounds || !Number.isFinite(bounds.value)) return MISSING;
  const shown = shownUnit(unit, bounds.value);
  const text = interval(bounds, shown.factor);
  const end = text.indexOf(" (");
  if (end < 0) return withUnit(text, shown.unit);
  return withUnit(text.slice(0, end), shown.unit) + text.slice(end);
}

/** A span of time in words: 3 min 22 s. */
export function duration(seconds: number | null | undefined): string {
  if (seconds == null || !Number.isFinite(seconds)) return MISSING;
  if (seconds < 60) return quantity(seconds, "s");
  const whole = Math.round(seconds);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)];
  if (hours > 0) return `${hours}\u00a0h ${minutes}\u00a0min`;
  return `${minutes}\u00a0min ${whole % 60}\u00a0s`;
}

/** A moment in UTC: 21 November 2026, 21:00 UTC. A text that is not a date stays unchanged. */
export function moment(iso: string): string {
  const time = new Date(iso);
  if (Number.isNaN(time.getTime())) return iso;
  const text = new Intl.DateTimeFormat("en-GB", {
    dateStyle: "long",
    timeStyle: "short",
    timeZone: "UTC",
  }).format(time);
  return `${text.replace(" at ", ", ")} UTC`;
}
