// The report document: what the laboratory (crate lab) writes into report.html as JSON.
// These types mirror that contract. Every number was measured; null could not be obtained.

/** The version of the contract that this page reads. */
export const SCHEMA_VERSION = 1;

export interface ReportDocument {
  schema_version: number;
  run: Run;
  /** How the load was applied and the state it found: one line. */
  conditions: string;
  verdict: { headline: string; sentences: string[] };
  response: Response;
  factors: Factor[];
  engines: Engine[];
  treatments: Treatment[];
  crossings: Crossing[];
  warnings: Warning[];
  environment: NamedValue[];
  /** Command lines that repeat the run. */
  repeat: string[];
  limitations: string[];
}

export interface Run {
  id: string;
  title: string;
  workload: string;
  mode: string;
  /** ISO 8601, UTC. */
  started: string;
  duration_seconds: number | null;
  seed: number | null;
  blocks: number;
  /** False where the run was interrupted before its last trial. */
  complete: boolean;
  command_line: string;
  crossover_version: string;
}

export interface Response {
  name: string;
  label: string;
  unit: string | null;
  lower_is_better: boolean;
}

export type LevelValue = number | string;

export interface Factor {
  name: string;
  label: string;
  unit: string | null;
  /** The swept factor is the x axis; the others make panels. */
  swept: boolean;
  scale: "log" | "linear";
  levels: Level[];
}

export interface Level {
  value: LevelValue;
  label: string;
  /** Added by the laboratory inside a bracket, not planned by the user. */
  bisected?: boolean;
}

/** One level of every factor, by the factor's name. */
export type Levels = Record<string, LevelValue>;

export interface Engine {
  name: string;
  version: string;
  settings: NamedValue[];
}

export interface NamedValue {
  name: string;
  value: string;
}

export type Method = "StudentT" | "StudentTLogRatio" | "Bca" | "RangeOnly";

export interface Estimate {
  value: number;
  /** With the method `RangeOnly` the smallest and largest value, which is not an interval. */
  low: number | null;
  high: number | null;
  confidence_level: number;
  method: Method;
  replicates: number;
}

export interface Treatment {
  engine: string;
  levels: Levels;
  estimate: Estimate | null;
  best_of_three: number | null;
  blocks: { block: number; value: number | null }[];
  ratio: Ratio | null;
  cpu_seconds_per_request: number | null;
  cores_used: number | null;
  requests_per_second: number | null;
  requests: number | null;
  failures: number | null;
  /** Trials that could not be used, and why is in the run's record. */
  void_trials?: number;
  requests_by_name: { name: string; estimate: Estimate | null; ratio?: Ratio | null }[];
}

export interface Ratio {
  /** The engine in the denominator. */
  to: string;
  estimate: Estimate;
  verdict: "faster" | "slower" | "undecided" | null;
}

export interface Crossing {
  /** The levels of the factors that are not swept. */
  levels: Levels;
  /** The request's name, or null for the mean over all requests. */
  request: string | null;
  a: string;
  b: string;
  kind: "bracketed" | "not_in_range" | "inconclusive";
  /** The two measured levels between which the lines cross. */
  low: number | null;
  high: number | null;
  /** An interpolated level, never with an interval. */
  about: number | null;
  sentence: string;
}

export interface Warning {
  kind: string;
  message: string;
  /** What settles the doubt. */
  advice: string;
}
