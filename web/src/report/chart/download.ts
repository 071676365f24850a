// A chart as a picture that stands alone: title, unit, legend and captions around the drawing, as
// SVG or, drawn on a canvas, as PNG. (The library's own export gives SVG even for PNG.)

import { save } from "../../lib/save";
import type { Chart, ChartRow } from "./chart";
import { drawToSvg } from "./echarts";
import { colourOf, type LineStyle } from "./style";
import { CHARACTER_WIDTH, FONT, type View } from "./view";

const WIDTH = 800;
const PLOT_HEIGHT = 420;
const MARGIN = 24;
const LINE_HEIGHT = 20;
/** Pixels of the PNG per pixel of the drawing: sharp on a projector. */
const PNG_SCALE = 2;

export type Look = Pick<View, "colours" | "scale" | "xScale" | "also" | "named">;

function escape(text: string): string {
  return text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
}

function text(x: number, y: number, content: string, colour: string, style = ""): string {
  return `<text x="${x}" y="${y}" fill="${colour}" ${style}>${escape(content)}</text>`;
}

/** Breaks a sentence into lines that fit the picture. */
export function wrap(sentence: string, characters: number): string[] {
  const lines: string[] = [];
  for (const word of sentence.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < characters) {
      lines[lines.length - 1] = `${last} ${word}`;
    } else lines.push(word);
  }
  return lines;
}

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
    const width = 40 + line.name.length * CHARACTER_WIDTH + 20;
    if (x > MARGIN && x + width > WIDTH - MARGIN) [x, row] = [MARGIN, row + 1];
    const y = top + row * LINE_HEIGHT;
    const part = swatch(x, y, line.style, look)
      + text(x + 36, y + 10, line.name, look.colours.ink);
    x += width;
    return part;
  });
  return { svg: parts.join(""), height: (row + 1) * LINE_HEIGHT };
}

/** The whole picture as an SVG document. */
export function standaloneSvg(chart: Chart, row: ChartRow, source: string, look: Look): string {
  const { colours } = look;
  const key = legend(chart, 78, look);
  const top = 78 + key.height + 6;
  const view = { ...look, width: WIDTH - 2 * MARGIN, height: PLOT_HEIGHT, mini: false };
  const plot = drawToSvg(chart, view);
  const captions = chart.captions.map((c) => (c.marked ? `Shaded: ${c.text}` : c.text));
  const notes = [...captions, row.note, source]
    .filter((note) => note !== "")
    .flatMap((note) => wrap(note, Math.floor((WIDTH - 2 * MARGIN) / 6.6)));
  const notesTop = top + PLOT_HEIGHT + 28;
  const height = notesTop + notes.length * LINE_HEIGHT;
  const body = [
    `<rect width="${WIDTH}" height="${height}" fill="${colours.surface}"/>`,
    text(MARGIN, 36, chart.title, colours.ink, 'font-size="18" font-weight="600"'),
    text(MARGIN, 58, row.title, colours.muted),
    key.svg,
    `<svg x="${MARGIN}" y="${top}" width="${view.width}" height="${PLOT_HEIGHT}">${plot}</svg>`,
    ...notes.map((note, index) =>
      text(MARGIN, notesTop + index * LINE_HEIGHT, note, colours.muted, 'font-size="12"')),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" ` +
    `viewBox="0 0 ${WIDTH} ${height}" font-family="${FONT}" font-size="13">${body.join("")}</svg>`;
}

export function downloadSvg(svg: string, name: string): void {
  save(new Blob([svg], { type: "image/svg+xml" }), `${name}.svg`);
}

export async function downloadPng(svg: string, name: string): Promise<void> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = image.width * PNG_SCALE;
  canvas.height = image.height * PNG_SCALE;
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((png) => png && save(png, `${name}.png`), "image/png");
}
