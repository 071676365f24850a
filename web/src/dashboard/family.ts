// An article among its translations.

import type { Article, Relative } from "./api";

/** The whole family, the original first, each once. */
export function familyOf(article: Article): Relative[] {
  const all = [article.original, article, ...article.translations];
  return [...new Map(all.flatMap((one): [string, Relative][] =>
    (one ? [[one.uuid, one]] : []))).values()];
}
