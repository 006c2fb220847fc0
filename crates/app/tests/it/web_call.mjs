// The scenes of a call as one thing, its budgets, and the palette.

import { violations } from "./web_axe.mjs";

export function callScenes({ open, text, asked }) {
  const all = (page, selector) => page.$$eval(selector, (found) => found.map((one) => one.textContent.trim().replace(/\s+/g, " ")));

  /** Opens the palette with the keyboard and looks for words. */
  const look = async (page, words) => {
    await page.keyboard.press("Control+k");
    await page.waitForSelector("#palette:focus");
    await page.keyboard.type(words);
    await page.waitForSelector('.palette [role=status]:has-text("place")');
  };

  return {
    // The head of a call, and what its runs may use.
    async call() {
      const page = await open(`${asked.url}&page=runs&run=${asked.run}`);
      await page.waitForSelector(".call-head");
      await page.waitForSelector(".budgets dd");
      const seen = { call: await all(page, ".call-head > span:not(.muted)"), budgets: await all(page, ".budgets > div") };
      await page.click('.call-head button:text-is("one")');
      await page.waitForSelector('.run-header h1:has-text("one")');
      seen.violations = await violations(page, asked.modules);
      return seen;
    },

    // With the keyboard only: a page, a run by words of its transcript, and nothing.
    async palette() {
      const page = await open(`${asked.url}&page=usage`);
      await page.waitForSelector('nav [aria-current="page"]:has-text("Usage")');
      await look(page, "histo");
      await page.keyboard.press("Enter");
      await page.waitForSelector(".history-row");
      // It works in a field too.
      await page.focus("#search-history");
      await look(page, asked.words);
      const places = await all(page, "#places li b");
      const hit = await text(page, "#places li .doing");
      const found = await violations(page, asked.modules);
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("ArrowUp");
      const chosen = await page.$eval("#palette", (field) => document.getElementById(field.getAttribute("aria-activedescendant")).getAttribute("aria-selected"));
      await page.keyboard.press("Enter");
      await page.waitForSelector(`.run-header h1:has-text("${places[0]}")`);
      await page.waitForSelector("dialog", { state: "hidden" });
      await page.keyboard.press("Control+k");
      await page.waitForSelector("#palette:focus");
      await page.keyboard.type("no such words anywhere");
      await page.waitForSelector('.palette [role=status]:has-text("Nothing has")');
      await page.keyboard.press("Escape");
      await page.waitForSelector("dialog", { state: "hidden" });
      return { places, hit, chosen, found };
    },
  };
}
