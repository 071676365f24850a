// Light or dark: what the reader chose, otherwise what the system prefers. The page's colours follow
// by CSS (`color-scheme`); charts do not, so they ask `prefersDark` here.

export type Theme = "auto" | "light" | "dark";
export const THEMES: readonly Theme[] = ["auto", "light", "dark"];

/** Reads a theme from text of any origin; everything unknown is `auto`. */
export function themeFrom(text: string | null): Theme {
  return THEMES.find((theme) => theme === text) ?? "auto";
}

/** Tells the style sheet which colours to use. */
export function applyTheme(theme: Theme): void {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

/** The system's preference, as a media query to read and to listen to. */
export function prefersDark(): MediaQueryList {
  return window.matchMedia("(prefers-color-scheme: dark)");
}
