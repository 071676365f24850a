// Three projects: `unit` (fast, no browser), `browser` (the built report in Chromium) and
// `fixtures` (writes example reports to look at).

import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";

export default defineConfig({
  plugins: [svelte({ configFile: false })],
  test: {
    projects: [
      { extends: true,
        test: { name: "unit", include: ["tests/{lib,report,dashboard}/**/*.test.ts"],
        // Drawing every chart takes seconds on a busy machine.
        testTimeout: 60_000 } },
      { extends: true,
        test: { name: "browser", include: ["tests/browser/*.test.ts"],
        // No test needs 10 s on a machine that eight busy loops load; a Chromium that stops
        // answering gets one more try, which vitest prints.
        testTimeout: 60_000, hookTimeout: 60_000, retry: 1 } },
      { extends: true, test: { name: "fixtures", include: ["tests/fixtures/write.ts"] } },
    ],
  },
});
