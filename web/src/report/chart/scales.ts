// Which axes of a chart are logarithmic, in words: what a drawing alone does not say.

import { isLogarithmic, type XChoice, type YScale } from "./axis";
import type { Chart } from "./chart";

/**
 * 'Both axes are logarithmic.'; the name of a drawn x axis says it by itself, and the note of a row of
 * ratios, whose y axes are so always. Empty for neither.
 */
export function scalesNote(
  chart: Chart, { scale, xScale }: { scale: YScale; xScale: XChoice }, isXNamed: boolean,
): string {
  const x = !isXNamed && isLogarithmic(chart.x, xScale);
  const y = chart.kind !== "ratio" && scale === "log";
  if (x && y) return "Both axes are logarithmic.";
  if (x) return "The x axis is logarithmic.";
  return y ? "The y axis is logarithmic." : "";
}
