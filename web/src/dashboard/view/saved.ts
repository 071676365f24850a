// Views kept under a name, in this browser only.

import { keep, kept } from "../../lib/keep";

export interface SavedView {
  name: string;
  /** The address of the view, as `searchOf` makes it. */
  search: string;
}

const PLACE = "crossover-views";
const LONGEST_NAME = 80;

/** Reads what was kept; anything else, perhaps of another version, is nothing. */
export function viewsFrom(text: string | null): SavedView[] {
  try {
    const kept: unknown = JSON.parse(text ?? "[]");
    if (!Array.isArray(kept)) return [];
    return kept.filter((one): one is SavedView =>
      typeof one?.name === "string" && typeof one?.search === "string");
  } catch {
    return [];
  }
}

/** The list with a view under this name, by name; an old one of the name is replaced. */
export function withView(views: readonly SavedView[], name: string, search: string): SavedView[] {
  const trimmed = name.trim().slice(0, LONGEST_NAME);
  if (!trimmed) return [...views];
  const others = views.filter((view) => view.name !== trimmed);
  const all = [...others, { name: trimmed, search }];
  return all.toSorted((a, b) => a.name.localeCompare(b.name, "en"));
}

export function withoutView(views: readonly SavedView[], name: string): SavedView[] {
  return views.filter((view) => view.name !== name);
}

export function loadViews(): SavedView[] {
  return viewsFrom(kept("browser", PLACE));
}

/** False where the browser keeps nothing (its storage is full or switched off). */
export function keepViews(views: readonly SavedView[]): boolean {
  return keep("browser", PLACE, JSON.stringify(views));
}
