// Tables as CSV (RFC 4180): numbers in full, so that a spreadsheet can compute with them.

export type Cell = string | number | null | undefined;

export interface Csv {
  header: readonly string[];
  rows: readonly (readonly Cell[])[];
}

/**
 * A text that a spreadsheet would run as a formula gets an apostrophe; names come from documents
 * that anybody can write. Numbers stay numbers, negative ones too.
 */
function field(cell: Cell): string {
  if (cell == null) return "";
  if (typeof cell === "number") return Number.isFinite(cell) ? String(cell) : "";
  const text = /^[=+@\t\r-]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function csvText({ header, rows }: Csv): string {
  return [header, ...rows].map((row) => `${row.map(field).join(",")}\r\n`).join("");
}
