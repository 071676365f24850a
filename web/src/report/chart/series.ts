// What is drawn inside the axes: bands, whiskers, lines with symbols, marked parts of the x axis.

import type {
  CustomSeriesOption,
  CustomSeriesRenderItem,
  CustomSeriesRenderItemAPI,
  CustomSeriesRenderItemReturn,
} from "echarts";
import type { Colours } from "../../lib/chart/colours";
import { CHARACTER_WIDTH, FONT, FONT_SIZE } from "../../lib/chart/text";
import type { Axis, XAxis } from "./axis";
import type { Chart, Line, Point, Span } from "./chart";
import { colourOf, type LineStyle } from "./style";
import type { View } from "./view";

const SYMBOL_SIZE = 8;
const WHISKER_HALF_WIDTH = 4;
const BAND_OPACITY = 0.17;
/** Room of one line of labels above the axes. */
export const SPAN_LABEL_HEIGHT = 16;
/** Points of several lines at one level of an unjoined axis are beside each other. */
const BESIDE = 0.6;

export interface Drawn {
  x: number;
  /** Null where nothing was measured. */
  y: { value: number; low: number; high: number } | null;
  point: Point;
}

/** How far each line is beside its level, so that unjoined points do not hide each other. */
function offsets(chart: Chart): number[] {
  const shared = chart.lines.some((line) => line.points.length > 1);
  const n = chart.lines.length;
  return chart.lines.map((_, index) =>
    chart.x.joined || !shared || n < 2 ? 0 : ((index + 0.5) / n - 0.5) * BESIDE);
}

/** The points of every line in axis coordinates, from left to right. */
export function drawnLines(chart: Chart, x: XAxis, y: Axis): Drawn[][] {
  const beside = offsets(chart);
  return chart.lines.map((line, index) => {
    const points = line.points.flatMap((point): Drawn[] => {
      const at = x.position(point.level);
      if (at === null) return [];
      const place = at + (beside[index] ?? 0);
      const bounds = point.bounds;
      const value = bounds ? y.position(bounds.value) : null;
      if (!bounds || value === null) return [{ x: place, y: null, point }];
      const low = y.position(bounds.low ?? bounds.value) ?? value;
      const high = y.position(bounds.high ?? bounds.value) ?? value;
      return [{ x: place, y: { value, low, high }, point }];
    });
    return points.toSorted((a, b) => a.x - b.x);
  });
}

type Coordinates = (x: number, y: number) => number[];
type Bounded = Drawn & { y: NonNullable<Drawn["y"]> };

export const isMeasured = (drawn: Drawn): drawn is Bounded => drawn.y !== null;

/** Neighbouring points that have intervals: each run is one band. */
function runs(points: readonly Drawn[]): Bounded[][] {
  const found: Bounded[][] = [[]];
  for (const drawn of points) {
    if (isMeasured(drawn) && drawn.point.kind === "interval") found.at(-1)?.push(drawn);
    else found.push([]);
  }
  return found.filter((run) => run.length > 1);
}

function band(run: readonly Bounded[], to: Coordinates, colour: string) {
  const upper = run.map((p) => to(p.x, p.y.high));
  const lower = run.toReversed().map((p) => to(p.x, p.y.low));
  return {
    type: "polygon" as const,
    shape: { points: [...upper, ...lower] },
    style: { fill: colour, opacity: BAND_OPACITY, stroke: "none" },
  };
}

function whisker(drawn: Bounded, to: Coordinates, colour: string) {
  const [x = 0, top = 0] = to(drawn.x, drawn.y.high);
  const [, bottom = 0] = to(drawn.x, drawn.y.low);
  const [from, until] = [x - WHISKER_HALF_WIDTH, x + WHISKER_HALF_WIDTH];
  const d = `M${from} ${top}H${until}M${x} ${top}V${bottom}M${from} ${bottom}H${until}`;
  return {
    type: "path" as const,
    shape: { pathData: d, x: 0, y: 0 },
    style: { fill: "none", stroke: colour, lineWidth: 1.25 },
  };
}

/** One item draws everything, so that a band is one shape without seams. */
export function custom(
  name: string,
  at: number[] | null,
  draw: (api: CustomSeriesRenderItemAPI, box: Box) => unknown[],
): CustomSeriesOption {
  const renderItem: CustomSeriesRenderItem = (params, api) => {
    const box = params.coordSys as unknown as Box;
    return { type: "group", children: draw(api, box) } as CustomSeriesRenderItemReturn;
  };
  return { type: "custom", name, renderItem, data: at ? [at] : [], silent: true,
    tooltip: { show: false } };
}

/** The rectangle inside the axes, pixels. */
export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Bands where there are intervals, whiskers at every point that has bounds. */
export function boundsSeries(line: Line, points: Drawn[], chart: Chart, colours: Colours) {
  const colour = colourOf(line.style, colours);
  const whiskers = points.filter(isMeasured).filter(({ point }) => point.kind !== "none");
  const first = whiskers[0];
  const series = custom(line.name, first ? [first.x, first.y.value] : null, (api) => {
    const to: Coordinates = (x, y) => api.coord([x, y]);
    return [
      ...(chart.x.joined ? runs(points).map((run) => band(run, to, colour)) : []),
      ...whiskers.map((drawn) => whisker(drawn, to, colour)),
    ];
  });
  return { ...series, clip: true, z: 2 };
}

