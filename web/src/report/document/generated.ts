// Written by `npm run types` from docs/schemas/report.schema.json: edit the program's types.

/**
 * What `crossover report --format json` prints: the document of one run, or several. Readers ignore keys that they do not know, and refuse a larger schema_version.
 */
export type Report = Document | Several;
/**
 * How the bounds of an `Estimate` were made. The report page knows these names.
 */
export type Method = "StudentT" | "StudentTLog" | "StudentTLogRatio" | "WelchLogRatio" | "Bca" | "RangeOnly";
export type ClaimVerdict = "does_not" | "holds" | "in_part" | "size_undecided" | "undecided" | "not_measured";
/**
 * One value of a factor.
 */
export type Level = number | string;
/**
 * Verdicts that are corrected together.
 */
export type Family = "primary" | "other_pairs" | "steps";
export type CrossingKind = "bracketed" | "not_in_range" | "inconclusive";
export type Shown = "faster" | "slower" | "equal" | "undecided";
/**
 * Events that a committed transaction survives.
 */
export type Durability = "survives_power_loss" | "none" | "survives_program_crash" | "unknown";
/**
 * The scale of a swept factor's axis, on which it is bisected.
 */
export type Scale = "linear" | "log";

export interface Document {
  /**
   * Workload `blob`: what the article would show of this run.
   */
  blob?: BlobPart | null;
  conditions: string;
  crossings: CrossingPart[];
  /**
   * Effects of each factor, variation by variation.
   */
  effects: EffectPart[];
  engines: EnginePart[];
  environment: NamedValue[];
  factors: FactorPart[];
  /**
   * Interactions of two factors of two levels each.
   */
  interactions?: InteractionPart[];
  limitations: string[];
  /**
   * The text of every plan that `treatments` name, by its hash.
   */
  plans: {
    [k: string]: string;
  };
  repeat: string[];
  response: Response;
  run: RunPart;
  schema_version: number;
  /**
   * Of a plan with steps.
   */
  steps?: StepsPart | null;
  summary: RunAnswer;
  /**
   * Every threshold of the plan where it was applied.
   */
  thresholds: ThresholdPart[];
  /**
   * Of a run whose response is a rate over clients.
   */
  throughput?: ThroughputPart | null;
  treatments: TreatmentPart[];
  warnings: WarningPart[];
}
export interface BlobPart {
  claims: ClaimPart[];
  /**
   * Files by SQLite, for each size of its pages and of the blobs; none where they do not vary.
   */
  page_sizes: PageSizesPart | null;
  /**
   * The article's pictures, as far as this run has what they need.
   */
  pictures: PicturePart[];
  /**
   * Space of each form on storage.
   */
  space: SpacePart[];
  /**
   * The sentence under that table.
   */
  space_paragraph: string;
  /**
   * Every treatment in the units of blobs.
   */
  times: TimePart[];
}
/**
 * One of the article's claims.
 */
export interface ClaimPart {
  claim: string;
  figure: string;
  /**
   * A ratio, or a share (0 to 1); none where it was not measured.
   */
  measured: Estimate | null;
  /**
   * Ours: what was divided by what, or where a share was measured.
   */
  of: string;
  verdict: ClaimVerdict;
}
/**
 * A value with its interval. Units are those of the replicates; a ratio has none.
 */
export interface Estimate {
  /**
   * How often such intervals cover the truth, 0.95 for 95%. 0 for `Method::RangeOnly`:
   * a range promises nothing.
   */
  confidence_level: number;
  high: number | null;
  /**
   * Lower bound: of the interval, or of the range for `Method::RangeOnly`.
   * None with one replicate only.
   */
  low: number | null;
  method: Method;
  /**
   * How many replicates (blocks) it rests on.
   */
  replicates: number;
  value: number;
}
export interface PageSizesPart {
  /**
   * Sizes of blobs, bytes.
   */
  blob_bytes: number[];
  /**
   * The line in the denominator.
   */
  by: string;
  /**
   * The line in the numerator.
   */
  of: string;
  /**
   * A row for each size of pages.
   */
  rows: PageSizeRow[];
}
export interface PageSizeRow {
  page_bytes: number;
  /**
   * In the order of `PageSizesPart::blob_bytes`.
   */
  ratios: (Estimate | null)[];
}
/**
 * A picture: times by that of one line.
 */
