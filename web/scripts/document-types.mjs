// The report document's TypeScript types, from the schema that the program's own types write.
// `node scripts/document-types.mjs` writes them; `--check` says whether they are current.

import { readFile, writeFile } from "node:fs/promises";
import { compile } from "json-schema-to-typescript";

const SCHEMA = new URL("../../docs/schemas/report.schema.json", import.meta.url);
const TYPES = new URL("../src/report/document/generated.ts", import.meta.url);

/**
 * References without what stands beside them, which would give the type another name at every
 * place; tuples as the generator knows them.
 * @param {any} schema
 * @returns {any}
 */
function simplified(schema) {
  if (Array.isArray(schema)) return schema.map(simplified);
  if (typeof schema !== "object" || schema === null) return schema;
  if ("$ref" in schema) return { $ref: schema.$ref };
  const { prefixItems: items, ...rest } = schema;
  const all = items ? { ...rest, items } : rest;
  return Object.fromEntries(Object.entries(all).map(([key, value]) => [key, simplified(value)]));
}

const types = await compile(simplified(JSON.parse(await readFile(SCHEMA, "utf8"))), "Report", {
  additionalProperties: false,
  bannerComment: "// Written by `npm run types` from docs/schemas/report.schema.json: edit the program's types.",
  unreachableDefinitions: false,
});
if (!process.argv.includes("--check")) {
  await writeFile(TYPES, types);
} else if ((await readFile(TYPES, "utf8").catch(() => "")) !== types) {
  console.error("src/report/document/generated.ts is out of date; write it by npm run types");
  process.exit(1);
}
