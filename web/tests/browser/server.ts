// Real dashboards for the browser tests: `crossover dashboard serve` over SQLite and over a managed
// PostgreSQL, filled with the same small dataset. CROSSOVER=/path names the program; otherwise the
// one that cargo built. Without a program the tests are skipped, which is noted.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { accessSync, chmodSync, constants, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { noteSkip } from "./skip";

export const ENGINES = ["sqlite", "postgres"] as const;
export type Engine = (typeof ENGINES)[number];

export interface Size {
  articles: number;
  rows: number;
}
export const SHORT: Size = { articles: 600, rows: 40_000 };
/** Tables as long as the reference dataset's. */
export const LONG: Size = { articles: 8_000, rows: 150_000 };
const DAYS = ["--start", "2021-01-01", "--end", "2022-06-26"];
const START_MS = 60_000;

function found(): string | null {
  const target = process.env.CARGO_TARGET_DIR
    ?? fileURLToPath(new URL("../../../target", import.meta.url));
  const candidates = process.env.CROSSOVER ? [process.env.CROSSOVER]
    : ["debug", "release"].map((profile) => join(target, profile, "crossover"));
  return candidates.find((file) => {
    try {
      accessSync(file, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  }) ?? null;
}

export const program = found();
if (!program) {
  noteSkip(
    "the dashboard's browser tests",
    "no program; cargo build --package crossover, or name it by CROSSOVER=/path",
  );
}

/** A dashboard that serves, until it is stopped. */
export interface Server {
  /** The URL of the database. */
  database: string;
  /** Ends with a slash. */
  root: string;
  /** The one-time link that makes the first account; null where there is no need of one. */
  setup: string | null;
  stop: () => Promise<void>;
}

/** A folder with a database for each engine, and the servers over them. */
export class Place {
  // The account of a managed PostgreSQL must be able to pass through.
  readonly #folder = mkdtempSync(join(tmpdir(), "crossover-pages-"));
  readonly #servers: Server[] = [];
  /** Data directories of managed servers, one for each database. */
  readonly #clusters: string[] = [];

  constructor() {
    chmodSync(this.#folder, 0o711);
  }

  /** Runs the program to its end; what it printed. */
  run(...words: string[]): string {
    return this.#runIn("data", words);
  }

  #runIn(cluster: string, words: readonly string[]): string {
    const done = spawnSync(program ?? "", words, {
      encoding: "utf8", env: this.#environment(cluster), timeout: 10 * START_MS });
    if (done.status !== 0) throw new Error(`crossover ${words.join(" ")}: ${done.stderr}`);
    return done.stdout.trim();
  }

  #environment(cluster = "data"): NodeJS.ProcessEnv {
    return { ...process.env, CROSSOVER_DATA_DIR: join(this.#folder, cluster), NO_COLOR: "1" };
  }

  /** A file of its own, for the program to read. */
  file(name: string, text: string): string {
    const path = join(this.#folder, name);
    writeFileSync(path, text);
    return path;
  }

  /** A database of that size with its totals, or an empty one; `name` keeps several apart. */
  database(engine: Engine, name: string, size: Size | null): string {
    let url = `sqlite://${join(this.#folder, `${name}.db`)}`;
    if (engine === "postgres") {
      this.#clusters.push(name);
      url = this.#runIn(name, ["server", "start", "postgres:18", "--database-name", name]);
    }
    if (size) {
      this.run("dashboard", "generate", "--database", url, ...DAYS,
        "--articles", String(size.articles), "--rows", String(size.rows));
      this.run("dashboard", "rollup", "rebuild", "--database", url);
    } else this.run("dashboard", "init", "--database", url);
    return url;
  }

  /** Serves a database until the place is left. */
  async serve(url: string, ...options: string[]): Promise<Server> {
    const words = ["dashboard", "serve", "--database", url, "--listen", "127.0.0.1:0", ...options];
    const child = spawn(program ?? "", words, {
      env: this.#environment(), stdio: ["ignore", "pipe", "pipe"] });
    const said = await ready(child);
    const root = /^(http:\/\/\S+?)\/?$/m.exec(said.out)?.[1] ?? "";
    const server = {
      database: url,
      root: `${root}/`,
      setup: /http:\/\/\S+#setup=\S+/.exec(said.err + said.out)?.[0] ?? null,
      stop: () => new Promise<void>((done) => {
        if (child.exitCode !== null) done();
        child.once("exit", () => done());
        child.kill("SIGTERM");
      }),
    };
    this.#servers.push(server);
    return server;
  }

  async leave(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.stop()));
    for (const cluster of this.#clusters) this.#runIn(cluster, ["server", "stop", "--all"]);
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Waits for the address on standard output, the program's promise that it answers. */
function ready(child: ChildProcess): Promise<{ out: string; err: string }> {
  return new Promise((done, failed) => {
    const said = { out: "", err: "" };
    const late = setTimeout(() => {
      child.kill();
      failed(new Error(`crossover dashboard serve is not ready: ${said.err}`));
    }, START_MS);
    child.stderr?.on("data", (bytes: Buffer) => (said.err += bytes.toString()));
    child.once("exit", () => {
      clearTimeout(late);
      failed(new Error(`crossover dashboard serve ended: ${said.err}`));
    });
    child.stdout?.on("data", (bytes: Buffer) => {
      said.out += bytes.toString();
      if (!said.out.includes("\n")) return;
      clearTimeout(late);
      // What was written before it on standard error may come a moment later.
      setImmediate(() => done(said));
    });
  });
}
