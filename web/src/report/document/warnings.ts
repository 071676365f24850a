// Warnings come in their order: what can change the answer first, remarks last.

import type { Warning } from "./document";

export interface GroupedWarnings {
  doubts: Warning[];
  remarks: Warning[];
}

export function grouped(warnings: readonly Warning[]): GroupedWarnings {
  return {
    doubts: warnings.filter((warning) => warning.changes_answer),
    remarks: warnings.filter((warning) => !warning.changes_answer),
  };
}

const MOST_CHARACTERS = 90;

/** The first words of a text, cut between two words. */
export function beginning(text: string, most = MOST_CHARACTERS): string {
  if (text.length <= most) return text;
  const cut = text.slice(0, most - 1);
  return `${cut.slice(0, Math.max(cut.lastIndexOf(" "), 1)).replace(/[,;:.]$/, "")} …`;
}
