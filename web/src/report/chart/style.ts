// How an engine looks: its colour, symbol and dash, the same in every chart, table and legend.
// Symbols and dashes carry in grey print what colours do on the screen.

import type { Colours } from "../../lib/chart/colours";

/** A symbol as an SVG path in a box of 10 by 10; hollow ones are filled with the surface. */
export interface Symbol {
  path: string;
  hollow: boolean;
}

const CIRCLE = "M5 0.6A4.4 4.4 0 1 1 5 9.4A4.4 4.4 0 1 1 5 0.6Z";
const DIAMOND = "M5 0L10 5L5 10L0 5Z";
const TRIANGLE = "M5 0.4L9.9 9.2L0.1 9.2Z";
const SQUARE = "M0.9 0.9H9.1V9.1H0.9Z";
const TRIANGLE_DOWN = "M0.1 0.8L9.9 0.8L5 9.6Z";
const CROSS = "M3.3 0H6.7V3.3H10V6.7H6.7V10H3.3V6.7H0V3.3H3.3Z";

const SYMBOLS: readonly Symbol[] = [
  { path: CIRCLE, hollow: false },
  { path: DIAMOND, hollow: true },
  { path: TRIANGLE, hollow: false },
  { path: SQUARE, hollow: true },
  { path: TRIANGLE_DOWN, hollow: false },
  { path: CROSS, hollow: true },
  { path: CIRCLE, hollow: true },
  { path: DIAMOND, hollow: false },
  { path: TRIANGLE, hollow: true },
  { path: SQUARE, hollow: false },
  { path: TRIANGLE_DOWN, hollow: true },
];

/** Lengths of strokes and gaps in pixels; the empty list is a solid line. */
const DASHES: readonly (readonly number[])[] = [[], [7, 4], [2, 3], [10, 3, 2, 3], [4, 2]];

/** The look of one line; the colour is an index, since light and dark pages differ. */
export interface LineStyle {
  colour: number;
  symbol: Symbol;
  dash: readonly number[];
}

function pick<T>(list: readonly T[], index: number): T {
  return list[index % list.length] as T;
}

/** The look of the engine at this place in the document's list. */
export function engineStyle(index: number): LineStyle {
  return { colour: index, symbol: pick(SYMBOLS, index), dash: pick(DASHES, index) };
}

/** The look of a level's line within one engine's panel: the engine's colour, its own marks. */
export function levelStyle(engine: number, level: number): LineStyle {
  return { colour: engine, symbol: pick(SYMBOLS, level), dash: pick(DASHES, level) };
}

export function colourOf(style: LineStyle, colours: Colours): string {
  return pick(colours.lines, style.colour);
}
