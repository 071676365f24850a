// Pictures that stand alone, for slides and letters: the chart over time and the ranked bars, each
// with its title, legend, notes and where its numbers come from.

import type { Colours } from "../../lib/chart/colours";
import { CHARACTER_WIDTH, FONT, svgText, wrap } from "../../lib/chart/text";
import type { Bars } from "./bars";
import type { TimeChart } from "./chart";
import { shareText, valueText } from "../data/measure";
import { lineColour } from "./option";
import type { Metric } from "../view/view";

const WIDTH = 800;
const PLOT_HEIGHT = 360;
const MARGIN = 24;
const LINE_HEIGHT = 20;
const BAR_HEIGHT = 34;

export interface Words {
  title: string;
  subtitle: string;
  notes: readonly string[];
}

interface Part {
  svg: string;
  height: number;
}

/** Title, legend, drawing and notes below each other on one sheet. */
function sheet(words: Words, colours: Colours, legend: Part, drawing: Part): string {
  const subtitle = wrap(words.subtitle, Math.floor((WIDTH - 2 * MARGIN) / CHARACTER_WIDTH));
  const legendTop = 58 + subtitle.length * LINE_HEIGHT;
  const top = legendTop + legend.height;
  const notes = words.notes.filter(Boolean).flatMap((note) =>
    wrap(note, Math.floor((WIDTH - 2 * MARGIN) / CHARACTER_WIDTH)));
  const notesTop = top + drawing.height + 28;
  const height = notesTop + notes.length * LINE_HEIGHT;
  const body = [
    `<rect width="${WIDTH}" height="${height}" fill="${colours.surface}"/>`,
    svgText(MARGIN, 36, words.title, colours.ink, 'font-size="18" font-weight="600"'),
    ...subtitle.map((line, place) =>
      svgText(MARGIN, 58 + place * LINE_HEIGHT, line, colours.muted)),
    `<g transform="translate(${MARGIN} ${legendTop})">${legend.svg}</g>`,
    `<g transform="translate(${MARGIN} ${top})">${drawing.svg}</g>`,
    ...notes.map((note, place) =>
      svgText(MARGIN, notesTop + place * LINE_HEIGHT, note, colours.muted, 'font-size="12"')),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" ` +
    `viewBox="0 0 ${WIDTH} ${height}" font-family="${FONT}" font-size="13">${body.join("")}</svg>`;
}

interface Entry {
  name: string;
  colour: string;
  dashed?: boolean;
}

function legendOf(entries: readonly Entry[], colours: Colours): Part {
  let [x, row] = [0, 0];
  const parts = entries.map(({ name, colour, dashed }) => {
    const width = 36 + name.length * CHARACTER_WIDTH + 20;
    if (x > 0 && x + width > WIDTH - 2 * MARGIN) [x, row] = [0, row + 1];
    const y = row * LINE_HEIGHT;
    const dash = dashed ? ' stroke-dasharray="4 4"' : "";
    const part = `<path d="M${x} ${y}h26" stroke="${colour}" stroke-width="3"${dash}/>` +
      svgText(x + 32, y + 4, name, colours.ink);
    x += width;
    return part;
  });
  return { svg: parts.join(""), height: entries.length ? (row + 1) * LINE_HEIGHT : 0 };
}

export async function chartPicture(
  chart: TimeChart, words: Words, colours: Colours,
): Promise<string> {
  const { drawToSvg } = await import("./echarts");
  const look = { width: WIDTH - 2 * MARGIN, height: PLOT_HEIGHT, colours };
  const entries = chart.lines.length < 2 ? [] : chart.lines.map((line) => ({
    name: line.name, colour: lineColour(chart, line, colours), dashed: line.kind === "previous" }));
  const drawing = { svg: drawToSvg(chart, look), height: PLOT_HEIGHT };
  return sheet({ ...words, notes: [...chart.notes, ...words.notes] }, colours,
    legendOf(entries, colours), drawing);
}

/** The colours of parts by country; what is left has the quietest. */
export function partColour(place: number, parts: number, colours: Colours): string {
  if (place === parts - 1) return colours.axis;
  return colours.lines[place % colours.lines.length] ?? colours.ink;
}

function clipped(text: string, width: number): string {
  const most = Math.floor(width / CHARACTER_WIDTH);
  return text.length > most ? `${text.slice(0, most - 1)}\u2026` : text;
}

export function barsPicture(
  bars: Bars, metric: Metric, countries: readonly string[], words: Words, colours: Colours,
): string {
  const width = WIDTH - 2 * MARGIN;
  const rows = bars.bars.map((bar, place) => {
    const y = place * BAR_HEIGHT;
    const text = valueText(bar.value, metric) +
      (bar.share === null ? "" : ` (${shareText(bar.share)})`);
    let x = 0;
    const lengths = bar.parts.length > 0 ? bar.parts : [bar.length];
    const rects = lengths.map((length, part) => {
      const colour = bar.parts.length > 0 ? partColour(part, lengths.length, colours)
        : (colours.lines[0] ?? colours.ink);
      const rect = `<rect x="${x}" y="${y + 18}" width="${length * width}" height="9" ` +
        `fill="${colour}"/>`;
      x += length * width;
      return rect;
    });
    return svgText(0, y + 12, clipped(bar.name, width * 0.7), colours.ink) +
      svgText(width, y + 12, text, colours.ink, 'text-anchor="end"') + rects.join("");
  });
  const names = countries.length > 0 && metric !== "engagement" ? [...countries, "Others"] : [];
  const entries = names.map((name, place) =>
    ({ name, colour: partColour(place, names.length, colours) }));
  const drawing = { svg: rows.join(""), height: bars.bars.length * BAR_HEIGHT };
  return sheet({ ...words, notes: [bars.note, ...words.notes] }, colours,
    legendOf(entries, colours), drawing);
}
