// What the page asks of a document: which factor is the x axis, which combinations of the other
// factors were measured, what one engine did at given levels.

import type {
  Crossing,
  Estimate,
  Factor,
  Level,
  Levels,
  LevelValue,
  ReportDocument,
  Treatment,
} from "./document";

export class Experiment {
  /** The x axis: the swept factor, otherwise the one with the most levels; null without factors. */
  readonly swept: Factor | null;
  /** The factors that make panels. */
  readonly others: readonly Factor[];
  /** Request names in the order of their first appearance. */
  readonly requests: readonly string[];
  readonly #treatments = new Map<string, Treatment>();

  /** `names` are those of all engines of the page, so that each looks the same in every run. */
  constructor(
    readonly document: ReportDocument,
    readonly names: readonly string[] = document.engines.map((engine) => engine.name),
  ) {
    const factors = document.factors;
    const widest = factors.toSorted((a, b) => b.levels.length - a.levels.length)[0];
    this.swept = factors.find((factor) => factor.swept) ?? widest ?? null;
    this.others = factors.filter((factor) => factor !== this.swept);
    for (const treatment of document.treatments) {
      this.#treatments.set(this.#key(treatment.engine, treatment.levels), treatment);
    }
    const requests = document.treatments.flatMap((t) => t.requests_by_name.map((r) => r.name));
    this.requests = [...new Set(requests)];
  }

  /** What is counted, and what processor time is divided by. */
  get unitOfWork(): string {
    return this.document.run.unit_of_work;
  }

  /** The title of what each request, statement or blob shows alone. */
  get eachAlone(): string {
    const unit = this.unitOfWork;
    return `${unit.slice(0, 1).toUpperCase()}${unit.slice(1)} by ${unit}`;
  }

  /** On a linear axis most of it would lie on the ground: three powers of ten, as the sweep's. */
  get isWide(): boolean {
    if (this.swept?.scale !== "log") return false;
    const values = this.document.treatments.flatMap((t) => t.estimate?.value ?? []);
    return Math.max(...values) > 1000 * Math.min(...values);
  }

  get engines(): readonly string[] {
    return this.document.engines.map((engine) => engine.name);
  }

  /** An engine as people call it: 'PostgreSQL 18'. */
  readonly nameOf = (engine: string): string =>
    this.document.engines.find((one) => one.name === engine)?.product ?? engine;

  /** The place of an engine in the page's list, which decides its colour and symbol. */
  place(engine: string): number {
    return Math.max(0, this.names.indexOf(engine));
  }

  #key(engine: string, levels: Levels): string {
    return JSON.stringify([engine, ...this.document.factors.map((f) => levels[f.name] ?? null)]);
  }

  treatment(engine: string, levels: Levels): Treatment | undefined {
    return this.#treatments.get(this.#key(engine, levels));
  }

  /**
   * The combinations of levels of `factors` that were measured, in the order of the factors; where
   * factors vary one at a time the base comes first, then each variation in that order.
   */
  combinations(factors: readonly Factor[]): Levels[] {
    const order = [...factors.filter((f) => !f.alone), ...factors.filter((f) => f.alone)];
    const places = (levels: Levels) => order.map((factor) => {
      const place = factor.levels.findIndex((level) => level.value === levels[factor.name]);
      // What leaves the base with an earlier factor comes before what leaves it with a later one.
      return factor.alone && place > 0 ? place - factor.levels.length : place;
    });
    const atBase = (of: readonly number[]) => of.every((place, i) => !order[i]?.alone || !place);
    const measured = this.document.treatments.map((treatment) => {
      const known = factors.filter((factor) => factor.name in treatment.levels);
      return Object.fromEntries(known.map((f) => [f.name, treatment.levels[f.name] ?? ""]));
    });
    const distinct = new Map(measured.map((levels) => [JSON.stringify(levels), levels]));
    return [...distinct.values()]
      .map((levels) => ({ levels, places: places(levels) }))
      .toSorted((a, b) => {
        const at = a.places.findIndex((place, index) => place !== b.places[index]);
        const [aBase, bBase] = [atBase(a.places), atBase(b.places)];
        if (order[at]?.alone && aBase !== bBase) return aBase ? -1 : 1;
        return at < 0 ? 0 : (a.places[at] ?? 0) - (b.places[at] ?? 0);
      })
      .map(({ levels }) => levels);
  }

  treatmentsAt(levels: Levels): Treatment[] {
    return this.document.treatments.filter((treatment) => agrees(levels, treatment.levels));
  }

  /**
   * The labels of a combination, joined: '2 clients, 1 core'. Of factors that vary one at a time
   * only what differs from the base is named, otherwise 'base'. Empty for no factor.
   */
  describe(levels: Levels): string {
    const given = this.document.factors.filter((factor) => factor.name in levels);
    const named = given.filter(
      (factor) => !factor.alone || levels[factor.name] !== factor.levels[0]?.value,
    );
    const words = named.map((factor) => levelLabel(factor, levels[factor.name]));
    const based = given.some((factor) => factor.alone) && !named.some((factor) => factor.alone);
    return [...words, ...(based ? ["base"] : [])].join(", ");
  }

  /** Every label of a combination, whether or not it differs from the base. */
  describeAll(levels: Levels): string {
    return this.document.factors
      .filter((factor) => factor.name in levels)
      .map((factor) => levelLabel(factor, levels[factor.name]))
      .join(", ");
  }

  /** What 'base' stands for in titles: the first level of every factor that varies alone. */
  get base(): string {
    const alone = this.document.factors.filter((factor) => factor.alone);
    return alone.map((factor) => levelLabel(factor, factor.levels[0]?.value)).join(", ");
  }

  /** The crossings at these levels, of one request or (null) of the mean over all. */
  crossings(levels: Levels | null, request: string | null): Crossing[] {
    return this.document.crossings.filter(
      (c) => (c.request ?? null) === request && (levels === null || agrees(levels, c.levels)),
    );
  }
}

/** Whether `levels` names no level that `of` contradicts. */
export function agrees(levels: Levels, of: Levels): boolean {
  return Object.entries(levels).every(([name, value]) => of[name] === value);
}

/** A level's own label; a bare number gets the factor's unit or name. */
export function levelLabel(factor: Factor, value: LevelValue | undefined): string {
  const level = factor.levels.find((candidate) => candidate.value === value);
  return level ? labelOf(factor, level) : `${factor.label} ${value ?? "?"}`;
}

function labelOf(factor: Factor, level: Level): string {
  if (level.label && level.label !== String(level.value)) return level.label;
  const unit = factor.unit;
  return unit ? `${level.value} ${unit}` : `${factor.label} ${level.value}`;
}

/** The estimate of a treatment: over all requests, or of one request by its name. */
export function estimateOf(
  treatment: Treatment | undefined,
  request: string | null,
): Estimate | null {
  if (!treatment) return null;
  if (request === null) return treatment.estimate;
  return treatment.requests_by_name.find((r) => r.name === request)?.estimate ?? null;
}

/** What the two bounds of an estimate are called, in a reader's words. */
export function boundsName(estimate: Estimate): string {
  if (estimate.low === null || estimate.high === null) return "no interval";
  if (estimate.method === "RangeOnly") return "range, smallest to largest";
  const level = `${Math.round(estimate.confidence_level * 1000) / 10}% interval`;
  return estimate.method === "Bca" ? `${level} (BCa bootstrap)` : level;
}
