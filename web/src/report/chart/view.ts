// How a chart is looked at: its size, colours and scales. Fonts and their measures are here too,
// since a chart's own texts do not follow the page's style sheet.

import type { XChoice, YScale } from "./axis";
import type { Colours } from "./style";

export const FONT = "system-ui, -apple-system, Segoe UI, Roboto, Helvetica Neue, Arial, sans-serif";
export const FONT_SIZE = 12;
/** Pixels per character in a wide system font such as DejaVu Sans; decides which labels fit. */
export const CHARACTER_WIDTH = 6.7;

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
