// How the reader looks at the report: scales, own or common axes, theme, which run and which
// treatment's percentiles. Kept in the URL's hash, so that a link shows what its sender saw;
// `at` is the section to scroll to.

import { flushSync } from "svelte";
import { type Colours, DARK, LIGHT } from "../../lib/chart/colours";
import { applyTheme, prefersDark, type Theme, themeFrom } from "../../lib/theme";
import type { XChoice, YScale } from "../chart/axis";

export type Axes = "own" | "common";

export interface Choices {
  scale: YScale;
  xScale: XChoice;
  axes: Axes;
  theme: Theme;
  /** The run shown in full, counted from 1. */
  run: number;
  /** The treatment whose percentiles are drawn, counted from 1; 0 is the page's own choice. */
  percentiles: number;
  /** Names of engines whose lines are not drawn. */
  hidden: readonly string[];
}

export const DEFAULTS: Choices = {
  scale: "linear", xScale: "plan", axes: "own", theme: "auto", run: 1, percentiles: 0,
  hidden: [],
};

/** The words of the hash, shorter than the names here. */
const WORDS = {
  scale: "scale", xScale: "x", axes: "axes", theme: "theme", run: "run", percentiles: "percentiles",
  hidden: "hide",
} as const satisfies Record<keyof Choices, string>;

function oneOf<T extends string>(word: string | null, known: readonly T[], fallback: T): T {
  return known.find((candidate) => candidate === word) ?? fallback;
}

function counted(word: string | null, fallback: number): number {
  return word !== null && /^\d{1,6}$/.test(word) ? Number(word) : fallback;
}

/** Reads the choices from a hash; unknown words mean the default. */
export function choicesFrom(
  hash: string,
  defaults: Choices = DEFAULTS,
): Choices & { at: string | null } {
  const words = new URLSearchParams(hash.replace(/^#/, ""));
  return {
    scale: oneOf(words.get(WORDS.scale), ["linear", "log"], defaults.scale),
    xScale: oneOf(words.get(WORDS.xScale), ["plan", "linear", "log"], defaults.xScale),
    axes: oneOf(words.get(WORDS.axes), ["own", "common"], defaults.axes),
    theme: themeFrom(words.get(WORDS.theme)),
    run: counted(words.get(WORDS.run), defaults.run),
    percentiles: counted(words.get(WORDS.percentiles), defaults.percentiles),
    hidden: words.getAll(WORDS.hidden),
    at: words.get("at"),
  };
}

/** The hash of these choices; defaults are left out. */
export function hashOf(
  choices: Choices,
  at: string | null = null,
  defaults: Choices = DEFAULTS,
): string {
  const words = new URLSearchParams();
  for (const name of Object.keys(WORDS) as (keyof Choices)[]) {
    const choice = choices[name];
    if (typeof choice === "object") for (const one of choice) words.append(WORDS[name], one);
    else if (choice !== defaults[name]) words.set(WORDS[name], String(choice));
  }
  if (at) words.set("at", at);
  return `#${words.toString()}`;
}

/** The rest of a shortened list is printed too, as are the limitations (`paper`): a warning must
 *  not get lost on the way to paper. */
function openForPaper(printing: boolean): void {
  const which = printing ? "details:is(.rest, .paper):not([open])" : "details[data-printed]";
  for (const rest of document.querySelectorAll<HTMLDetailsElement>(which)) {
    rest.open = printing;
    rest.toggleAttribute("data-printed", printing);
  }
}

export class ReportView implements Choices {
  scale = $state<YScale>(DEFAULTS.scale);
  xScale = $state<XChoice>(DEFAULTS.xScale);
  axes = $state<Axes>(DEFAULTS.axes);
  theme = $state<Theme>(DEFAULTS.theme);
  run = $state(DEFAULTS.run);
  percentiles = $state(DEFAULTS.percentiles);
  hidden = $state<readonly string[]>(DEFAULTS.hidden);
  #systemDark = $state(false);
  printing = $state(false);
  readonly #defaults: Choices;

  readonly colours: Colours = $derived(
    !this.printing && (this.theme === "dark" || (this.theme === "auto" && this.#systemDark))
      ? DARK
      : LIGHT,
  );

  /** `begin` is what suits the documents; the reader may choose otherwise. */
  constructor(begin: Partial<Choices> = {}) {
    this.#defaults = { ...DEFAULTS, ...begin };
    const dark = prefersDark();
    this.#systemDark = dark.matches;
    dark.addEventListener("change", () => (this.#systemDark = dark.matches));
    this.#read();
    window.addEventListener("hashchange", () => this.#read());
    // Paper is white and narrower than the screen: charts are drawn again for it, at once,
    // since the browser takes its picture when these listeners return.
    const print = (printing: boolean) => {
      openForPaper(printing);
      document.documentElement.classList.toggle("printing", printing);
      this.printing = printing;
      flushSync();
    };
    window.addEventListener("beforeprint", () => print(true));
    window.addEventListener("afterprint", () => print(false));
  }

  /** The link to a section that keeps the reader's choices. */
  link(at: string): string {
    return hashOf(this, at, this.#defaults);
  }

  choose(change: Partial<Choices>): void {
    Object.assign(this, change);
    applyTheme(this.theme);
    window.history.replaceState(null, "", hashOf(this, null, this.#defaults));
  }

  /** Draws an engine's lines, or no longer. */
  toggle(engine: string): void {
    const hidden = this.hidden.filter((name) => name !== engine);
    this.choose({ hidden: hidden.length < this.hidden.length ? hidden : [...hidden, engine] });
  }

  /** Scrolls to the section that the hash names, once the page is drawn. */
  goToSection(): void {
    const { at } = choicesFrom(window.location.hash);
    if (at) document.getElementById(at)?.scrollIntoView();
  }

  #read(): void {
    const { at: _, ...choices } = choicesFrom(window.location.hash, this.#defaults);
    Object.assign(this, choices);
    applyTheme(this.theme);
    this.goToSection();
  }
}