export interface PicturePart {
  bars: BarPart[];
  /**
   * The line whose time is 1.
   */
  base: string;
  /**
   * A short constant name, as `read_sql`.
   */
  id: string;
  /**
   * Its result in words, from these numbers.
   */
  paragraph: string;
  title: string;
}
/**
 * A bar of a picture.
 */
export interface BarPart {
  engine: string;
  ratio: Estimate;
}
/**
 * Space of a form on storage.
 */
export interface SpacePart {
  /**
   * In whole blocks of the file system, with its folders.
   */
  allocated_bytes: number;
  blobs: number;
  /**
   * Their own bytes.
   */
  content_bytes: number;
  /**
   * A line of that form.
   */
  engine: string;
  /**
   * Length of the database's file, or of all files.
   */
  stored_bytes: number;
  /**
   * `allocated_bytes` by that of SQLite, where that was measured.
   */
  times_sqlite: number | null;
}
export interface TimePart {
  engine: string;
  /**
   * One level of each factor.
   */
  levels: {
    [k: string]: Level;
  };
  /**
   * Bytes of blobs, by all clients together, 1,000,000 a second.
   */
  megabytes_per_second: number | null;
  /**
   * Of a file's time, the share that goes into opening and closing it (0 to 1).
   */
  open_close_fraction: number | null;
  /**
   * The same until nothing is left to be written to storage: what verdicts rest on.
   */
  time_per_blob_synced_us: Estimate | null;
  time_per_blob_us: Estimate;
  /**
   * The same until the end of the engine's checkpoint.
   */
  time_per_blob_with_checkpoint_us: number | null;
}
/**
 * Result of a sweep in one place.
 */
export interface CrossingPart {
  a: string;
  /**
   * An interpolated level, never with an interval.
   */
  about: number | null;
  b: string;
  family: Family;
  high: number | null;
  kind: CrossingKind;
  levels: {
    [k: string]: Level;
  };
  /**
   * The two measured levels between which the lines cross.
   */
  low: number | null;
  /**
   * An engine's plan that changes between two levels of the swept factor there.
   */
  plan_change: PlanChangePart | null;
  request: string | null;
  sentence: string;
}
/**
 * A plan that changes between two measured levels of the swept factor.
 */
export interface PlanChangePart {
  /**
   * @minItems 2
   * @maxItems 2
   */
  between: [number, number];
  engine: string;
  /**
   * The operations whose plans change there.
   */
  operations: string[];
  /**
   * The plan at either level, of the first of these operations.
   */
  plans: LevelPlanPart[];
}
/**
 * A plan at a level; the document's `plans` has the text by its hash.
 */
export interface LevelPlanPart {
  hash: string;
  level: number;
}
/**
 * Effect of a factor's level, everything else equal: the ratio of a time to that at another level,
 * or the change of the ratio of two engines' times.
 */
export interface EffectPart {
  /**
   * None: the engine's own time. Else: its ratio to this engine's time.
   */
  against: string | null;
  engine: string;
  estimate: Estimate;
  factor: string;
  from: Level;
  /**
   * The levels at which the other factors were held; one that varies alone and is not named
   * was at its first level.
   */
  levels: {
    [k: string]: Level;
  };
  /**
   * The operations whose plan is another one after the change; of an engine's own time only.
   */
  plan_changes?: string[];
  to: Level;
  verdict: Shown;
}
/**
 * An engine at its last start.
 */
export interface EnginePart {
  data_bytes: number | null;
  durability: Durability;
  name: string;
  /**
   * As the headline calls it: `PostgreSQL 18`.
   */
  product: string;
  settings: NamedValue[];
  /**
   * Its starts at other levels of the factors that need one, where something else was read back.
   */
  starts: StartPart[];
  statistics_present: boolean | null;
  version: string;
}
/**
 * A name and a value.
 */
export interface NamedValue {
  name: string;
  value: string;
}
/**
 * A start of an engine at other levels than the plan's first.
 */
export interface StartPart {
  /**
   * Settings read back that are not as at the first levels, and `version`, `durability`,
   * `statistics`, `data_bytes` where those differ.
   */
  differences: NamedValue[];
  /**
   * The levels that are not the first, as `work_mem=16MB`.
   */
  levels: string;
}
/**
 * A factor with all levels measured, those of bisection among them.
 */
