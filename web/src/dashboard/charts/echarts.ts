// The parts of ECharts that the dashboard draws with, registered once. This file is a chunk of its
// own: the page shows its numbers before the library has come.

import { LineChart } from "echarts/charts";
import { GridComponent, MarkAreaComponent, TooltipComponent } from "echarts/components";
import { init, use } from "echarts/core";
import { SVGRenderer } from "echarts/renderers";
import type { TimeChart } from "./chart";
import { chartOption, type Look } from "./option";

use([LineChart, GridComponent, MarkAreaComponent, TooltipComponent, SVGRenderer]);

export { init };

/** Draws a chart without a page: the inner picture of a download, and what the tests look at. */
export function drawToSvg(chart: TimeChart, look: Look): string {
  const { width, height } = look;
  const instance = init(null, null, { renderer: "svg", ssr: true, width, height });
  try {
    instance.setOption(chartOption(chart, look));
    return instance.renderToSVGString();
  } finally {
    instance.dispose();
  }
}
