// A chart as a picture that stands alone: title, unit, legend and captions around the drawing.

import { CHARACTER_WIDTH, FONT, svgText, wrap } from "../../lib/chart/text";
import { type Chart, type ChartRow, heading, titleOf } from "./chart";
import { drawToSvg } from "./echarts";
import { scalesNote } from "./scales";
import { colourOf, type LineStyle } from "./style";
import type { View } from "./view";

const WIDTH = 800;
const PLOT_HEIGHT = 420;
const MARGIN = 24;
const LINE_HEIGHT = 20;

export type Look = Pick<View, "colours" | "scale" | "xScale" | "also" | "named">;

function swatch(x: number, y: number, style: LineStyle, look: Look): string {
  const colour = colourOf(style, look.colours);
  const fill = style.symbol.hollow ? look.colours.surface : colour;
  return `<g transform="translate(${x} ${y})"><path d="M0 5H28" stroke="${colour}" ` +
    `stroke-width="2" stroke-dasharray="${style.dash.join(" ")}"/><path transform="translate(9.5 ` +
    `0.5) scale(0.9)" d="${style.symbol.path}" fill="${fill}" stroke="${colour}" ` +
    `stroke-width="1.6"/></g>`;
}

/** The legend, as many entries to a row as fit; returns its height too. */
function legend(chart: Chart, top: number, look: Look): { svg: string; height: number } {
  let [x, row] = [MARGIN, 0];
  const parts = chart.lines.map((line) => {
    const name = titleOf(line);
    const width = 40 + name.length * CHARACTER_WIDTH + 20;
    if (x > MARGIN && x + width > WIDTH - MARGIN) [x, row] = [MARGIN, row + 1];
    const y = top + row * LINE_HEIGHT;
    const part = swatch(x, y, line.style, look)
      + svgText(x + 36, y + 10, name, look.colours.ink);
    x += width;
    return part;
  });
  return { svg: parts.join(""), height: (row + 1) * LINE_HEIGHT };
}

/** The whole picture as an SVG document. */
export function standaloneSvg(chart: Chart, row: ChartRow, source: string, look: Look): string {
  const { colours } = look;
  const under = row.title ? 78 : 56;
  const key = chart.namedEnds ? { svg: "", height: 0 } : legend(chart, under, look);
  const top = under + key.height + 6;
  const view = { ...look, width: WIDTH - 2 * MARGIN, height: PLOT_HEIGHT, mini: false };
  const plot = drawToSvg(chart, view);
  const captions = chart.captions.map((c) => (c.marked ? `Shaded: ${c.text}` : c.text));
  const notes = [...captions, scalesNote(chart, look, true), row.note, source]
    .filter((note) => note !== "")
    .flatMap((note) => wrap(note, Math.floor((WIDTH - 2 * MARGIN) / 6.6)));
  const notesTop = top + PLOT_HEIGHT + 28;
  const height = notesTop + notes.length * LINE_HEIGHT;
  const body = [
    `<rect width="${WIDTH}" height="${height}" fill="${colours.surface}"/>`,
    svgText(MARGIN, 36, heading(chart), colours.ink, 'font-size="18" font-weight="600"'),
    ...(row.title ? [svgText(MARGIN, 58, row.title, colours.muted)] : []),
    key.svg,
    `<svg x="${MARGIN}" y="${top}" width="${view.width}" height="${PLOT_HEIGHT}">${plot}</svg>`,
    ...notes.map((note, index) =>
      svgText(MARGIN, notesTop + index * LINE_HEIGHT, note, colours.muted, 'font-size="12"')),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" ` +
    `viewBox="0 0 ${WIDTH} ${height}" font-family="${FONT}" font-size="13">${body.join("")}</svg>`;
}
