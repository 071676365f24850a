// From a chart over time to the options of ECharts. Pure, so that tests and downloads draw the
// same.

import type { EChartsCoreOption } from "echarts/core";
import type { Colours } from "../../lib/chart/colours";
import { CHARACTER_WIDTH, escapeMarkup, FONT, FONT_SIZE } from "../../lib/chart/text";
import { clean, multiples, niceStep } from "../../lib/chart/ticks";
import { earlierText, type Line, pointChange, pointText, type TimeChart, tickText } from "./chart";
import { shortText, valueText } from "../data/measure";

export interface Look {
  width: number;
  height: number;
  colours: Colours;
}

const WANTED_TICKS = 4;
const TICK_GAP = 18;
/** More points than these are drawn without symbols. */
const SYMBOLS_UP_TO = 40;
const AREA_OPACITY = 0.12;
const DASH = [4, 4];

/** Steps of a clock, seconds: round in minutes and hours. */
const CLOCK_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600] as const;

function stepOf(chart: TimeChart, largest: number): number {
  const rough = (largest || WANTED_TICKS) / WANTED_TICKS;
  if (chart.metric !== "engagement") return Math.max(niceStep(rough), 1);
  return CLOCK_STEPS.find((step) => step >= rough) ?? Math.ceil(rough / 3600) * 3600;
}

/** Ticks from zero to just above the largest value. */
export function valueTicks(chart: TimeChart): number[] {
  const values = chart.lines.flatMap((line) => line.values.map((value) => value ?? 0));
  const largest = Math.max(0, ...values);
  const step = stepOf(chart, largest);
  return multiples(0, clean(Math.ceil(largest / step) * step) || step, step);
}

/** Which points have a label below the axis: as many as fit, at equal distances. */
export function tickEvery(chart: TimeChart, width: number): number {
  const longest = Math.max(1, ...chart.points.map((_, place) => tickText(chart, place).length));
  const fitting = Math.max(1, Math.floor(width / (longest * CHARACTER_WIDTH + TICK_GAP)));
  return Math.max(1, Math.ceil(chart.points.length / fitting));
}

/** The colour of a line: the first is the chart's own, a comparison stays in the background. */
export function lineColour(chart: TimeChart, line: Line, colours: Colours): string {
  if (line.kind === "previous") return colours.muted;
  const place = chart.lines.filter(({ kind }) => kind !== "previous").indexOf(line);
  return colours.lines[place % colours.lines.length] ?? colours.ink;
}

/** What hovering over a point shows: every line's value there. */
export function hoverHtml(chart: TimeChart, place: number, colours: Colours): string {
  const cell = (style: string, text: string) =>
    `<td style="border:0;padding:0;${style}">${escapeMarkup(text)}</td>`;
  const rows = chart.lines.map((line) => {
    const name = line.kind === "previous" ? earlierText(chart, place) || line.name
      : line.kind === "present" ? pointText(chart, place) : line.name;
    const mark = line.kind === "previous" ? "\u25a1" : "\u25a0";
    const value = valueText(line.values[place] ?? null, chart.metric);
    return `<tr>${cell(`color:${lineColour(chart, line, colours)}`, mark)}` +
      `${cell("padding-left:4px", name)}` +
      `${cell("padding-left:12px;text-align:right;font-weight:bold", value)}</tr>`;
  });
  const change = pointChange(chart, place);
  const title = chart.lines[0]?.kind === "country" ? pointText(chart, place) : change;
  return `${escapeMarkup(title)}<table style="font-size:12px">${rows.join("")}</table>`;
}

/** Points that the period cuts off, a part of a week for example, and the way to their neighbours. */
function partly(chart: TimeChart, place: number): boolean {
  const cut = (at: number) => chart.points[at]?.whole === false;
  return cut(place) || cut(place - 1) || cut(place + 1);
}

/** A line; where it is cut off it is dashed, so that a part of a week does not look like a fall. */
function series(chart: TimeChart, line: Line, colours: Colours) {
  const shown = (wanted: (place: number) => boolean) =>
    line.values.map((value, place) => (value !== null && wanted(place) ? value : "-"));
  const whole = (place: number) => chart.points[place]?.whole !== false;
  const all = chart.points.every(({ whole: is }) => is);
  if (all || line.kind === "previous") return [drawn(chart, line, colours, shown(() => true))];
  const parts = drawn(chart, line, colours, shown((place) => partly(chart, place)));
  return [
    drawn(chart, line, colours, shown(whole)),
    { ...parts, areaStyle: undefined, lineStyle: { ...parts.lineStyle, type: DASH } },
  ];
}

/** Runs of points that were never imported, from the first to the last of each. */
export function gapsOf({ points }: TimeChart): [number, number][] {
  const gaps: [number, number][] = [];
  for (const [place, { gap }] of points.entries()) {
    const last = gaps.at(-1);
    if (!gap) continue;
    if (last && last[1] === place - 1) last[1] = place;
    else gaps.push([place, place]);
  }
  return gaps;
}

