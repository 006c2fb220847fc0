// The scenes of the review: what a person does with the queue, with the keyboard only where it says so.

import { violations } from "./web_axe.mjs";

export function reviewScenes({ open, text, asked }) {
  const all = (page, selector) => page.$$eval(selector, (found) => found.map((one) => one.textContent.trim().replace(/\s+/g, " ")));
  const selected = (page, name) => page.waitForSelector(`.queue .run[aria-selected=true] bdi:text-is("${name}")`);

  return {
    // The queue is the first view. With the keyboard only: a comment on a line and a note go back.
    async reviewed() {
      const page = await open(asked.url);
      await page.waitForSelector(".queue .run");
      const rows = await all(page, ".queue .run .who");
      const title = await page.title();
      const icon = await page.getAttribute("link[rel=icon]", "href");
      while ((await text(page, ".queue .run[aria-selected=true] b")) !== "api") await page.keyboard.press("j");
      await page.keyboard.press("Enter");
      await page.waitForSelector(".lines .line.is-add");
      const address = new URLSearchParams(new URL(page.url()).hash.slice(1));
      await page.keyboard.press("n");
      await page.waitForSelector(".line.at");
      await page.keyboard.press("n");
      await page.waitForSelector(".line.is-add.at");
      await page.keyboard.press("c");
      await page.waitForSelector("#comment:focus");
      await page.keyboard.type("Use the cached one.");
      await page.keyboard.press("Control+Enter");
      await page.waitForSelector('.remark-box:has-text("Use the cached one.")');
      await page.keyboard.press("b");
      await page.waitForSelector("#note:focus");
      await page.keyboard.type("Split it, please.");
      const seen = { rows, title, icon, page: address.get("page"), result: address.has("result") };
      seen.unseen = await all(page, ".seen .warn + dd p");
      seen.folded = await all(page, '.file-card[data-open="false"] .title');
      seen.send = await text(page, ".composer .primary");
      await page.keyboard.press("Control+Enter");
      seen.notice = (await text(page, ".notice span")).replace(/^.*continues/, "… continues");
      return seen;
    },

    // All that stay green are accepted after the gate was shown and confirmed, and taken back.
    async accepted() {
      const page = await open(`${asked.url}&page=review`);
      await page.waitForSelector(".together button");
      await page.keyboard.press("A");
      const question = await text(page, "[role=alertdialog] .space");
      const gates = await all(page, "[role=alertdialog] .gate");
      await page.waitForSelector('[role=alertdialog] button:text-is("Not now"):focus');
      await page.keyboard.press("Escape");
      await page.waitForSelector("[role=alertdialog]", { state: "detached" });
      await page.keyboard.press("A");
      await page.waitForSelector('[role=alertdialog] button:text-is("Not now"):focus');
      await page.keyboard.press("Shift+Tab");
      await page.keyboard.press("Enter");
      await page.waitForSelector("#accepted-close");
      const fates = await all(page, ".fates > li > b:first-child, .fates > li > b + b");
      const heading = await text(page, ".run-header h1");
      const left = await all(page, ".queue .run b");
      await page.keyboard.press("u");
      await page.waitForSelector('[role=alertdialog] button:text-is("Not now"):focus');
      await page.keyboard.press("Shift+Tab");
      await page.keyboard.press("Enter");
      await page.waitForSelector('.notice span:has-text("taken back")');
      const notice = await text(page, ".notice span");
      return { question, gates, fates, heading, left, notice };
    },

    // With the keyboard only: a hunk and a file are left out, and the rest is accepted. A box does the same.
    async parts() {
      const page = await open(`${asked.url}&page=review`);
      while ((await text(page, ".queue .run[aria-selected=true] b")) !== "wide") await page.keyboard.press("j");
      await page.keyboard.press("Enter");
      await page.waitForSelector(".line.is-hunk .take");
      const boxes = await page.$$eval(".take", (found) => found.map((one) => one.getAttribute("aria-label")));
      await page.keyboard.press("n");
      await page.waitForSelector(".line.at");
      await page.keyboard.press(" ");
      await page.waitForSelector('.card-head .tag:text-is("1 of 2 hunks")');
      await page.keyboard.press("]");
      await page.keyboard.press("f");
      await page.waitForSelector('.card-head .tag:text-is("left out")');
      const button = await text(page, ".decide .primary span");
      await page.click('.take[aria-label="Take new.txt"]');
      await page.waitForSelector('.card-head .tag:text-is("left out")', { state: "detached" });
      await page.keyboard.press(" ");
      await page.waitForSelector('.card-head .tag:text-is("left out")');
      await page.keyboard.press("a");
      const question = await text(page, "[role=alertdialog] .space");
      await page.waitForSelector('[role=alertdialog] button:text-is("Not now"):focus');
      await page.keyboard.press("Shift+Tab");
      await page.keyboard.press("Enter");
      await page.waitForSelector("#accepted-close");
      const notes = await all(page, ".fates + .muted");
      await page.keyboard.press("Enter");
      await page.click('.queue .run bdi:text-is("wide")');
      await page.waitForSelector(".line.is-hunk .take");
      const left = await page.$$eval(".take", (found) => found.map((one) => [one.getAttribute("aria-label"), one.checked].join(" ")));
      return { boxes, button, question: question.split("?")[0], notes, left };
    },

    // A result is done again on top of another one that is chosen.
    async redone() {
      const page = await open(`${asked.url}&page=review`);
      await page.click('.queue .run bdi:text-is("docs")');
      await page.waitForSelector("#redo-on");
      await page.keyboard.press("o");
      await page.waitForSelector("#redo-on:focus");
      await page.selectOption("#redo-on", { label: "api" });
      await page.click(".redo button");
      return { notice: (await text(page, ".notice span")).replace(/^.*continues/, "… continues") };
    },

    // Two results that conflict stand beside each other, and Back leads out of it.
    async beside() {
      const page = await open(`${asked.url}&page=review`);
      await page.click('.queue .run bdi:text-is("ui")');
      await page.click('button:text-is("Side by side")');
      await page.waitForSelector(".beside-one:nth-child(1) .line.is-add");
      await page.waitForSelector(".beside-one:nth-child(2) .line.is-add");
      const sides = await all(page, ".beside-one h2 bdi");
      const lines = await all(page, ".beside-one .line.is-add code");
      await page.goBack();
      await page.waitForSelector(".beside", { state: "detached" });
      await selected(page, "ui");
      await page.goForward();
      await page.waitForSelector(".beside");
      // Somebody else opens the same address.
      const second = await open(page.url());
      await second.waitForSelector(".beside-one:nth-child(2) .line.is-add");
      return { sides, lines };
    },

    // What is asked is answered on the page.
    async answered() {
      const page = await open(`${asked.url}&page=review`);
      await page.waitForSelector(".question");
      const seen = { question: await text(page, ".question h2"), options: await all(page, ".options button") };
      if (asked.words) {
        await page.fill("#reply", asked.words);
        await page.keyboard.press("Enter");
      } else {
        await page.click(`.options button:has-text("${asked.option}")`);
      }
      seen.notice = await text(page, ".notice span");
      await page.waitForSelector(`.question h2:text-is("${seen.question}")`, { state: "detached" });
      return seen;
    },

    // Every size, dark and light, without colours, and twice as large: axe-core finds nothing, and
    // nothing is wider than the window.
    async accessible() {
      const found = [];
      const sizes = [[1440, 900], [1024, 768], [390, 844], [720, 450]];
      const looks = sizes.flatMap(([width, height]) => ["light", "dark"].map((colorScheme) => ({ viewport: { width, height }, colorScheme })));
      looks.push({ viewport: { width: 1440, height: 900 }, forcedColors: "active" });
      for (const look of looks) {
        const page = await open(`${asked.url}&page=review`, look);
        await page.waitForSelector(".queue .run");
        const names = JSON.stringify(look);
        found.push(...(await violations(page, asked.modules)).map((one) => `${names} queue ${one}`));
        await page.click('.queue .run bdi:text-is("ui")');
        await page.waitForSelector(".lines .line.is-add");
        found.push(...(await violations(page, asked.modules)).map((one) => `${names} result ${one}`));
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        if (wide > 0) found.push(`${names}: ${wide} px too wide`);
        if (asked.pictures) await page.screenshot({ path: `${asked.pictures}-${look.viewport.width}-${look.colorScheme ?? "forced"}.png` });
        await page.context().close();
      }
      return { found };
    },
  };
}