export interface FactorPart {
  /**
   * Varied one at a time from the base cell, which has the first level of every such factor.
   */
  alone: boolean;
  label: string;
  levels: LevelPart[];
  name: string;
  scale: Scale;
  swept: boolean;
  unit: string | null;
}
export interface LevelPart {
  bisected: boolean;
  label: string;
  value: Level;
}
/**
 * Effect of a factor with two levels at either level of another such factor.
 */
export interface InteractionPart {
  /**
   * @minItems 2
   * @maxItems 2
   */
  at: [Level, Level];
  /**
   * The effect at either level of `other`.
   *
   * @minItems 2
   * @maxItems 2
   */
  effects: [Estimate, Estimate];
  engine: string;
  estimate: Estimate;
  factor: string;
  from: Level;
  /**
   * The levels at which all further factors were held.
   */
  levels: {
    [k: string]: Level;
  };
  /**
   * The factor on which the effect may depend, and its two levels.
   */
  other: string;
  to: Level;
  verdict: Shown;
}
export interface Response {
  label: string;
  lower_is_better: boolean;
  name: string;
  /**
   * None of a count per second, which the label tells.
   */
  unit: string | null;
}
export interface RunPart {
  blocks: number;
  command_line: string;
  complete: boolean;
  crossover_version: string;
  /**
   * Without the rest of a run that was interrupted and taken up again.
   */
  duration_seconds: number | null;
  id: string;
  /**
   * `steady`: trials of a length; `passes`: every client sends each request so often.
   */
  mode: string;
  /**
   * Whether it is the article's experiment, of which its own statistic is shown.
   */
  of_the_article: boolean;
  seed: number;
  started: string;
  title: string;
  /**
   * The unit that is counted and timed: `request`, `statement`, `blob`, `transaction`.
   */
  unit_of_work: string;
  workload: string;
}
/**
 * Statements by steps of engines.
 */
export interface StepsPart {
  /**
   * Beside each other engine one on the first engine's steps, or one on those alone; with a bound of the
   * user's one on each engine up to the first that keeps to it.
   */
  conclusions: ConclusionPart[];
  /**
   * In the order of the plan; the first engine's steps are those that are climbed.
   */
  engines: EngineStepsPart[];
  /**
   * Limits of the comparison of both engines at their best.
   */
  limits: string[];
  /**
   * The bound of differences that users do not feel: `below 1 ms per execution`.
   */
  not_felt: string;
  not_measured: NotMeasured[];
  /**
   * How indexes were found, facts of a log, sizes.
   */
  notes: string[];
  /**
   * A row of a log's total first, then the statements.
   */
  rows: StepRow[];
  /**
   * Changes to carry out, in their order.
   */
  to_do: ToDo[];
  /**
   * Whether `to_do` leads to the step that is enough; otherwise it is what each engine had at its
   * best.
   */
  to_do_is_advice: boolean;
  /**
   * Releases that were compared, and what sets their builds apart.
   */
  versions: string[];
}
/**
 * The conclusion on one engine's steps.
 */
export interface ConclusionPart {
  /**
   * The engine that it is compared with; none where the user's bound decides, or nothing is beside it.
   */
  beside: string | null;
  /**
   * `enough`, `not_enough` or `undecided`.
   */
  conclusion: string;
  engine: string;
  /**
   * The smallest step that is enough.
   */
  step: string | null;
}
/**
 * One engine's steps, in the order of the plan.
 */
export interface EngineStepsPart {
  /**
   * The step at which it is compared at its best.
   */
  best: string;
  engine: string;
  /**
   * Those at which some row was measured.
   */
  measured: StepColumn[];
  steps: string[];
}
/**
 * A step with what it changes since the one measured before it.
 */
export interface StepColumn {
  step: string;
  /**
   * `2 indexes and settings` where no row was measured with the indexes alone.
   */
  title: string;
}
/**
 * A statement that is not measured, and why.
 */
export interface NotMeasured {
  name: string;
  /**
   * File and line, if the user wrote it.
   */
  place?: string | null;
  why: string;
}
/**
 * A statement, or the log's total.
 */
