// Light or dark, as the reader chose or the system prefers; kept in this browser.

import { type Colours, DARK, LIGHT } from "../lib/chart/colours";
import { applyTheme, prefersDark, type Theme, themeFrom } from "../lib/theme";

const PLACE = "crossover-theme";

export class Look {
  theme = $state<Theme>(themeFrom(localStorage.getItem(PLACE)));
  #systemDark = $state(false);

  /** Charts do not follow the style sheet. */
  readonly colours: Colours = $derived(
    this.theme === "dark" || (this.theme === "auto" && this.#systemDark) ? DARK : LIGHT,
  );

  constructor() {
    applyTheme(this.theme);
    const dark = prefersDark();
    this.#systemDark = dark.matches;
    dark.addEventListener("change", () => (this.#systemDark = dark.matches));
  }

  choose(theme: Theme): void {
    this.theme = theme;
    localStorage.setItem(PLACE, theme);
    applyTheme(theme);
  }
}
