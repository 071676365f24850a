// How a chart is looked at: its size, colours and scales.

import type { Colours } from "../../lib/chart/colours";
import type { XChoice, YScale } from "./axis";

export interface View {
  width: number;
  height: number;
  colours: Colours;
  scale: YScale;
  xScale: XChoice;
  /** Values that the y axis must hold besides the chart's own: those of its row. */
  also: readonly number[];
  /** Room for a line of names above the axes, though the chart itself may have none. */
  named: boolean;
  /** Small charts in narrow boxes do without the name of the x axis. */
  mini: boolean;
}
