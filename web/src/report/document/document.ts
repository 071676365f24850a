// The report document: what crate report writes into report.html as JSON, by the names that the
// page uses. Every number was measured; null could not be obtained.

import type { Level as LevelValue } from "./generated";

export type {
  BarPart as Bar,
  BestPart as AtBest,
  BlobPart,
  ClaimPart as Claim,
  CounterPart as Counter,
  CrossingPart as Crossing,
  Document as ReportDocument,
  Durability,
  EffectPart as Effect,
  EnginePart as Engine,
  Estimate,
  FactorPart as Factor,
  InteractionPart as Interaction,
  Level as LevelValue,
  LevelPart as Level,
  Method,
  NamedValue,
  NotMeasured,
  PageSizesPart as PageSizes,
  PairVerdict,
  PercentilePart as Percentile,
  PicturePart as Picture,
  PlanChangePart as PlanChange,
  PlanPart as TreatmentPlan,
  RatioPart as Ratio,
  ReleasePart as Release,
  Response,
  RunAnswer as Summary,
  RunPart as Run,
  ScalingPart as Scaling,
  Several as SeveralDocuments,
  SpacePart as Space,
  StepPart as Step,
  StepRow,
  StepsPart,
  StepTimePart as StepTime,
  ThresholdPart as Threshold,
  ThroughputPart as Throughput,
  TimePart as BlobTime,
  ToDo,
  TreatmentPart as Treatment,
  WarningPart as Warning,
} from "./generated";

/** The version of the contract that this page reads. */
export const SCHEMA_VERSION = 3;

/** One level of every factor, by the factor's name. */
export type Levels = Record<string, LevelValue>;
