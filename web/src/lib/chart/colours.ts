// The colours of charts, which do not follow the page's style sheet. Six for lines, chosen by
// search so that any two stay apart (OKLab distance of 13 of 100) for normal sight, protanopia,
// deuteranopia and tritanopia, with a contrast of 3:1 and more on the chart's surface
// (tests/report/style.test.ts).

export interface Colours {
  surface: string;
  ink: string;
  muted: string;
  grid: string;
  axis: string;
  bracket: string;
  bracketEdge: string;
  lines: readonly string[];
}

type Channels = [number, number, number];

const channels = (hex: string) =>
  [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)) as Channels;

/** Relative luminance by WCAG 2. */
function luminance(of: Channels): number {
  const [red, green, blue] = of.map((value) => {
    const c = value / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  }) as Channels;
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** A line's colour, mixed with that of text until text in it can be read on the surface (5:1). */
export function textColour(colour: string, { ink, surface }: Colours): string {
  const [from, to] = [channels(colour), channels(ink)];
  const behind = luminance(channels(surface));
  for (let share = 0; share < 1; share += 0.05) {
    const mixed = from.map((c, i) => Math.round(c + ((to[i] ?? 0) - c) * share)) as Channels;
    const [dark = 0, light = 0] = [luminance(mixed), behind].toSorted((a, b) => a - b);
    if ((light + 0.05) / (dark + 0.05) >= 5) {
      return `#${mixed.map((c) => c.toString(16).padStart(2, "0")).join("")}`;
    }
  }
  return ink;
}

export const LIGHT: Colours = {
  surface: "#ffffff",
  ink: "#1b1f24",
  muted: "#59616b",
  grid: "#e8e9e6",
  axis: "#9aa1a8",
  bracket: "rgba(27, 31, 36, 0.09)",
  bracketEdge: "rgba(27, 31, 36, 0.45)",
  lines: ["#3f84bf", "#d06e22", "#014121", "#4f0369", "#6f5d07", "#594fa8"],
};

export const DARK: Colours = {
  surface: "#161a20",
  ink: "#e8eaed",
  muted: "#a3acb8",
  grid: "#2a3038",
  axis: "#68727e",
  bracket: "rgba(232, 234, 237, 0.12)",
  bracketEdge: "rgba(232, 234, 237, 0.5)",
  lines: ["#47adeb", "#e1672b", "#a8fece", "#b83786", "#fcba31", "#6d60ea"],
};
