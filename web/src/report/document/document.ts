// The report document: what crate report writes into report.html as JSON.
// These types mirror that contract. Every number was measured; null could not be obtained.

/** The version of the contract that this page reads. */
export const SCHEMA_VERSION = 2;

/** Several runs in one page, each a column; a page of one run holds its document bare. */
export interface SeveralDocuments {
  schema_version: number;
  documents: ReportDocument[];
  /** Whether the charts of all runs begin with the same axes. */
  common_axes: boolean;
  /** Doubts about comparing these runs: other machines, other data. */
  warnings: Warning[];
}

export interface ReportDocument {
  schema_version: number;
  run: Run;
  /** How the load was applied and the state it found: one line. */
  conditions: string;
  summary: Summary;
  response: Response;
  factors: Factor[];
  engines: Engine[];
  treatments: Treatment[];
  /** Of a run whose response is a rate over clients. */
  throughput?: Throughput;
  crossings: Crossing[];
  /** What each factor does, variation by variation. */
  effects: Effect[];
  /** Every threshold of the plan where it was applied. */
  thresholds: Threshold[];
  warnings: Warning[];
  environment: NamedValue[];
  /** Command lines that repeat the run. */
  repeat: string[];
  limitations: string[];
  /** The text of every plan that treatments name, by its hash. */
  plans: Record<string, string>;
  /** Workload `blob`: what the article would show of this run. */
  blob?: BlobPart;
}

/** The answer, in words and as values. */
export interface Summary {
  headline: string;
  /** Its first sentence, which has the size. */
  lead: string;
  sentences: string[];
  /** What the requests show, summed up; empty where there is nothing to add. */
  by_request: string[];
  /** Every comparison of all requests together. */
  verdicts: PairVerdict[];
  /** Three engines and more. */
  ranking?: { engine: string; rank_low: number; rank_high: number }[];
}

export interface PairVerdict {
  a: string;
  b: string;
  /** The levels of the factors that are not swept. */
  levels: Levels;
  /** Of the swept factor. */
  level: number | null;
  /** The response of a by that of b, with its interval. */
  ratio: number;
  low: number | null;
  high: number | null;
  /** What is shown of a. */
  verdict: "faster" | "slower" | "equal" | "undecided";
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
  /** Varied one at a time from the base cell, which has the first level of every such factor. */
  alone?: boolean;
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
  /** As the headline calls it: 'PostgreSQL 18'. */
  product?: string;
  version: string;
  settings: NamedValue[];
  durability?: Durability;
  /** Whether the planner had statistics; null where that cannot be seen. */
  statistics_present?: boolean | null;
  /** Size of the database's files. */
  data_bytes?: number | null;
  /** Starts at other levels than the plan's first: what was read back otherwise there. */
  starts?: { levels: string; differences: NamedValue[] }[];
}

/** What a committed transaction survives. */
export type Durability = "none" | "survives_program_crash" | "survives_power_loss" | "unknown";

export interface NamedValue {
  name: string;
  value: string;
}

export type Method = "StudentT" | "StudentTLog" | "StudentTLogRatio" | "Bca" | "RangeOnly";

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
  /** The geometric mean over blocks. */
  estimate: Estimate | null;
  /** The arithmetic mean, where it is more than 5% larger. */
  arithmetic_mean?: number | null;
  best_of_three: number | null;
  blocks: { block: number; value: number | null }[];
  ratio: Ratio | null;
  cpu_seconds_per_request: number | null;
  cores_used: number | null;
  /** Where it is not the response itself. */
  response_time_ms_mean?: Estimate | null;
  /** Where they are counted. */
  statements_per_second?: Estimate | null;
  requests_per_second: number | null;
  requests: number | null;
  failures: number | null;
  /** Failures by a wrong answer, and by a time-out. */
  wrong_answers?: number;
  timed_out?: number;
  /** Trials that could not be used, and why is in the run's record. */
  void_trials?: number;
  /** Open load: what was offered, and whether the engine could not keep up with it. */
  offered_per_second?: number | null;
  saturated?: boolean;
  /** Geometric means over blocks of the percentiles that every trial had observations enough for. */
  percentiles: Percentile[];
  /** Probability and time in ms, from all blocks' histograms together; supported ones only. */
  percentile_curve: [number, number][];
  /** Means over blocks of what engine and kernel counted during a trial. */
  counters: Counter[];
  /** What the counters say in words: 'spilled 25 MB of a sort to disk'. */
  notes: string[];
  /** What the engine chose to do, where that was looked for. */
  plans: TreatmentPlan[];
  requests_by_name: { name: string; estimate: Estimate | null; ratio?: Ratio | null }[];
}

/** What throughput shows over the number of clients. */
export interface Throughput {
  /** Processors that the server side could use. */
  cores: number;
  scaling: Scaling[];
  steps: Step[];
  releases: Release[];
}

