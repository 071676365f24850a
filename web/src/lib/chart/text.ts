// Texts of charts: their font and its measures, since a chart's own texts do not follow the page's
// style sheet, and texts of pictures that stand alone.

export const FONT = "system-ui, -apple-system, Segoe UI, Roboto, Helvetica Neue, Arial, sans-serif";
export const FONT_SIZE = 12;
/** Pixels per character in a wide system font such as DejaVu Sans; decides which labels fit. */
export const CHARACTER_WIDTH = 6.7;

/** Text as it may be in SVG and HTML. */
export function escapeMarkup(text: string): string {
  return text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
}

/** A `text` element of SVG at a place; `style` is further attributes. */
export function svgText(
  x: number, y: number, content: string, colour: string, style = "",
): string {
  return `<text x="${x}" y="${y}" fill="${colour}" ${style}>${escapeMarkup(content)}</text>`;
}

/** Breaks a sentence into lines that fit the picture. */
export function wrap(sentence: string, characters: number): string[] {
  const lines: string[] = [];
  for (const word of sentence.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < characters) {
      lines[lines.length - 1] = `${last} ${word}`;
    } else lines.push(word);
  }
  return lines;
}
