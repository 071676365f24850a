// Engines in sentences, by the names that the document gives them.

/** 'PostgreSQL 18's time', 'the time of a folder of files'; without it 'SQLite's', 'that of ...'. */
export function possessive(name: string, what?: string): string {
  const isWord = /^\p{Lu}.*[\p{L}\p{N}]$/u.test(name);
  if (what === undefined) return isWord ? `${name}'s` : `that of ${name}`;
  return isWord ? `${name}'s ${what}` : `the ${what} of ${name}`;
}
