// Keys that work anywhere on the page, unless they are being typed into a field.

export type Action = "search" | "help" | "escape";

/** The part of a key event that decides. */
export interface Pressed {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  target: EventTarget | null;
}

function typing(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || ["TEXTAREA", "SELECT"].includes(target.tagName) ||
    (target instanceof HTMLInputElement && !["checkbox", "radio", "button"].includes(target.type));
}

/** What a key asks for; a dialog that is open has all keys for itself. */
export function keyAction(event: Pressed, dialog: boolean): Action | null {
  if (dialog || event.ctrlKey || event.metaKey || event.altKey) return null;
  // Escape clears also from inside the search.
  if (event.key === "Escape") return "escape";
  if (typing(event.target)) return null;
  if (event.key === "/") return "search";
  return event.key === "?" ? "help" : null;
}
