// Light or dark, as the reader chose or the system prefers; kept in this browser.

import { type Colours, DARK, LIGHT } from "../../lib/chart/colours";
import { keep, kept } from "../../lib/keep";
import { applyTheme, prefersDark, type Theme, themeFrom } from "../../lib/theme";

const PLACE = "crossover-theme";

export class Look {
  theme = $state<Theme>(themeFrom(kept("browser", PLACE)));
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
    keep("browser", PLACE, theme);
    applyTheme(theme);
  }
}