export interface StepRow {
  /**
   * The first engine at its best against each other one.
   */
  best: BestPart[];
  /**
   * How often the log has it.
   */
  executions: number | null;
  /**
   * None of the log's total.
   */
  statement: string | null;
  text: string | null;
  times: StepTimePart[];
}
/**
 * The first engine's time by that of another.
 */
export interface BestPart {
  engine: string;
  /**
   * Whether a user could feel the difference.
   */
  is_felt: boolean;
  ratio: Estimate;
  verdict: Shown;
}
/**
 * The mean response time at one step of an engine; of the total that of the whole log.
 */
export interface StepTimePart {
  engine: string;
  ratio_to_step_before: Estimate | null;
  response_time_ms_mean: Estimate | null;
  step: string;
  /**
   * The last step before it at which the row was measured, and the time by the time there.
   */
  step_before: string | null;
  verdict: Shown | null;
}
/**
 * Statements of one step for one engine.
 */
export interface ToDo {
  engine: string;
  /**
   * Set on every connection.
   */
  settings: string[];
  /**
   * To be pasted.
   */
  sql: string[];
  step: string;
}
/**
 * The answer to the plan's question.
 */
export interface RunAnswer {
  /**
   * All of it, with its size.
   */
  headline: string;
  /**
   * Its first sentence: a crossing, otherwise where each engine is faster.
   */
  lead: string;
  /**
   * The pairs that have no comparison of their own.
   */
  not_compared?: NotCompared[];
  /**
   * Of three engines and more, at every set of levels.
   */
  rankings?: Ranking[];
  /**
   * The reasons: each set of levels, the cost of a wrong choice, the effect of each factor, the
   * way out of open questions.
   */
  sentences: string[];
  /**
   * Every comparison of all requests together.
   */
  verdicts: PairVerdict[];
}
/**
 * Two engines that were measured and not compared.
 */
export interface NotCompared {
  a: string;
  b: string;
}
/**
 * The ranks at one set of levels, in the order of the estimates, the fastest first.
 */
export interface Ranking {
  levels: {
    [k: string]: Level;
  };
  ranks: Rank[];
}
/**
 * The ranks that an engine may have, 1 being the fastest.
 */
export interface Rank {
  engine: string;
  rank_high: number;
  rank_low: number;
}
/**
 * Result of one comparison.
 */
export interface PairVerdict {
  a: string;
  b: string;
  family: Family;
  high: number | null;
  /**
   * Of the swept factor.
   */
  level: number | null;
  /**
   * The levels of the factors that are not swept.
   */
  levels: {
    [k: string]: Level;
  };
  low: number | null;
  /**
   * The response of a by that of b, with its interval.
   */
  ratio: number;
  verdict: Shown;
}
/**
 * A threshold where it was applied.
 */
export interface ThresholdPart {
  engine: string;
  levels: {
    [k: string]: Level;
  };
  /**
   * As `180 ms (170 to 190)`.
   */
  measured: string;
  /**
   * None where the interval holds the bound, or nothing was measured.
   */
  met: boolean | null;
  /**
   * The request of the mix that a regression is of.
   */
  request?: string | null;
  /**
   * As `response_time_ms_p99 < 200`.
   */
  rule: string;
  /**
   * As `sqlite, 4 clients, year`.
   */
  where: string;
}
/**
 * Throughput over the number of clients.
 */
export interface ThroughputPart {
  /**
   * Processors that the server side could use: where the peak would be if nothing else mattered.
   */
  cores: number;
  releases: ReleasePart[];
  scaling: ScalingPart[];
  steps: StepPart[];
}
/**
 * A release of PostgreSQL; dates are days, none where this program does not know them.
 */
export interface ReleasePart {
  branch: string;
  engine: string;
  first_release: string | null;
  tested: string;
  tested_release: string | null;
}
/**
 * One engine over the clients.
 */
export interface ScalingPart {
  /**
   * Throughput at a multiple of the peak's clients by that at the peak.
   */
  beyond_peak: BeyondPart[];
  engine: string;
  levels: {
    [k: string]: Level;
  };
  one_client: Estimate | null;
  /**
   * Throughput at each number of clients by that at one.
   */
  over_one_client: AtClients[];
  peak: Estimate;
  /**
   * Every number of clients that is not shown to be below it.
   */
  peak_candidates: number[];
  /**
   * The number of clients with the largest mean.
   */
  peak_clients: number;
}
/**
 * A ratio at a multiple of the peak's clients.
 */
