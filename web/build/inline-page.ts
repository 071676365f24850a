// Puts the built script and style into the page itself, so that the report is one file that works
// from a file:// address, and forbids it by a content security policy to load anything else.

import { createHash } from "node:crypto";
import type { Plugin, Rollup } from "vite";

/** What would end an inline script early, or hide its rest, when read as HTML. */
function inScript(code: string): string {
  return code.replace(/<\/(script)/gi, "<\\/$1").replace(/<!--/g, "\\x3c!--");
}

function policy(script: string): string {
  const hash = createHash("sha256").update(script).digest("base64");
  // Charts set styles on elements, hence 'unsafe-inline' for styles; pictures are the icon and
  // what a PNG download draws.
  const rules = [
    "default-src 'none'",
    `script-src 'sha256-${hash}'`,
    "style-src 'unsafe-inline'",
    "img-src data: blob:",
    "base-uri 'none'",
    "form-action 'none'",
  ];
  return `<meta http-equiv="Content-Security-Policy" content="${rules.join("; ")}">`;
}

function chunkOf(bundle: Rollup.OutputBundle): Rollup.OutputChunk {
  const chunks = Object.values(bundle).filter((file) => file.type === "chunk");
  const [chunk] = chunks;
  if (!chunk || chunks.length > 1) {
    throw new Error(`${chunks.length} scripts were built, the page can hold one`);
  }
  return chunk;
}

/** Replaces `page`'s references to the built script and styles by their text. */
export function inlinePage(page: string): Plugin {
  return {
    name: "inline-page",
    apply: "build",
    enforce: "post",
    generateBundle(_, bundle) {
      const html = bundle[page];
      if (html?.type !== "asset") throw new Error(`${page} was not built`);
      const chunk = chunkOf(bundle);
      const code = inScript(chunk.code.trim());
      const styles = Object.values(bundle)
        .filter((file) => file.type === "asset" && file.fileName.endsWith(".css"));
      const css = styles.map((file) => (file.type === "asset" ? String(file.source) : "")).join("");
      const text = String(html.source)
        .replace(/<link rel="stylesheet"[^>]*>/g, "")
        .replace(/<script type="module"[^>]*><\/script>/, "")
        // Replacements are functions: a `$&` in the code would be read as a pattern.
        .replace("<title>", () => `${policy(code)}\n    <title>`)
        .replace("</head>", () =>
          `<style>${css}</style>\n<script type="module">${code}</script>\n</head>`);
      html.source = text;
      for (const file of [chunk, ...styles]) delete bundle[file.fileName];
    },
  };
}
