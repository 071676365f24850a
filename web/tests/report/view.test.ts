// The reader's choices survive in the URL's hash.

import { expect, test } from "vitest";
import { choicesFrom, hashOf } from "../../src/report/view.svelte";

test("choices go into the hash and come back", () => {
  const choices = { scale: "log", axes: "common", theme: "dark" } as const;
  expect(choicesFrom(hashOf(choices, "requests"))).toEqual({ ...choices, at: "requests" });
});

test("defaults leave the hash empty, and unknown words mean the default", () => {
  const choices = { scale: "linear", axes: "own", theme: "auto" } as const;
  expect(hashOf(choices)).toBe("#");
  expect(choicesFrom("#scale=cubic&theme=pink")).toEqual({ ...choices, at: null });
});
