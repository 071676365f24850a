// What the dashboard's browser tests stand on: a filled dashboard of each engine, with somebody
// signed in.

import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect } from "vitest";
import {
  type Appearance, executablePath, expectAccessible, launch, open, type Watched,
} from "./chromium";
import { type Engine, ENGINES, Place, program, type Server, SHORT, type Size } from "./server";

export const PERSON = { name: "Ann Ångström", password: "correct horse battery" };

/** A month that the data holds all of. */
export const MAY = "start=2022-05-01&end=2022-05-31";

export class Visitor {
  readonly #browser: Browser;
  readonly server: Server;
  readonly state: Appearance["state"];

  private constructor(browser: Browser, server: Server, state: Appearance["state"]) {
    this.#browser = browser;
    this.server = server;
    this.state = state;
  }

  /** Makes the first account by the link that the server printed, on its page. */
  static async first(browser: Browser, server: Server): Promise<Visitor> {
    if (!server.setup) throw new Error("serve printed no link for the first account");
    const { page, errors } = await open(browser, server.setup);
    await page.getByRole("heading", { name: "Make the first account" }).waitFor();
    await expectAccessible(page);
    await page.getByLabel("Name").fill(PERSON.name);
    await page.getByLabel("Password, at least").fill(PERSON.password);
    await page.getByLabel("The same once more").fill("something else");
    await page.getByText("The two passwords differ.").waitFor();
    await page.getByLabel("The same once more").fill(PERSON.password);
    await page.getByRole("button", { name: "Make the account" }).click();
    await page.getByText(PERSON.name).waitFor();
    expect(new URL(page.url()).hash, "the token leaves the address").toBe("");
    expect(errors).toEqual([]);
    const state = await page.context().storageState();
    await page.close();
    return new Visitor(browser, server, state);
  }

  /** Opens a view, signed in, and waits until chart and rows are there. */
  async visit(search = "", look: Appearance = {}): Promise<Watched> {
    const watched = await open(this.#browser, this.server.root + search, {
      ...look, ...(this.state ? { state: this.state } : {}) });
    await settled(watched.page);
    return watched;
  }

  /** Asks the API with the page's own sign-in. */
  async asked<T = Answer>(page: Page, path: string): Promise<T> {
    const response = await page.request.get(this.server.root + path);
    expect(response.status(), path).toBe(200);
    return (await response.json()) as T;
  }

  /** A page of somebody whom the server does not know. */
  stranger(search = ""): Promise<Watched> {
    return open(this.#browser, this.server.root + search);
  }
}

/** Waits until nothing is on its way and the chart is drawn. */
export async function settled(page: Page): Promise<void> {
  await page.locator(".frame svg, .empty, .problem, .none").first().waitFor();
  await page.waitForFunction(() =>
    document.querySelectorAll("[aria-busy=true], .waiting").length === 0);
}

export interface Metrics {
  pageviews: number;
  sessions: number;
  engagement_seconds: number;
}
export interface Answer {
  totals: Metrics & { previous?: Metrics };
  row_count: number;
  rows: ({ key: string; label: string; country?: string; previous?: Metrics } & Metrics)[];
}

/** Tests for each engine; skipped without a browser, or without a program that serves the pages. */
export const onEachEngine = describe.skipIf(!executablePath || !program).each(ENGINES);

/** There before the first test of an engine. */
export class Stage {
  browser!: Browser;
  place!: Place;
  /** Reads a filled dashboard, signed in. */
  ann!: Visitor;
}

/** Sets the stage for the tests of an engine, and clears it after them. */
export function stageOf(engine: Engine, size: Size | null = SHORT): Stage {
  const stage = new Stage();
  beforeAll(async () => {
    stage.browser = await launch();
    stage.place = new Place();
    const server = await stage.place.serve(stage.place.database(engine, "pages", size));
    stage.ann = await Visitor.first(stage.browser, server);
  }, 300_000);
  afterAll(async () => {
    await stage.browser?.close();
    await stage.place?.leave();
  }, 60_000);
  return stage;
}

export const number = (value: number): string => value.toLocaleString("en-US");

export const wordsOf = (page: Page): URLSearchParams => new URL(page.url()).searchParams;