/** An axis below the points on which a band may begin between two of them. */
function bandAxis(chart: TimeChart) {
  const last = chart.points.length - 1;
  const ends = last === 0 ? { min: -0.5, max: 0.5 } : { min: 0, max: last };
  return { type: "value" as const, show: false, axisPointer: { show: false }, ...ends };
}

/** Gaps as grey bands: the line alone would not show one of a single day among many. */
function bands(chart: TimeChart, { grid, muted }: Colours) {
  const gaps = gapsOf(chart);
  if (gaps.length === 0) return [];
  const { min, max } = bandAxis(chart);
  return [{ type: "line" as const, xAxisIndex: 1, data: [], silent: true, markArea: {
    silent: true,
    itemStyle: { color: grid, opacity: 0.7 },
    label: { show: gaps.length === 1, color: muted, fontSize: FONT_SIZE, fontFamily: FONT,
      position: "insideTop" as const, formatter: "gap" },
    data: gaps.map(([from, to]) =>
      [{ xAxis: Math.max(min, from - 0.5) }, { xAxis: Math.min(max, to + 0.5) }]),
  } }];
}

function drawn(chart: TimeChart, line: Line, colours: Colours, data: (number | "-")[]) {
  const colour = lineColour(chart, line, colours);
  const previous = line.kind === "previous";
  const many = chart.points.length > SYMBOLS_UP_TO;
  const size = previous ? 4 : 6;
  const inPart = (place: number) => previous && chart.earlier[place]?.inPart === true;
  // A point between two gaps makes no line.
  const alone = (place: number) =>
    typeof data[place - 1] !== "number" && typeof data[place + 1] !== "number";
  return {
    type: "line" as const,
    name: line.name,
    data,
    symbol: (_: unknown, { dataIndex }: { dataIndex: number }) =>
      (inPart(dataIndex) ? "emptyCircle" : "circle"),
    symbolSize: (_: unknown, { dataIndex }: { dataIndex: number }) =>
      (inPart(dataIndex) ? 7 : many && !alone(dataIndex) ? 0 : size),
    showSymbol: true,
    showAllSymbol: true,
    connectNulls: false,
    lineStyle: { color: colour, width: previous ? 1.5 : 2,
      type: previous ? DASH : ("solid" as const) },
    itemStyle: { color: colour, borderWidth: 0 },
    ...(line.kind === "present" ? { areaStyle: { color: colour, opacity: AREA_OPACITY } } : {}),
    emphasis: { disabled: true },
    z: previous ? 2 : 3,
  };
}

function tooltip(chart: TimeChart, look: Look) {
  const { colours, width } = look;
  return {
    trigger: "axis" as const,
    confine: true,
    transitionDuration: 0,
    axisPointer: { type: "line" as const,
      lineStyle: { color: colours.axis, type: "solid" as const } },
    backgroundColor: colours.surface,
    borderColor: colours.axis,
    padding: [6, 10],
    extraCssText: `max-width:${width - 8}px`,
    textStyle: { color: colours.ink, fontSize: FONT_SIZE, fontFamily: FONT },
    formatter: (hovered: unknown) => {
      const first = (Array.isArray(hovered) ? hovered[0] : hovered) as { dataIndex?: number };
      return hoverHtml(chart, first?.dataIndex ?? 0, colours);
    },
  };
}

export function chartOption(chart: TimeChart, look: Look): EChartsCoreOption {
  const { colours, width } = look;
  const ticks = valueTicks(chart);
  const label = { color: colours.muted, fontSize: FONT_SIZE, fontFamily: FONT };
  const widest = Math.max(...ticks.map((tick) => shortText(tick, chart.metric).length));
  const every = tickEvery(chart, width - widest * CHARACTER_WIDTH - 24);
  return {
    animation: false,
    backgroundColor: "transparent",
    textStyle: { fontFamily: FONT, fontSize: FONT_SIZE },
    grid: { left: 2, right: 12, top: 10, bottom: 4, outerBoundsMode: "same" },
    tooltip: tooltip(chart, look),
    xAxis: [{
      type: "category" as const,
      data: chart.points.map(({ key }) => key),
      boundaryGap: chart.points.length === 1,
      axisLine: { lineStyle: { color: colours.axis } },
      axisTick: { show: false },
      axisLabel: {
        ...label,
        margin: 10,
        hideOverlap: true,
        interval: (index: number) => index % every === 0,
        formatter: (_: string, index: number) => tickText(chart, index),
      },
    }, bandAxis(chart)],
    yAxis: {
      type: "value" as const,
      min: 0,
      max: ticks.at(-1) ?? 1,
      axisLine: { show: false },
      axisTick: { show: false, customValues: ticks },
      splitLine: { show: true, lineStyle: { color: colours.grid } },
      axisLabel: { ...label, customValues: ticks,
        formatter: (value: number) => shortText(value, chart.metric) },
    },
    series: [...chart.lines.flatMap((line) => series(chart, line, colours)),
      ...bands(chart, colours)],
  };
}
