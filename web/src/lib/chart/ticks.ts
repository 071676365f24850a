// Ticks of an axis at values that people read easily.

/** Steps that people read easily: 1, 2, 2.5 or 5 times a power of ten. */
const STEPS = [1, 2, 2.5, 5, 10] as const;

/** The smallest easily read step that is at least `rough`. */
export function niceStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = STEPS.find((candidate) => candidate * power >= rough * (1 - 1e-9)) ?? 10;
  return step * power;
}

/** Removes what binary fractions add: 0.30000000000000004 is 0.3. */
export function clean(value: number): number {
  return Number(value.toPrecision(12));
}

/** The multiples of `step` between two values, both included. */
export function multiples(from: number, to: number, step: number): number[] {
  const ticks: number[] = [];
  for (let k = Math.ceil(from / step - 1e-9); k * step <= to * (1 + 1e-9); k += 1) {
    ticks.push(clean(k * step));
  }
  return ticks;
}
