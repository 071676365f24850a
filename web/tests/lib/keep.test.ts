// Texts kept in the browser, and pages that work where it keeps nothing.

import { afterEach, expect, test, vi } from "vitest";
import { keep, kept } from "../../src/lib/keep";

afterEach(() => vi.unstubAllGlobals());

test("what was kept comes back until it is forgotten", () => {
  const texts = new Map<string, string>();
  vi.stubGlobal("localStorage", {
    getItem: (place: string) => texts.get(place) ?? null,
    setItem: (place: string, text: string) => void texts.set(place, text),
    removeItem: (place: string) => void texts.delete(place),
  });
  expect(keep("browser", "theme", "dark")).toBe(true);
  expect(kept("browser", "theme")).toBe("dark");
  keep("browser", "theme", null);
  expect(kept("browser", "theme")).toBeNull();
});

test("a storage that is full or switched off keeps nothing and breaks nothing", () => {
  const off = () => {
    throw new Error("SecurityError");
  };
  vi.stubGlobal("sessionStorage", { getItem: off, setItem: off, removeItem: off });
  expect(kept("tab", "key")).toBeNull();
  expect(keep("tab", "key", "k")).toBe(false);
});
