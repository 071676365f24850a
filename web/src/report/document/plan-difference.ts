// Which lines of two query plans differ, by the longest common subsequence of their lines. Costs,
// row counts and times are left out of the comparison: they differ between any two levels.

export interface PlanLine {
  text: string;
  /** Only this plan has the line. */
  only: boolean;
}

/** Longer plans are compared as sets of lines: the table below would be too large. */
const COMPARED_LINES = 600;

/** A line's own words, without the planner's and the executor's numbers. */
function shape(line: string): string {
  return line
    .replace(/\((?:cost|actual|never executed|rows)\b[^)]*\)/g, "")
    .replace(/\b\d+(?:\.\d+)?\s*(?:ms|kB|rows)?\b/g, "#")
    .trim();
}

/** A plan without its numbers: two of the same shape are one plan. */
export function planShape(text: string): string {
  return text.trimEnd().split("\n").map(shape).join("\n");
}

/** For each pair of beginnings how many lines the rest of both have in common, in order. */
function common(a: readonly string[], b: readonly string[]): number[][] {
  const table = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0));
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      const [row, next] = [table[i] ?? [], table[i + 1] ?? []];
      row[j] = a[i] === b[j] ? (next[j + 1] ?? 0) + 1 : Math.max(next[j] ?? 0, row[j + 1] ?? 0);
    }
  }
  return table;
}

/** The lines of both plans, each marked where the other plan has no counterpart. */
export function planDifference(first: string, second: string): [PlanLine[], PlanLine[]] {
  const [left, right] = [first, second].map((text) => text.trimEnd().split("\n"));
  if (!left || !right) return [[], []];
  const [a, b] = [left.map(shape), right.map(shape)];
  if (Math.max(a.length, b.length) > COMPARED_LINES) {
    const [inA, inB] = [new Set(a), new Set(b)];
    return [
      left.map((text, i) => ({ text, only: !inB.has(a[i] ?? "") })),
      right.map((text, j) => ({ text, only: !inA.has(b[j] ?? "") })),
    ];
  }
  const table = common(a, b);
  const sides: [PlanLine[], PlanLine[]] = [
    left.map((text) => ({ text, only: true })),
    right.map((text) => ({ text, only: true })),
  ];
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    const [one, other] = [sides[0][i], sides[1][j]];
    if (a[i] === b[j] && one && other) {
      one.only = other.only = false;
      i += 1;
      j += 1;
    } else if ((table[i + 1]?.[j] ?? 0) >= (table[i]?.[j + 1] ?? 0)) i += 1;
    else j += 1;
  }
  return sides;
}
