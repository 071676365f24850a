// Finds a Chromium on this machine for the browser tests and the README's picture; where there is
// none, tries to install one by apt if the rights are there.

import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import process from "node:process";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];
const FOLDERS = ["/usr/bin", "/usr/local/bin", "/snap/bin", "/opt/google/chrome"];

/** What makes a headless Chromium quiet: no sandbox (root), no GPU, no calls home. */
export const CHROMIUM_FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** @param {string} file */
function executable(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The path of a Chromium: CHROMIUM if it is set, else the first on PATH or in a usual folder. */
function onThisMachine() {
  const asked = process.env.CHROMIUM;
  if (asked) {
    if (executable(asked)) return asked;
    throw new Error(`CHROMIUM=${asked} is not an executable file`);
  }
  const folders = [...(process.env.PATH ?? "").split(delimiter), ...FOLDERS];
  const candidates = folders.flatMap((folder) => NAMES.map((name) => join(folder, name)));
  return candidates.find(executable) ?? null;
}

function installByApt() {
  if (process.getuid?.() !== 0 || !executable("/usr/bin/apt-get")) return;
  console.error("No Chromium found: installing the package chromium by apt-get ...");
  const options = {
    /** @type {"ignore"} */
    stdio: "ignore",
    timeout: 300_000,
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
  };
  spawnSync("apt-get", ["update"], options);
  spawnSync("apt-get", ["install", "-y", "--no-install-recommends", "chromium"], options);
}

/**
 * The path of a Chromium, or null where none can be had.
 * @returns {string | null}
 */
export function findChromium() {
  const found = onThisMachine();
  if (found) return found;
  installByApt();
  return onThisMachine();
}
