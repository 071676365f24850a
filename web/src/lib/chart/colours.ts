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