export interface BeyondPart {
  clients: number;
  estimate: Estimate;
  times: number;
}
/**
 * A ratio at a number of clients.
 */
export interface AtClients {
  clients: number;
  estimate: Estimate;
}
/**
 * One engine against the one before it of its kind.
 */
export interface StepPart {
  before: string;
  engine: string;
  levels: {
    [k: string]: Level;
  };
  results: StepResult[];
  /**
   * Where the lines cross, or who leads.
   */
  sentence: string;
}
/**
 * Throughput by that of the engine before, at a number of clients.
 */
export interface StepResult {
  clients: number;
  estimate: Estimate;
  verdict: Shown;
}
export interface TreatmentPart {
  /**
   * The arithmetic mean over blocks of the response, where it is more than 5% above the
   * geometric one.
   */
  arithmetic_mean?: number | null;
  best_of_three: number | null;
  blocks: BlockPart[];
  cores_used: number | null;
  /**
   * Means over blocks of what engine and kernel counted during a trial.
   */
  counters: CounterPart[];
  cpu_seconds_per_request: number | null;
  engine: string;
  estimate: Estimate | null;
  failures: number;
  levels: {
    [k: string]: Level;
  };
  /**
   * The counters in words, as `spilled 25 MB of a sort to disk`.
   */
  notes: string[];
  /**
   * Open load: what was offered, and whether the engine could not keep up with it.
   */
  offered_per_second: number | null;
  /**
   * Share and time in ms, from the histograms of all blocks together; supported ones only.
   */
  percentile_curve: [number, number][];
  /**
   * Those that every trial has observations enough for.
   */
  percentiles: PercentilePart[];
  /**
   * Plans that the engine chose, where they were observed.
   */
  plans: PlanPart[];
  ratio: RatioPart | null;
  requests: number;
  requests_by_name: RequestPart[];
  requests_per_second: number | null;
  /**
   * Where it is not the response itself.
   */
  response_time_ms_mean?: Estimate | null;
  saturated: boolean;
  statements_per_second?: Estimate | null;
  timed_out: number;
  void_trials: number;
  /**
   * Failures by a wrong answer, and by a time-out.
   */
  wrong_answers: number;
}
export interface BlockPart {
  block: number;
  value: number;
}
export interface CounterPart {
  label: string;
  name: string;
  /**
   * `bytes`, `s`, or none for plain counts.
   */
  unit: string | null;
  value: number;
}
/**
 * One percentile of the response time: the mean over blocks of each trial's own.
 */
export interface PercentilePart {
  high_ms: number | null;
  low_ms: number | null;
  method: Method;
  /**
   * Between 0 and 1, as 0.99.
   */
  p: number;
  replicates: number;
  value_ms: number;
}
/**
 * One operation's plan; the document's `plans` has the text by its hash.
 */
export interface PlanPart {
  /**
   * More than one where it changed between blocks; empty where it could not be seen.
   */
  hashes: string[];
  not_observable: string | null;
  operation: string;
}
/**
 * A ratio to the first engine.
 */
export interface RatioPart {
  /**
   * The difference that is shown besides, where the verdict is that both are equal.
   */
  difference?: Shown | null;
  estimate: Estimate;
  to: string;
  verdict: Shown;
}
/**
 * One request of the mix.
 */
export interface RequestPart {
  estimate: Estimate | null;
  name: string;
  ratio: RatioPart | null;
  /**
   * The share of its executions that changed no row (0 to 1); none where it only reads, or effects
   * are not counted.
   */
  without_effect_fraction?: number | null;
}
/**
 * A doubt and what to do about it.
 */
export interface WarningPart {
  advice: string;
  /**
   * Whether it can change the answer. Those that can come first, the gravest of them at the front.
   */
  changes_answer: boolean;
  kind: string;
  message: string;
}
/**
 * Several runs in one page.
 */
export interface Several {
  /**
   * Whether the charts of all runs begin with the same axes.
   */
  common_axes: boolean;
  documents: Document[];
  schema_version: number;
  warnings: WarningPart[];
}
