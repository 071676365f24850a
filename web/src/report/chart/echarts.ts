// The parts of ECharts that the report draws with, registered once; the rest stays out of the file.

import { CustomChart, LineChart } from "echarts/charts";
import { GridComponent, TooltipComponent } from "echarts/components";
import { init, use } from "echarts/core";
import { SVGRenderer } from "echarts/renderers";
import type { Chart } from "./chart";
import { chartOption } from "./option";
import type { View } from "./view";

use([CustomChart, LineChart, GridComponent, TooltipComponent, SVGRenderer]);

export { init };

/** Draws a chart without a page: the inner picture of a download, and what the tests look at. */
export function drawToSvg(chart: Chart, view: View): string {
  const { width, height } = view;
  const instance = init(null, null, { renderer: "svg", ssr: true, width, height });
  try {
    instance.setOption(chartOption(chart, view));
    return instance.renderToSVGString();
  } finally {
    instance.dispose();
  }
}
