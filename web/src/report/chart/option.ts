// From a chart's data to the options of ECharts: axes, hover, and the series in their order.
// Pure, so that tests draw the same options on the server.

import type { EChartsCoreOption } from "echarts/core";
import type { Colours } from "../../lib/chart/colours";
import { CHARACTER_WIDTH, escapeMarkup, FONT, FONT_SIZE } from "../../lib/chart/text";
import type { LevelValue } from "../document/document";
import { intervalWithUnit, withUnit } from "../../lib/format";
import { type Axis, fittingLabels, isLogarithmic, type XAxis, xAxis, yAxis } from "./axis";
import { type Chart, type Line, type Point, titleOf, valuesOf, valueText } from "./chart";
import { endNames, endRoom } from "./ends";
import {
  boundsSeries,
  drawnLines,
  lineSeries,
  placeSpans,
  SPAN_LABEL_HEIGHT,
  spanSeries,
} from "./series";
import { colourOf } from "./style";
import type { View } from "./view";

const TOP = 10;

function pointText(chart: Chart, point: Point): string {
  const { bounds, kind } = point;
  if (!bounds || kind === "none") return valueText(chart, bounds);
  const [value = "", ...rest] = intervalWithUnit(bounds, chart.unit).split(" (");
  const times = chart.kind === "ratio" ? "×" : "";
  return [value + times, ...rest].join(kind === "range" ? " (range " : " (");
}

/** A line's point at a level; of a curve, whose points are its own, the nearest. */
function pointAt(line: Line, level: LevelValue): Point | undefined {
  const exact = line.points.find((point) => point.level === level);
  if (exact || !line.points.some((point) => point.plain)) return exact;
  const away = (point: Point) => Math.abs(Math.log(Number(point.level) / Number(level)));
  return line.points.toSorted((a, b) => away(a) - away(b))[0];
}

/** What hovering over a level shows: every line's value there, missing ones too. */
export function hoverHtml(chart: Chart, level: Point["level"], colours: Colours): string {
  const rows = chart.lines.flatMap((line) => {
    const point = pointAt(line, level);
    if (!point) return [];
    const cell = (style: string, text: string) =>
      `<td style="border:0;padding:0;${style}">${escapeMarkup(text)}</td>`;
    const mark = cell(`color:${colourOf(line.style, colours)}`, "\u25a0");
    const elsewhere = point.level === level ? "" : ` (${point.label})`;
    const name = cell("padding-left:4px;overflow-wrap:anywhere", titleOf(line) + elsewhere);
    const value = cell(
      "padding-left:12px;text-align:right;white-space:nowrap;font-weight:bold",
      pointText(chart, point),
    );
    return [`<tr>${mark}${name}${value}</tr>`];
  });
  const title = chart.lines.flatMap((line) => line.points).find((p) => p.level === level)?.label;
  const table = `<table style="font-size:12px">${rows.join("")}</table>`;
  return escapeMarkup(title ?? String(level)) + table;
}

function nearest<T extends { at: number }>(entries: readonly T[], at: number): T | undefined {
  return entries.toSorted((a, b) => Math.abs(a.at - at) - Math.abs(b.at - at))[0];
}

const label = (colours: Colours) => ({
  color: colours.muted,
  fontSize: FONT_SIZE,
  fontFamily: FONT,
  showMinLabel: true,
  showMaxLabel: true,
});

function xOption(chart: Chart, x: XAxis, plotWidth: number, view: View) {
  const ends = chart.spans.flatMap((span) => [span.high, span.low]);
  const fitting = fittingLabels(x, plotWidth, CHARACTER_WIDTH, ends);
  const labelled = x.levels.filter((_, index) => fitting.has(index)).map((level) => level.at);
  const { label: name, unit } = chart.x;
  const bare = x.levels.every((level) => /^[\d.,]+$/.test(level.label));
  return {
    type: "value" as const,
    min: x.min,
    max: x.max,
    name: view.mini ? ""
      : (bare && unit ? withUnit(`${name},`, unit) : name)
        + (isLogarithmic(chart.x, view.xScale) ? ", logarithmic" : ""),
    nameLocation: "middle" as const,
    nameGap: 31,
    nameTextStyle: { color: view.colours.muted, fontSize: FONT_SIZE, fontFamily: FONT },
    axisLine: { lineStyle: { color: view.colours.axis }, onZero: false },
    axisTick: { show: true, length: 4, customValues: x.levels.map((level) => level.at),
      lineStyle: { color: view.colours.axis } },
    axisLabel: {
      ...label(view.colours),
      customValues: labelled,
      margin: 11,
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
      ...label(view.colours),
      customValues: places,
      formatter: (at: number) => nearest(y.ticks, at)?.label ?? "",
    },
  };
}

function tooltip(chart: Chart, x: XAxis, { colours, width }: View) {
  const levels = new Set(chart.lines.flatMap((line) => line.points.map((p) => p.level)));
  const stops = [...levels].flatMap((level) => {
    const at = x.position(level);
    return at === null ? [] : [{ at, level }];
  });
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
      const stop = nearest(stops, Number(first?.value?.[0] ?? Number.NaN));
      return stop ? hoverHtml(chart, stop.level, colours) : "";
    },
  };
}

/** The options of ECharts for one chart. */
export function chartOption(chart: Chart, view: View): EChartsCoreOption {
  const reached = chart.lines.flatMap((line) => line.points.map((point) => point.level));
  const x = xAxis(chart.x, view.xScale, reached);
  const y = yAxis([...valuesOf(chart), ...view.also], chart.kind, view.scale, chart.unit);
  const longest = Math.max(0, ...y.ticks.map((tick) => tick.label.length));
  const right = endRoom(chart, view.width);
  const plotWidth = view.width - longest * CHARACTER_WIDTH - 14 - right;
  const spans = placeSpans(chart.spans, x, plotWidth);
  const labelRows = Math.max(view.named ? 1 : 0, ...spans.map((span) => span.row + 1));
  const points = drawnLines(chart, x, y);
  return {
    animation: false,
    backgroundColor: "transparent",
    textStyle: { fontFamily: FONT, fontSize: FONT_SIZE },
    grid: { left: 2, right, top: TOP + labelRows * SPAN_LABEL_HEIGHT, bottom: 5,
      outerBoundsMode: "same" },
    tooltip: tooltip(chart, x, view),
    xAxis: xOption(chart, x, plotWidth, view),
    yAxis: yOption(y, view),
    series: [
      spanSeries(spans, x, y, view.colours),
      ...chart.lines.map((line, i) => boundsSeries(line, points[i] ?? [], chart, view.colours)),
      ...chart.lines.map((line, index) => lineSeries(line, points[index] ?? [], chart, view)),
      ...(chart.namedEnds ? [endNames(chart, points, view)] : []),
    ],
  };
}
