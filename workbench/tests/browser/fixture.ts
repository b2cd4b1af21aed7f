/** What every file of browser tests stands on: one server and one browser a file, a fresh page a test. */

import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import { launch, open, serve } from "./harness";
import type { Served } from "./harness";

export let served: Served;
export let browser: Browser;
/** The page of the test that runs. */
export let page: Page;

/** One server and one browser for the tests of a file. */
export function oneBrowser(): void {
  beforeAll(async () => {
    served = await serve();
    browser = await launch();
  });
  afterAll(async () => {
    await browser.close();
    served.stop();
  });
}

/**
 * The same, and for each test a fresh page at a place, which must have complained of nothing at the end.
 *
 * @param place the address within the page
 * @param shown what is there once the place is shown
 */
export function freshPage(place: string, shown: string): void {
  oneBrowser();
  let complaints: string[];
  beforeEach(async () => {
    ({ page, complaints } = await open(browser, served.address + place));
    // Compiling takes a while in a build without optimisation.
    await page.waitForSelector(shown, { timeout: 60_000 });
  });
  afterEach(async () => {
    expect(complaints).toEqual([]);
    await page.context().close();
  });
}
