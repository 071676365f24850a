// From a chart's data to the options of ECharts: bands, whiskers, lines, brackets, hover.
// Pure, so that tests draw the same options on the server.

import type {
  CustomSeriesOption,
  CustomSeriesRenderItem,
  CustomSeriesRenderItemReturn,
} from "echarts";
import type { EChartsCoreOption } from "echarts/core";
import { intervalWithUnit, quantity, withUnit } from "../../lib/format";
import { type Axis, fittingLabels, type XAxis, xAxis, type YScale, yAxis } from "./axis";
import type { Chart, Line, Point } from "./charts";
import { type Colours, colourOf } from "./style";

export const FONT = "system-ui, -apple-system, Segoe UI, Roboto, Helvetica Neue, Arial, sans-serif";
const FONT_SIZE = 12;
/** Pixels per character in a wide system font such as DejaVu Sans; decides which labels fit. */
export const CHARACTER_WIDTH = 6.7;
const SYMBOL_SIZE = 8;
const WHISKER_HALF_WIDTH = 4;
const BAND_OPACITY = 0.17;

export interface View {
  width: number;
  height: number;
  colours: Colours;
  scale: YScale;
  /** Values that the y axis must hold besides the chart's own: those of its row. */
  also: readonly number[];
  /** Small charts in narrow boxes do without the name of the x axis. */
  mini: boolean;
}

/** Every value and bound that a chart draws. */
export function valuesOf(chart: Chart): number[] {
  return chart.lines.flatMap((line) =>
    line.points.flatMap(({ bounds }) =>
      bounds ? [bounds.value, bounds.low ?? bounds.value, bounds.high ?? bounds.value] : [],
    ),
  );
}

interface Drawn {
  x: number;
  value: number;
  low: number;
  high: number;
  point: Point;
}

/** The points of a line in axis coordinates, null where nothing was measured. */
function drawn(line: Line, x: XAxis, y: Axis): (Drawn | null)[] {
  return line.points
    .map((point) => {
      const at = x.position(point.level);
      const bounds = point.bounds;
      const value = bounds ? y.position(bounds.value) : null;
      if (at === null || !bounds || value === null) return { x: at ?? 0, drawn: null };
      const low = y.position(bounds.low ?? bounds.value) ?? value;
      const high = y.position(bounds.high ?? bounds.value) ?? value;
      return { x: at, drawn: { x: at, value, low, high, point } };
    })
    .toSorted((a, b) => a.x - b.x)
    .map((entry) => entry.drawn);
}

/** Neighbouring points that have intervals: each run is one band. */
function runs(points: readonly (Drawn | null)[]): Drawn[][] {
  const found: Drawn[][] = [[]];
  for (const point of points) {
    if (point?.point.kind === "interval") found.at(-1)?.push(point);
    else found.push([]);
  }
  return found.filter((run) => run.length > 1);
}

type Coordinates = (x: number, y: number) => number[];

function band(run: readonly Drawn[], to: Coordinates, colour: string) {
  const upper = run.map((p) => to(p.x, p.high));
  const lower = run.toReversed().map((p) => to(p.x, p.low));
  return {
    type: "polygon" as const,
    shape: { points: [...upper, ...lower] },
    style: { fill: colour, opacity: BAND_OPACITY, stroke: "none" },
  };
}

function whisker(point: Drawn, to: Coordinates, colour: string) {
  const [x = 0, top = 0] = to(point.x, point.high);
  const [, bottom = 0] = to(point.x, point.low);
  const [from, until] = [x - WHISKER_HALF_WIDTH, x + WHISKER_HALF_WIDTH];
  const d = `M${from} ${top}H${until}M${x} ${top}V${bottom}M${from} ${bottom}H${until}`;
  return {
    type: "path" as const,
    shape: { pathData: d, x: 0, y: 0 },
    style: { fill: "none", stroke: colour, lineWidth: 1.25 },
  };
}

