// Names of lines beside their last points: a reader need not look to and fro between a line and a
// legend. Names that would touch are moved apart; one that had to move is joined to its line.

import { textColour } from "../../lib/chart/colours";
import { FONT, FONT_SIZE } from "../../lib/chart/text";
import { type Chart, titleOf } from "./chart";
import { custom, type Drawn, isMeasured } from "./series";
import { colourOf } from "./style";
import type { View } from "./view";

/** Pixels per character of a wide system font, bold. */
const BOLD_CHARACTER = 8.3;
/** Between a line's last point and its name. */
const DISTANCE = 12;
const LINE_HEIGHT = 15;
/** The part of a chart's width that names may take; narrow charts need more for two words. */
const MOST_ROOM = 0.34;
const MOST_ROOM_NARROW = 0.4;
const NARROW = 480;
/** The part of the drawing that lies beyond the last level (axis.ts). */
const BEYOND = 0.05 / 1.1;

/** A name as written at a line's end: long ones are cut. */
export function endName(name: string, width: number): string {
  const room = width * (width < NARROW ? MOST_ROOM_NARROW : MOST_ROOM);
  const most = Math.max(6, Math.floor(room / BOLD_CHARACTER));
  return name.length <= most ? name : `${name.slice(0, most - 1).trimEnd()}…`;
}

/** Pixels to the right of the axes. */
export function endRoom(chart: Chart, width: number): number {
  if (!chart.namedEnds) return 10;
  const longest = Math.max(0, ...chart.lines.map((line) => endName(titleOf(line), width).length));
  const names = longest * BOLD_CHARACTER + DISTANCE;
  return Math.max(10, names - BEYOND * (width - names));
}

/**
 * Places near the wanted ones, none nearer to its neighbour than `gap`, all between `low` and
 * `high` as far as there is room. The order stays that of the wanted places.
 */
export function pushApart(
  wanted: readonly number[], gap: number, low: number, high: number,
): number[] {
  const order = wanted.map((at, index) => ({ at, index })).toSorted((a, b) => a.at - b.at);
  // Neighbours that touch become a group around the middle of their wishes.
  const groups: { wishes: number[]; start: number }[] = [];
  const startOf = (wishes: readonly number[]) => {
    const middle = wishes.reduce((sum, at, i) => sum + at - i * gap, 0) / wishes.length;
    const last = high - (wishes.length - 1) * gap;
    return Math.max(low, Math.min(middle, last));
  };
  for (const { at } of order) {
    let group = { wishes: [at], start: startOf([at]) };
    for (let before = groups.at(-1); before; before = groups.at(-1)) {
      if (before.start + before.wishes.length * gap <= group.start) break;
      const wishes = [...before.wishes, ...group.wishes];
      group = { wishes, start: startOf(wishes) };
      groups.pop();
    }
    groups.push(group);
  }
  const places = groups.flatMap(({ wishes, start }) => wishes.map((_, i) => start + i * gap));
  const found = wanted.map(() => 0);
  order.forEach(({ index }, place) => (found[index] = places[place] ?? 0));
  return found;
}

export function endNames(chart: Chart, points: readonly Drawn[][], view: View) {
  const ends = chart.lines.flatMap((line, index) => {
    const end = (points[index] ?? []).filter(isMeasured).at(-1);
    return end ? [{ line, end }] : [];
  });
  const first = ends[0]?.end;
  const series = custom("names", first ? [first.x, first.y.value] : null, (api, box) => {
    const places = ends.map(({ end }) => api.coord([end.x, end.y.value]));
    const right = Math.max(...places.map(([x = 0]) => x));
    const wanted = places.map(([, y = 0]) => y);
    const shown = pushApart(wanted, LINE_HEIGHT, box.y + 4, box.y + box.height - 4);
    return ends.flatMap(({ line }, index) => {
      const colour = colourOf(line.style, view.colours);
      const [x = 0, y = 0] = places[index] ?? [];
      const at = shown[index] ?? y;
      const isMoved = Math.abs(at - y) > 4 || right - x > 1;
      const join = { type: "line", style: { stroke: colour, lineWidth: 1, opacity: 0.6 },
        shape: { x1: x + 5, y1: y, x2: right + DISTANCE - 3, y2: at } };
      return [
        ...(isMoved ? [join] : []),
        { type: "text", style: {
          text: endName(titleOf(line), view.width), x: right + DISTANCE, y: at,
          verticalAlign: "middle", fill: textColour(colour, view.colours),
          font: `600 ${FONT_SIZE}px ${FONT}`,
        } },
      ];
    });
  });
  return { ...series, clip: false, z: 4 };
}
