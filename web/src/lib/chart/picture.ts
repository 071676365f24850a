// A chart's picture handed to the reader, as SVG or, drawn on a canvas, as PNG. (The chart
// library's own export gives SVG even for PNG.)

import { save } from "../save";

/** Pixels of the PNG per pixel of the drawing: sharp on a projector. */
const PNG_SCALE = 2;

export function downloadSvg(svg: string, name: string): void {
  save(new Blob([svg], { type: "image/svg+xml" }), `${name}.svg`);
}

export async function downloadPng(svg: string, name: string): Promise<void> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = image.width * PNG_SCALE;
  canvas.height = image.height * PNG_SCALE;
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((png) => png && save(png, `${name}.png`), "image/png");
}