/** Bands where there are intervals, whiskers at every point that has bounds. */
function boundsSeries(name: string, points: (Drawn | null)[], colour: string): CustomSeriesOption {
  const present = points.filter((point) => point !== null);
  const whiskers = present.filter((point) => point.point.kind !== "none");
  const renderItem: CustomSeriesRenderItem = (_, api) => {
    const to: Coordinates = (x, y) => api.coord([x, y]);
    const children = [
      ...runs(points).map((run) => band(run, to, colour)),
      ...whiskers.map((point) => whisker(point, to, colour)),
    ];
    return { type: "group", children } as CustomSeriesRenderItemReturn;
  };
  // One item draws everything, so that a band is one shape without seams.
  const first = present[0];
  return {
    type: "custom",
    name,
    renderItem,
    data: first ? [[first.x, first.value]] : [],
    clip: true,
    silent: true,
    tooltip: { show: false },
    z: 2,
  };
}

function lineSeries(line: Line, points: readonly (Drawn | null)[], x: XAxis, view: View) {
  const colour = colourOf(line.style, view.colours);
  const { symbol, dash } = line.style;
  return {
    type: "line" as const,
    name: line.name,
    data: points.map((point, index) =>
      point ? [point.x, point.value] : [x.levels[index]?.at ?? 0, "-"],
    ),
    symbol: `path://${symbol.path}`,
    symbolSize: view.mini ? SYMBOL_SIZE - 1.5 : SYMBOL_SIZE,
    symbolKeepAspect: true,
    showAllSymbol: true,
    connectNulls: false,
    lineStyle: { color: colour, width: 2, type: dash.length ? [...dash] : ("solid" as const) },
    itemStyle: {
      color: symbol.hollow ? view.colours.surface : colour,
      borderColor: colour,
      borderWidth: 1.5,
    },
    emphasis: { disabled: true },
    z: 3,
  };
}

/** The measured brackets as grey areas, behind everything. */
function bracketArea(chart: Chart, x: XAxis, colours: Colours) {
  const data = chart.brackets.flatMap((bracket) => {
    const [low, high] = [x.position(bracket.low), x.position(bracket.high)];
    return low === null || high === null ? [] : [[{ xAxis: low }, { xAxis: high }]];
  });
  return {
    silent: true,
    itemStyle: {
      color: colours.bracket,
      borderColor: colours.bracketEdge,
      borderWidth: 1,
      borderType: [3, 3],
    },
    data,
  };
}

function escape(text: string): string {
  return text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
}

function pointText(chart: Chart, point: Point): string {
  const { bounds, kind } = point;
  if (!bounds) return "not measured";
  const text = kind === "none"
    ? quantity(bounds.value, chart.unit)
    : intervalWithUnit(bounds, chart.unit);
  const [value = "", ...rest] = text.split(" (");
  const times = chart.kind === "ratio" ? "×" : "";
  const open = kind === "range" ? " (range " : " (";
  return [value + times, ...rest].join(open);
}

/** What hovering over a level shows: every line's value there, missing ones too. */
export function hoverHtml(chart: Chart, level: Point["level"], colours: Colours): string {
  const rows = chart.lines.flatMap((line) => {
    const point = line.points.find((candidate) => candidate.level === level);
    if (!point) return [];
    const cell = (style: string, text: string) =>
      `<td style="border:0;padding:0;${style}">${escape(text)}</td>`;
    const mark = cell(`color:${colourOf(line.style, colours)}`, "\u25a0");
    const name = cell("padding-left:4px;overflow-wrap:anywhere", line.name);
    const value = cell(
      "padding-left:12px;text-align:right;white-space:nowrap;font-weight:bold",
      pointText(chart, point),
    );
    return [`<tr>${mark}${name}${value}</tr>`];
  });
  const title = chart.lines[0]?.points.find((p) => p.level === level)?.label ?? String(level);
  return `${escape(title)}<table style="font-size:12px">${rows.join("")}</table>`;
}

function nearest<T extends { at: number }>(entries: readonly T[], at: number): T | undefined {
  return entries.toSorted((a, b) => Math.abs(a.at - at) - Math.abs(b.at - at))[0];
}

