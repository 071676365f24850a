// Tests that need what a machine may not have are noted, and counted at the end of `make test`;
// with CROSSOVER_TEST_NO_SKIPS=1 they fail.

import { appendFileSync } from "node:fs";

export function noteSkip(tests: string, why: string): void {
  if (process.env.CROSSOVER_TEST_NO_SKIPS === "1") {
    throw new Error(`${tests} were skipped where nothing may be: ${why}`);
  }
  console.warn(`\nskipped: ${tests}: ${why}\n`);
  const notes = process.env.CROSSOVER_TEST_SKIPS;
  if (notes) appendFileSync(notes, `${tests}: ${why}\n`);
}