/** One engine over the clients, at one level of every other factor. */
export interface Scaling {
  engine: string;
  levels: Levels;
  peak_clients: number;
  peak: Estimate;
  /** Every number of clients that is not shown to be below the best. */
  peak_candidates: number[];
  one_client: Estimate | null;
  over_one_client: { clients: number; estimate: Estimate }[];
  /** Throughput at a multiple of the peak's clients by that at the peak. */
  beyond_peak: { times: number; clients: number; estimate: Estimate }[];
}

/** One engine against the one before it of its kind. */
export interface Step {
  engine: string;
  before: string;
  levels: Levels;
  results: { clients: number; estimate: Estimate; verdict: Ratio["verdict"] }[];
  sentence: string;
}

/** A release of PostgreSQL; dates are null where the program does not know them. */
export interface Release {
  engine: string;
  branch: string;
  first_release: string | null;
  tested: string;
  tested_release: string | null;
}

export interface TreatmentPlan {
  operation: string;
  /** Names in the document's `plans`; more than one where the plan changed between blocks. */
  hashes: string[];
  /** Why the plan cannot be seen. */
  not_observable: string | null;
}

export interface Percentile {
  /** Between 0 and 1: 0.99. */
  p: number;
  value_ms: number;
  /** The interval from the blocks; null under five blocks. */
  low_ms: number | null;
  high_ms: number | null;
  /** `Bca` from 20 blocks. */
  method?: Method;
  replicates: number;
}

export interface Counter {
  name: string;
  label: string;
  /** `bytes`, `s`, or null for plain counts. */
  unit: string | null;
  value: number;
}

export interface Ratio {
  /** The engine in the denominator. */
  to: string;
  estimate: Estimate;
  verdict: "faster" | "slower" | "equal" | "undecided" | null;
  /** The difference that is shown besides, where the verdict is that both are equal. */
  difference?: "faster" | "slower";
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
  /** An engine's plan that changes between two levels of the swept factor near the crossing. */
  plan_change?: PlanChange | null;
}

export interface PlanChange {
  engine: string;
  between: [LevelValue, LevelValue];
  /** The operations whose plans change so. */
  operations: string[];
  /** The plan at either level, of the first of these operations; the document's `plans` has
   *  its text. */
  plans: { level: LevelValue; hash: string }[];
}

/** The ratio of one engine's response at two levels of a factor, everything else equal. */
export interface Effect {
  factor: string;
  engine: string;
  /** Null: the engine's own time. Else what becomes of its ratio to this engine's time: the row
   *  that moves a crossing. `faster` means that `engine` gains by it. */
  against: string | null;
  /** The level in the denominator. */
  from: LevelValue;
  to: LevelValue;
  /** The levels at which the other factors were held. */
  levels: Levels;
  estimate: Estimate;
  verdict: Ratio["verdict"];
}

export interface Threshold {
  /** The plan's own words: 'p99 <= 200 ms'. */
  rule: string;
  /** Where it was applied: 'sqlite, 4 clients, year'. */
  where: string;
  measured: string;
  /** Null where the run cannot tell. */
  met: boolean | null;
}

/** What the report says of blobs beside what it says of every workload. */
export interface BlobPart {
  /** Every treatment in the units of blobs. */
  times: BlobTime[];
  /** The article's pictures, as far as the run has what they need. */
  pictures: Picture[];
  /** What each form takes on storage. */
  space: Space[];
  space_paragraph: string;
  /** Files by SQLite for each size of pages and blobs; null where they do not vary. */
  page_sizes: PageSizes | null;
  /** The article's claims. */
  claims: Claim[];
}

export interface BlobTime {
  engine: string;
  levels: Levels;
  time_per_blob_us: Estimate;
  /** With what is left to do after COMMIT. */
  time_per_blob_with_checkpoint_us: number | null;
  /** Until nothing is left to be written to storage: what verdicts rest on. */
  time_per_blob_synced_us?: Estimate | null;
  megabytes_per_second: number | null;
  /** The share of a file's time that goes into opening and closing it. */
  open_close_fraction: number | null;
}

/** Times by that of one line. */
export interface Picture {
  id: string;
  title: string;
  /** The line whose time is 1. */
  base: string;
  bars: { engine: string; ratio: Estimate }[];
  /** What it shows in words, from these numbers. */
  paragraph: string;
}

export interface Space {
  engine: string;
  blobs: number;
  content_bytes: number;
  stored_bytes: number;
  /** In whole blocks of the file system, with its folders. */
  allocated_bytes: number;
  times_sqlite: number | null;
}

export interface PageSizes {
  of: string;
  by: string;
  blob_bytes: number[];
  rows: { page_bytes: number; ratios: (Estimate | null)[] }[];
}

export interface Claim {
  claim: string;
  /** The article's. */
  figure: string;
  /** What was divided by what. */
  of: string;
  measured: Estimate | null;
  verdict: "holds" | "in_part" | "size_undecided" | "does_not" | "undecided" | "not_measured";
}

export interface Warning {
  kind: string;
  message: string;
  /** What settles the doubt. */
  advice: string;
}