function xOption(chart: Chart, x: XAxis, plotWidth: number, view: View) {
  const ends = chart.brackets.flatMap((bracket) => [bracket.high, bracket.low]);
  const fitting = fittingLabels(x, plotWidth, CHARACTER_WIDTH, ends);
  const labelled = x.levels.filter((_, index) => fitting.has(index)).map((level) => level.at);
  const { label, unit } = chart.factor;
  const bare = x.levels.every((level) => /^[\d.,]+$/.test(level.label));
  return {
    type: "value" as const,
    min: x.min,
    max: x.max,
    name: view.mini ? "" : bare && unit ? withUnit(`${label},`, unit) : label,
    nameLocation: "middle" as const,
    nameGap: 31,
    nameTextStyle: { color: view.colours.muted, fontSize: FONT_SIZE, fontFamily: FONT },
    axisLine: { lineStyle: { color: view.colours.axis }, onZero: false },
    axisTick: { show: true, length: 4, customValues: x.levels.map((level) => level.at),
      lineStyle: { color: view.colours.axis } },
    axisLabel: {
      customValues: labelled,
      margin: 11,
      color: view.colours.muted,
      fontSize: FONT_SIZE,
      fontFamily: FONT,
      showMinLabel: true,
      showMaxLabel: true,
      formatter: (at: number) => nearest(x.levels, at)?.label ?? "",
    },
    splitLine: { show: false },
  };
}

function yOption(y: Axis, view: View) {
  const places = y.ticks.map((tick) => tick.at);
  return {
    type: "value" as const,
    min: y.min,
    max: y.max,
    axisLine: { show: false },
    axisTick: { show: false, customValues: places },
    splitLine: { show: true, lineStyle: { color: view.colours.grid } },
    axisLabel: {
      customValues: places,
      color: view.colours.muted,
      fontSize: FONT_SIZE,
      fontFamily: FONT,
      showMinLabel: true,
      showMaxLabel: true,
      formatter: (at: number) => nearest(y.ticks, at)?.label ?? "",
    },
  };
}

function tooltip(chart: Chart, x: XAxis, { colours, width }: View) {
  return {
    trigger: "axis" as const,
    confine: true,
    transitionDuration: 0,
    axisPointer: { type: "line" as const, snap: true,
      lineStyle: { color: colours.axis, type: "solid" as const } },
    backgroundColor: colours.surface,
    borderColor: colours.axis,
    padding: [6, 10],
    // Long names break, so that the box never leaves its chart.
    extraCssText: `max-width:${width - 8}px;white-space:normal`,
    textStyle: { color: colours.ink, fontSize: FONT_SIZE, fontFamily: FONT },
    formatter: (hovered: unknown) => {
      const first = (Array.isArray(hovered) ? hovered[0] : hovered) as { value?: number[] };
      const level = nearest(x.levels, Number(first?.value?.[0] ?? Number.NaN));
      return level ? hoverHtml(chart, level.value, colours) : "";
    },
  };
}

/** The options of ECharts for one chart. */
export function chartOption(chart: Chart, view: View): EChartsCoreOption {
  const x = xAxis(chart.factor);
  const y = yAxis([...valuesOf(chart), ...view.also], chart.kind, view.scale, chart.unit);
  const longest = Math.max(0, ...y.ticks.map((tick) => tick.label.length));
  const plotWidth = view.width - longest * CHARACTER_WIDTH - 24;
  const series = chart.lines.map((line) => ({ line, points: drawn(line, x, y) }));
  const lines = series.map(({ line, points }) => lineSeries(line, points, x, view));
  return {
    animation: false,
    backgroundColor: "transparent",
    textStyle: { fontFamily: FONT, fontSize: FONT_SIZE },
    grid: { left: 2, right: 10, top: 10, bottom: 5, outerBoundsMode: "same" },
    tooltip: tooltip(chart, x, view),
    xAxis: xOption(chart, x, plotWidth, view),
    yAxis: yOption(y, view),
    series: [
      ...series.map(({ line, points }) =>
        boundsSeries(line.name, points, colourOf(line.style, view.colours)),
      ),
      ...lines.map((option, index) =>
        index === 0 ? { ...option, markArea: bracketArea(chart, x, view.colours) } : option,
      ),
    ],
  };
}
