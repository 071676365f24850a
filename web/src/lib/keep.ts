// Small texts that a browser keeps, for this tab or for the next visit. It may keep nothing, where
// its storage is full or switched off: then pages work without.

export type Area = "tab" | "browser";

// A browser that keeps nothing throws already when its storage is named.
const storage = (area: Area): Storage => (area === "tab" ? sessionStorage : localStorage);

/** What was kept; null for nothing. */
export function kept(area: Area, place: string): string | null {
  try {
    return storage(area).getItem(place);
  } catch {
    return null;
  }
}

/** Keeps a text, or with null forgets it; false where that cannot be. */
export function keep(area: Area, place: string, text: string | null): boolean {
  try {
    if (text === null) storage(area).removeItem(place);
    else storage(area).setItem(place, text);
    return true;
  } catch {
    return false;
  }
}
