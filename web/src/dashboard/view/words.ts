// A view in words: chips of its filters, titles of charts and downloads.

import { dayText, type Period, periodText } from "../data/calendar";
import { dimensionName, wordsOf } from "../data/dimension";
import { METRIC_NAMES } from "../data/measure";
import type { Filter, Publication, View } from "./view";

/** How a key of a dimension is called; the key itself where that is not known. */
export type LabelOf = (dimension: Filter["dimension"], key: string) => string;

/** Values that a chip names; of the rest it tells the number. */
export const NAMED_VALUES = 3;

/** 'Country is Germany or France', 'Team is none of A, B and 4 more'. */
export function filterText(filter: Filter, labelOf: LabelOf): string {
  const { dimension, exclude, keys } = filter;
  const named = keys.slice(0, NAMED_VALUES).map((key) => labelOf(dimension, key));
  const more = keys.length - named.length;
  const verb = !exclude ? "is" : keys.length > 1 ? "is none of" : "is not";
  const list = exclude || more > 0 ? named.join(", ") : named.join(" or ");
  return `${dimensionName(dimension)} ${verb} ${list}${more > 0 ? ` and ${more} more` : ""}`;
}

export function publicationText({ from, to }: Publication, exclude: boolean): string {
  const verb = exclude ? "Not published" : "Published";
  if (from && to) return `${verb} ${periodText({ start: from, end: to })}`;
  if (from) return `${verb} from ${dayText(from)}`;
  return to ? `${verb} until ${dayText(to)}` : "";
}

/** All that narrows a view, for the subtitle of a picture. */
export function filtersText(view: View, labelOf: LabelOf): string {
  return [
    ...view.filters.map((filter) => filterText(filter, labelOf)),
    publicationText(view.published, false),
    publicationText(view.notPublished, true),
    view.grouped ? "translations count for their originals" : "",
  ].filter(Boolean).join("; ");
}

/** 'Pageviews by author, 1 to 31 May 2021'. */
export function rowsTitle(view: View, period: Period): string {
  const split = view.split && view.by !== "countries" ? " and country" : "";
  return `${METRIC_NAMES[view.metric]} by ${wordsOf(view.by).one.toLowerCase()}${split}, ` +
    periodText(period);
}
