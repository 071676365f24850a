// What axe cannot see in charts: texts that overlap, leave their picture, or are too faint.

import type { Page } from "playwright-core";

/** A sentence about each text of a chart that could not be read; empty when all is well. */
export function unreadableTexts(page: Page): Promise<string[]> {
  return page.locator(".plot svg").evaluateAll((pictures) => {
    const channels = (colour: string) => (colour.match(/[\d.]+/g) ?? []).map(Number);
    const luminance = (colour: string) => {
      const [red = 0, green = 0, blue = 0] = channels(colour).slice(0, 3).map((value) => {
        const c = value / 255;
        return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const contrast = (a: string, b: string) => {
      const [dark = 0, light = 0] = [luminance(a), luminance(b)].toSorted((x, y) => x - y);
      return (light + 0.05) / (dark + 0.05);
    };
    const overlap = (a: DOMRect, b: DOMRect) =>
      Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
      Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2;
    return pictures.flatMap((picture) => {
      const figure = picture.closest("figure");
      const behind = figure ? getComputedStyle(figure).backgroundColor : "";
      const title = figure?.querySelector("figcaption")?.textContent ?? "";
      const frame = picture.getBoundingClientRect();
      const texts = [...picture.querySelectorAll("text")].filter((text) => text.textContent);
      return texts.flatMap((text, index) => {
        const box = text.getBoundingClientRect();
        const faint = contrast(getComputedStyle(text).fill, behind) < 4.5;
        const outside = box.left < frame.left - 1 || box.right > frame.right + 1 ||
          box.top < frame.top - 1 || box.bottom > frame.bottom + 1;
        const over = texts.slice(index + 1).filter((other) =>
          overlap(box, other.getBoundingClientRect()));
        const name = `${title}: '${text.textContent}'`;
        return [
          ...(faint ? [`${name} is too faint`] : []),
          ...(outside ? [`${name} leaves its picture`] : []),
          ...over.map((other) => `${name} overlaps '${other.textContent}'`),
        ];
      });
    });
  });
}

/** Draws the charts that are far from the window too: they are drawn when they come near it. */
export async function drawAll(page: Page): Promise<void> {
  await page.evaluate(async () => {
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    const step = window.innerHeight;
    for (let y = 0; y < document.documentElement.scrollHeight; y += step) {
      window.scrollTo(0, y);
      await frame();
      await frame();
    }
    window.scrollTo(0, 0);
    await frame();
  });
}
