// Two builds of one front end: `--mode report` makes dist/report.html, a single file;
// `--mode dashboard` makes dist/dashboard/ with hashed assets. crates report and dashboard embed them.

import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig, type UserConfig } from "vite";
import { inlinePage } from "./build/inline-page.ts";

/** Browsers that know `light-dark()`; an older target would rewrite it into variables. */
const BROWSERS = ["chrome123", "firefox120", "safari17.5"];

const report: UserConfig = {
  root: "src/report",
  plugins: [svelte({ configFile: false }), inlinePage("report.html")],
  build: {
    outDir: "../../dist",
    target: BROWSERS,
    // The folder also holds dist/dashboard: only the report's own file is replaced.
    emptyOutDir: false,
    assetsInlineLimit: Number.MAX_SAFE_INTEGER,
    cssCodeSplit: false,
    modulePreload: false,
    chunkSizeWarningLimit: 1000,
    rolldownOptions: { input: "src/report/report.html" },
  },
};

const dashboard: UserConfig = {
  root: "src/dashboard",
  // Relative, so that the page also works behind a prefix of a reverse proxy.
  base: "./",
  plugins: [svelte({ configFile: false })],
  // The chart library is a chunk of its own of that size (tests/browser/dashboard-size.test.ts).
  build: { outDir: "../../dist/dashboard", emptyOutDir: true, target: BROWSERS,
    chunkSizeWarningLimit: 600 },
  server: { proxy: { "/api": "http://127.0.0.1:8080" } },
};

export default defineConfig(({ mode }) => (mode === "dashboard" ? dashboard : report));
