// Engines as people call them, by the rules of crates/report/src/answer/names.rs: the headline says
// 'PostgreSQL 18', so charts and tables beside it must not say 'postgres:18'.

import type { Engine } from "./document";

/** The first words of a version: 'PostgreSQL 18' of 'PostgreSQL 18.1'. */
function branch(version: string, parts: number): string | null {
  const [product, release] = version.split(/\s+/);
  if (!product || !release) return null;
  return `${product} ${release.split(".").slice(0, parts).join(".")}`;
}

function product(source: string, version: string): string | null {
  if (/^sqlite(:|$)/.test(source)) return "SQLite";
  const release = /^postgres:(\d[\w.]*)$/.exec(source)?.[1];
  if (release) return `PostgreSQL ${release}`;
  if (/^postgres(ql)?(:|$)/.test(source)) return branch(version, 1) ?? "PostgreSQL";
  if (/^mariadb(:|$)/.test(source)) return branch(version, 2) ?? "MariaDB";
  if (/^mysql(:|$)/.test(source)) return branch(version, 2) ?? "MySQL";
  if (/^dir(:|$)/.test(source)) return "a folder of files";
  if (/^tree(:|$)/.test(source)) return "a tree of folders";
  return source === "sqlite+dir" ? "SQLite with files" : null;
}

function nameOf({ name, version }: Engine): string {
  const [, source = name, settings = ""] = /^(.*?)(?:\[(.*)\])?$/.exec(name) ?? [];
  const own = /(?:^|,)label=([^,]*)/.exec(settings)?.[1];
  const found = own ?? product(source, version);
  if (!found) return name;
  return own || !settings ? found : `${found} (${settings.replaceAll(",", ", ")})`;
}

/** By the engine's label; two engines of one name keep their labels. */
export function engineNames(engines: readonly Engine[]): Map<string, string> {
  const names = engines.map(nameOf);
  return new Map(engines.map(({ name }, index) => {
    const own = names[index] ?? name;
    return [name, names.filter((other) => other === own).length > 1 ? name : own];
  }));
}

/** 'PostgreSQL 18's time', 'the time of a folder of files'. */
export function possessive(name: string, what: string): string {
  return /^\p{Lu}.*[\p{L}\p{N}]$/u.test(name) ? `${name}'s ${what}` : `the ${what} of ${name}`;
}
