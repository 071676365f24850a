// How the reader looks at the report: linear or logarithmic, own or common axes, theme. Kept in
// the URL's hash, so that a link shows what its sender saw; `at` is the section to scroll to.

import { flushSync } from "svelte";
import { applyTheme, prefersDark, type Theme, themeFrom } from "../lib/theme";
import type { YScale } from "./chart/axis";
import { type Colours, DARK, LIGHT } from "./chart/style";

export type Axes = "own" | "common";

export interface Choices {
  scale: YScale;
  axes: Axes;
  theme: Theme;
}

const DEFAULTS: Choices = { scale: "linear", axes: "own", theme: "auto" };

/** Reads the choices from a hash; unknown words mean the default. */
export function choicesFrom(hash: string): Choices & { at: string | null } {
  const words = new URLSearchParams(hash.replace(/^#/, ""));
  return {
    scale: words.get("scale") === "log" ? "log" : "linear",
    axes: words.get("axes") === "common" ? "common" : "own",
    theme: themeFrom(words.get("theme")),
    at: words.get("at"),
  };
}

/** The hash of these choices; defaults are left out. */
export function hashOf(choices: Choices, at: string | null = null): string {
  const words = new URLSearchParams();
  for (const name of ["scale", "axes", "theme"] as const) {
    if (choices[name] !== DEFAULTS[name]) words.set(name, choices[name]);
  }
  if (at) words.set("at", at);
  return `#${words.toString()}`;
}

export class ReportView {
  scale = $state<YScale>(DEFAULTS.scale);
  axes = $state<Axes>(DEFAULTS.axes);
  theme = $state<Theme>(DEFAULTS.theme);
  #systemDark = $state(false);
  printing = $state(false);

  readonly colours: Colours = $derived(
    !this.printing && (this.theme === "dark" || (this.theme === "auto" && this.#systemDark))
      ? DARK
      : LIGHT,
  );

  constructor() {
    const dark = prefersDark();
    this.#systemDark = dark.matches;
    dark.addEventListener("change", () => (this.#systemDark = dark.matches));
    this.#read();
    window.addEventListener("hashchange", () => this.#read());
    // Paper is white and narrower than the screen: charts are drawn anew for it, at once,
    // since the browser takes its picture when these listeners return.
    const print = (printing: boolean) => {
      document.documentElement.classList.toggle("printing", printing);
      this.printing = printing;
      flushSync();
    };
    window.addEventListener("beforeprint", () => print(true));
    window.addEventListener("afterprint", () => print(false));
  }

  /** The link to a section that keeps the reader's choices. */
  link(at: string): string {
    return hashOf(this, at);
  }

  choose(change: Partial<Choices>): void {
    Object.assign(this, change);
    applyTheme(this.theme);
    window.history.replaceState(null, "", hashOf(this));
  }

  /** Scrolls to the section that the hash names, once the page is drawn. */
  goToSection(): void {
    const { at } = choicesFrom(window.location.hash);
    if (at) document.getElementById(at)?.scrollIntoView();
  }

  #read(): void {
    const { at: _, ...choices } = choicesFrom(window.location.hash);
    Object.assign(this, choices);
    applyTheme(this.theme);
    this.goToSection();
  }
}