export function lineSeries(line: Line, points: readonly Drawn[], chart: Chart, view: View) {
  const colour = colourOf(line.style, view.colours);
  const { symbol, dash } = line.style;
  const size = view.mini ? SYMBOL_SIZE - 1.5 : SYMBOL_SIZE;
  return {
    type: "line" as const,
    name: line.name,
    data: points.map((drawn) => {
      const value = [drawn.x, drawn.y ? drawn.y.value : "-"];
      return drawn.point.plain ? { value, symbol: "none" } : value;
    }),
    symbol: `path://${symbol.path}`,
    symbolSize: size,
    symbolKeepAspect: true,
    showAllSymbol: true,
    connectNulls: false,
    lineStyle: {
      color: colour,
      width: 2,
      opacity: chart.x.joined ? 1 : 0,
      type: dash.length ? [...dash] : ("solid" as const),
    },
    itemStyle: {
      color: symbol.hollow ? view.colours.surface : colour,
      borderColor: colour,
      borderWidth: 1.5,
      opacity: 1,
    },
    emphasis: { disabled: true },
    z: 3,
  };
}

export interface PlacedSpan extends Span {
  from: number;
  to: number;
  /** The line of labels, counted from the axes upwards. */
  row: number;
}

/** Labels that would touch stand above each other. */
export function placeSpans(spans: readonly Span[], x: XAxis, width: number): PlacedSpan[] {
  const scale = width / (x.max - x.min);
  const taken: number[] = [];
  const placed = spans.flatMap((span) => {
    const [from, to] = [x.position(span.low), x.position(span.high)];
    return from === null || to === null ? [] : [{ ...span, from, to, row: 0 }];
  });
  for (const span of placed.toSorted((a, b) => a.from - b.from)) {
    const half = (span.label.length * CHARACTER_WIDTH) / 2 + 6;
    const middle = ((span.from + span.to) / 2 - x.min) * scale;
    const centre = Math.min(Math.max(middle, half), width - half);
    const free = taken.findIndex((end) => end <= centre - half);
    span.row = free < 0 ? taken.length : free;
    taken[span.row] = centre + half;
  }
  return placed;
}

/** Pixels to either side of a single level that is shaded. */
const LEVEL_HALF_WIDTH = 7;
const SHADE_OPACITY = 0.13;
const HATCH_DISTANCE = 9;

/** Diagonals that stay inside a box. */
function diagonals({ x, y, width, height }: Box): string {
  const parts: string[] = [];
  for (let c = HATCH_DISTANCE / 2; c < width + height; c += HATCH_DISTANCE) {
    const [fromX, fromY] = [Math.max(0, c - height), Math.min(c, height)];
    const [toX, toY] = [Math.min(c, width), Math.max(0, c - width)];
    parts.push(`M${x + fromX} ${y + fromY}L${x + toX} ${y + toY}`);
  }
  return parts.join("");
}

/**
 * The part of the axis in which a line is ahead, in its colour. Every second engine is hatched, so
 * that paper without colours shows whose it is. The first and the last level's shade reach the end
 * of the axis, where nothing else could be.
 */
function shade(span: PlacedSpan, style: LineStyle, x: XAxis, [left, right]: number[], box: Box,
  colours: Colours) {
  const levels = x.levels.map((level) => level.at);
  const [isFirst, isLast] = [span.from <= Math.min(...levels), span.to >= Math.max(...levels)];
  const half = left === right && !isFirst && !isLast ? LEVEL_HALF_WIDTH : 0;
  const from = isFirst ? box.x : (left ?? 0) - half;
  const to = isLast ? box.x + box.width : (right ?? 0) + half;
  const area = { x: from, y: box.y, width: to - from, height: box.height };
  const colour = colourOf(style, colours);
  const hatch = {
    type: "path",
    shape: { pathData: diagonals(area), x: 0, y: 0 },
    style: { fill: "none", stroke: colour, lineWidth: 1, opacity: 0.22 },
  };
  return [
    { type: "rect", shape: area, style: { fill: colour, opacity: SHADE_OPACITY } },
    ...(style.colour % 2 === 1 ? [hatch] : []),
  ];
}

/** The marked parts of the x axis behind everything, each with its name above the axes: measured
 *  brackets in grey between dashed edges, what a line is ahead in as its shade. */
export function spanSeries(
  spans: readonly PlacedSpan[], x: XAxis, y: Axis, colours: Colours,
) {
  const first = spans[0];
  const series = custom("marked", first ? [first.from, y.min] : null, (api, box) =>
    spans.flatMap((span) => {
      const [left = 0] = api.coord([span.from, y.min]);
      const [right = 0] = api.coord([span.to, y.min]);
      const half = (span.label.length * CHARACTER_WIDTH) / 2;
      const least = box.x + half;
      const centre = Math.max(least, Math.min((left + right) / 2, box.x + box.width - half));
      const top = box.y - span.row * SPAN_LABEL_HEIGHT;
      const edge = (at: number) => ({
        type: "line",
        shape: { x1: at, y1: top, x2: at, y2: box.y + box.height },
        style: { stroke: colours.bracketEdge, lineWidth: 1, lineDash: [3, 3] },
      });
      const bracket = () => [
        {
          type: "rect",
          shape: { x: left, y: box.y, width: right - left, height: box.height },
          style: { fill: colours.bracket },
        },
        edge(left),
        ...(right > left ? [edge(right)] : []),
      ];
      return [
        ...(span.style ? shade(span, span.style, x, [left, right], box, colours) : bracket()),
        {
          type: "text",
          style: { text: span.label, x: centre, y: top - 3, align: "center",
            verticalAlign: "bottom", fill: colours.ink, font: `${FONT_SIZE}px ${FONT}` },
        },
      ];
    }),
  );
  return { ...series, clip: false, z: 1 };
}
