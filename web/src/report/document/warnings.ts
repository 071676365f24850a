// The order of warnings: what can turn the answer round comes first. Kinds are those of
// crates/report/src/warning and of crates/report/src/comparison.

import type { Warning } from "./document";

/** What can change the answer, the gravest first: the work differs, values are missing or too few,
 *  the load was not what was wanted, the machine disturbed, engines were not set alike. */
const DOUBTS = [
  "answers_differ", "answered_without_engine", "reach_out_of_sight",
  "failures", "void_trials", "incomplete", "too_few_blocks",
  "different_work", "different_load", "different_data", "left_out",
  "durability_differs", "saturated", "client_starved", "client_busy",
  "steal", "busy_machine", "not_quiet", "drift", "not_steady", "unequal_cores",
  "different_machines", "machines_differ", "different_limits", "different_trial_times",
  "not_warm", "swapped", "memory_pressure", "data_exceeds_memory", "statistics_missing",
  "plan_changed", "settings_differ", "uneven_checkpoints", "writes_stay", "debug_build",
  "warm_up_failures",
];

/** What a reader should know, though the answer stays. */
const REMARKS = ["outlier", "different_programs", "other_engine", "shared_cores", "idle_cores",
  "resumed"];

export const KNOWN_KINDS: readonly string[] = [...DOUBTS, ...REMARKS];

/** A kind that this page does not know may be grave: it is the last of the doubts. */
function rank({ kind }: Warning): number {
  const [doubt, remark] = [DOUBTS.indexOf(kind), REMARKS.indexOf(kind)];
  if (remark >= 0) return DOUBTS.length + 1 + remark;
  return doubt >= 0 ? doubt : DOUBTS.length;
}

export interface RankedWarnings {
  doubts: Warning[];
  remarks: Warning[];
}

export function ranked(warnings: readonly Warning[]): RankedWarnings {
  const all = warnings.toSorted((a, b) => rank(a) - rank(b));
  return {
    doubts: all.filter((warning) => rank(warning) <= DOUBTS.length),
    remarks: all.filter((warning) => rank(warning) > DOUBTS.length),
  };
}

const MOST_CHARACTERS = 90;

/** The first words of a text, cut between two words. */
export function beginning(text: string, most = MOST_CHARACTERS): string {
  if (text.length <= most) return text;
  const cut = text.slice(0, most - 1);
  return `${cut.slice(0, Math.max(cut.lastIndexOf(" "), 1)).replace(/[,;:.]$/, "")} …`;
}
