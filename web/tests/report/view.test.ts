// The reader's choices survive in the URL's hash.

import { expect, test } from "vitest";
import { choicesFrom, DEFAULTS, hashOf } from "../../src/report/document/view.svelte";

test("choices go into the hash and come back", () => {
  const choices = {
    scale: "log", xScale: "linear", axes: "common", theme: "dark", run: 2, percentiles: 5,
    hidden: ["postgres:14[work_mem=16MB]", "sqlite"],
  } as const;
  expect(choicesFrom(hashOf(choices, "requests"))).toEqual({ ...choices, at: "requests" });
});

test("defaults leave the hash empty, and unknown words mean the default", () => {
  expect(hashOf(DEFAULTS)).toBe("#");
  expect(choicesFrom("#scale=cubic&x=1&theme=pink&run=two&percentiles=-1")).toEqual({
    ...DEFAULTS, at: null });
});

test("a page that asks for common axes has them unless the reader chose otherwise", () => {
  const defaults = { ...DEFAULTS, axes: "common" } as const;
  expect(choicesFrom("#", defaults).axes).toBe("common");
  const own = hashOf({ ...defaults, axes: "own" }, null, defaults);
  expect(choicesFrom(own, defaults).axes).toBe("own");
});
