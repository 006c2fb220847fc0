// Drives the web page in a real Chromium. The first argument is a JSON object: where playwright is,
// the browser, the scene to play, and what the scene needs. Prints what was seen as one JSON object.

import { createRequire } from "node:module";
import { createServer } from "node:http";
import { readFileSync } from "node:fs";
import { callScenes } from "./web_call.mjs";
import { reviewScenes } from "./web_review.mjs";

const asked = JSON.parse(process.argv[2]);
const { chromium } = createRequire(asked.modules)("playwright-core");
const browser = await chromium.launch({
  executablePath: asked.chromium,
  // A sandbox inside a container of root does not start.
  args: process.getuid() === 0 ? ["--no-sandbox"] : [],
});

/** The longest wait for anything on a page, in milliseconds, on a machine that is busy. */
const PATIENCE = 60000;

/** Everything that went wrong on any page. */
const faults = [];
/** Addresses that are not ours. */
const strangers = [];

async function open(url, options = {}) {
  const { token: _, ...further } = options;
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...further });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("console", (message) => {
    const text = message.text();
    // A server that is away on purpose is no fault of the page.
    if (message.type() === "error" && !text.includes("ERR_CONNECTION") && !text.includes("ERR_INCOMPLETE")) faults.push(text);
  });
  const own = new URL(url).origin;
  // A code is good for one tab, and scenes have several: the others begin with the token.
  const isCoded = url.includes("#code=");
  if (!isCoded && asked.token && own.startsWith("http")) {
    await context.addInitScript(([origin, token]) => {
      if (location.origin === origin) sessionStorage.setItem("pi-subagents-token", token);
    }, [own, options.token ?? asked.token]);
  }
  page.streams = 0;
  page.on("request", (request) => {
    const address = request.url();
    if (new URL(address).pathname === "/v1/stream") page.streams += 1;
    const isOwn = address.startsWith(own) || address.startsWith("data:") || address.startsWith("blob:");
    if (!isOwn && !address.startsWith("file:")) strangers.push(address);
  });
  await page.goto(url);
  return page;
}

const names = (page) => page.$$eval(".run b", (found) => found.map((one) => one.textContent));
/** Waits until an element is there: what a click opens may be fetched first. */
const text = async (page, selector) => {
  const element = await page.waitForSelector(selector, { state: "attached" });
  return element.evaluate((found) => found.textContent.trim().replace(/\s+/g, " "));
};

const scenes = {
  // A fleet at work: it is listed, followed, steered and stopped.
  async fleet() {
    const page = await open(asked.url);
    await page.click('.run:has-text("long")');
    await page.waitForSelector('.call.running:has-text("sleep 600")');
    // Another run is read with the same stream, and so is this one again.
    await page.click('.run:has-text("short")');
    await page.waitForSelector(".is-ended");
    await page.click('.run:has-text("long")');
    await page.waitForSelector('.call.running:has-text("sleep 600")');
    const hidden = await page.evaluate(() => [/[#&](t|code)=/.test(location.hash), document.cookie]);
    await page.waitForSelector('.for-readers th:text-is("short")', { state: "attached" });
    const lanes = await page.$$eval(".for-readers tbody th", (cells) => cells.map((cell) => cell.textContent));
    await page.fill("#message", "Hurry up");
    await page.press("#message", "Enter");
    await page.waitForSelector('.notice:has-text("reads it before its next turn")');
    await page.waitForSelector('.steer-text:has-text("Hurry up")');
    const second = await open(asked.url);
    await second.waitForSelector('.run:has-text("long")');
    await page.click('button:has-text("Stop…")');
    await page.waitForSelector('[role=alertdialog] button:text-is("Let it run"):focus');
    await page.click("#stop-yes");
    await page.waitForSelector('.notice:has-text("was stopped")');
    await page.waitForSelector('.run.stopped:has-text("long")');
    await second.waitForSelector('.run.stopped:has-text("long")');
    return { hidden, streams: page.streams, lanes: lanes.sort(), composer: await page.getAttribute("#message", "placeholder") };
  },

  // What is read is a transcript, an answer, changes and a task.
  async reading() {
    const page = await open(`${asked.url}&run=${asked.run}`);
    await page.waitForSelector(".is-ended");
    const kinds = await page.$$eval(".entry", (found) => found.map((one) => one.className.replace("entry is-", "")));
    await page.click('.call:has-text("edit") .fold');
    await page.waitForSelector(".diff .add");
    const diff = await page.$$eval(".diff .add, .diff .del", (lines) => lines.map((line) => line.textContent.trim()));
    await page.keyboard.press("o");
    const answer = await text(page, ".page .said");
    await page.click('[role=tab]:has-text("Task")');
    await page.waitForSelector('[role=tab][aria-selected=true]:has-text("Task")');
    await page.waitForSelector('.page .said:has-text("Edit")');
    const task = await text(page, ".page .said");
    await page.click('[role=tab]:has-text("Raw")');
    await page.waitForSelector(".raw pre");
    // The tab under the pointer is still seen to be the one that is shown.
    const underline = await page.$eval('[role=tab][aria-selected=true]', (tab) => getComputedStyle(tab).borderBottomColor !== "rgba(0, 0, 0, 0)");
    const more = (await page.$$(".raw button")).length;
    const roles = await page.evaluate(() => ["listbox", "option", "tablist", "tab", "tabpanel"].filter((role) => !document.querySelector(`[role=${role}]`)));
    const nameless = await page.$$eval("button, input, select, textarea, canvas", (found) => found.filter((one) => one.getAttribute("aria-hidden") !== "true" && !(one.textContent.trim() || one.getAttribute("aria-label"))).length);
    return { kinds, diff, answer, task, underline, more, roles, nameless };
  },

  // Names, tasks, answers and results that would be scripts in a careless page.
  async hostile() {
    const page = await open(`${asked.url}&run=${asked.run}`);
    await page.waitForSelector(".is-ended");
    await page.keyboard.press("e");
    await page.waitForSelector(".call .output");
    for (const tab of ["Answer", "Task", "Raw", "Transcript"]) await page.click(`[role=tab]:has-text("${tab}")`);
    for (const name of ["History", "Usage", "Agents", "Runs"]) await page.click(`nav button:has-text("${name}")`);
    await page.waitForSelector(".run");
    const seen = await page.evaluate(() => ({
      pwned: /** @type {any} */ (window).pwned ?? null,
      scripts: document.querySelectorAll("body script, img, iframe, object, form[action]").length,
      links: [...document.querySelectorAll(".said a")].map((link) => link.getAttribute("href")),
      copies: [...document.querySelectorAll(".said .code-block button")].map((button) => button.textContent),
      // A name that turns its letters round would turn round the words beside it.
      turned: [document.body.innerText, ...[...document.querySelectorAll("[placeholder]")].map((field) => field.getAttribute("placeholder"))].filter((words) => words.includes("\u202e")).length,
    }));
    const refused = await page.evaluate(() => {
      try {
        document.createElement("div").innerHTML = "<b>x</b>";
        return false;
      } catch {
        return true;
      }
    });
    faults.splice(0, faults.length, ...faults.filter((fault) => !fault.includes("TrustedHTML")));
    return { ...seen, refused, names: await names(page) };
  },

  // A very long run: few elements, both ends can be reached, and what is read stays where it is.
  async long() {
    const page = await open(asked.url);
    // What can wait comes when somebody has scrolled already.
    let release = () => {};
    const held = new Promise((done) => (release = done));
    const background = /\/(?:events\?from=|spans\?)/;
    await page.route(background, (route) => held.then(() => route.continue()));
    const waiting = new Set();
    let atOnce = 0;
    page.on("request", (request) => {
      if (background.test(request.url())) waiting.add(request);
      atOnce = Math.max(atOnce, waiting.size);
    });
    for (const end of ["requestfinished", "requestfailed"]) page.on(end, (request) => waiting.delete(request));
    await page.reload();
    await page.waitForSelector(`#run-${asked.run}`);
    await page.waitForSelector(".is-ended");
    const readSoFar = () => Number(readFileSync(`/proc/${asked.pid}/io`, "utf8").match(/rchar: (\d+)/)[1]);
    const readBefore = readSoFar();
    const opened = await page.evaluate(async (run) => {
      const row = document.getElementById(`run-${run}`);
      const begun = performance.now();
      row.click();
      // Another run is open before; the end of this one is there when its last call is.
      const isThere = () => [...document.querySelectorAll(".call .title")].some((title) => title.textContent.includes("make part-24999"));
      while (!isThere()) await new Promise(requestAnimationFrame);
      return performance.now() - begun;
    }, asked.run);
    const firstRow = () => page.evaluate(() => {
      const list = document.querySelector(".pane .virtual");
      const top = list.getBoundingClientRect().top;
      return [...list.querySelectorAll(".entry")].find((row) => row.getBoundingClientRect().bottom > top + 1)?.textContent.trim();
    });
    await page.$eval(".pane .virtual", (list) => (list.scrollTop -= 3000));
    await page.waitForSelector('.tabs [aria-pressed="false"]');
    const before = await firstRow();
    release();
    await page.waitForSelector(".earlier", { state: "detached" });
    const stays = before !== undefined && before === (await firstRow());
    // Its lane comes with the last of the transcript.
    await page.waitForFunction(() => [...document.querySelectorAll(".for-readers tbody tr")].some((row) => row.textContent.includes("long") && !row.textContent.includes("not read yet")));
    const read = readSoFar() - readBefore;
    const elements = await page.$$eval(".pane *", (found) => found.length);
    const worst = await page.evaluate(async () => {
      const list = document.querySelector(".pane .virtual");
      let [last, worst] = [performance.now(), 0];
      for (let step = 0; step < 60; step++) {
        list.scrollTop -= 3000;
        await new Promise(requestAnimationFrame);
        worst = Math.max(worst, performance.now() - last);
        last = performance.now();
      }
      return worst;
    });
    const isFollowed = (await text(page, '.tabs [aria-pressed]')).startsWith("☑");
    await page.click(".pane .virtual");
    await page.keyboard.press("g");
    await page.waitForSelector(".is-task");
    await page.keyboard.press("G");
    await page.waitForSelector(".is-ended");
    return { opened, worst, elements, isFollowed, stays, atOnce, read };
  },

  // The server goes away and comes back; a tab that is not seen keeps no connection.
  async restart() {
    const page = await open(asked.url);
    await page.waitForSelector(".state.live");
    await page.waitForSelector(".list .run");
    await page.evaluate(() => {
      const count = () => document.querySelectorAll(".list .run").length;
      window.fewest = count();
      const look = () => (window.fewest = Math.min(window.fewest, count()));
      new MutationObserver(look).observe(document.querySelector(".list"), { childList: true, subtree: true });
    });
    const history = await open(asked.url);
    await history.waitForSelector(".list .run");
    await history.keyboard.press("2");
    await history.waitForSelector('.history-row:has-text("before")');
    const usage = await open(asked.url);
    await usage.waitForSelector(".list .run");
    console.log("ready");
    await page.waitForSelector(".state.lost");
    // What is opened while the server is away is read when it is back.
    await usage.click('nav button:has-text("Usage")');
    await usage.waitForSelector('.empty:has-text("Adding up")');
    // Nobody knows what the runs do meanwhile, so their clocks stand still.
    const silent = [await page.evaluate(() => document.body.classList.contains("silent"))];
    console.log("lost");
    await page.waitForSelector(".state.live");
    await page.waitForSelector(`.run:has-text("${asked.later}")`);
    // History learns by itself what has happened between the two servers.
    await history.waitForSelector(`.history-row:has-text("${asked.later}")`);
    await usage.waitForSelector(".tiles");
    let requests = 0;
    page.on("request", () => (requests += 1));
    await page.waitForTimeout(1500);
    // The rows that were shown stay until the new server has told everything.
    const fewest = await page.evaluate(() => window.fewest);
    silent.push(await page.evaluate(() => document.body.classList.contains("silent")));
    return { names: await names(page), idle: requests, fewest, silent };
  },

  // A page on another port of this machine, such as a dev server that a sub-agent has started.
  async stranger() {
    const other = createServer((_, answer) => answer.setHeader("content-type", "text/html").end("<p>dev server</p>"));
    await new Promise((done) => other.listen(0, "127.0.0.1", done));
    const own = await open(asked.url);
    await own.waitForSelector(".state.live");
    const page = await own.context().newPage();
    await page.goto(`http://127.0.0.1:${other.address().port}/`);
    const origin = new URL(asked.url).origin;
    const seen = await page.evaluate(async ([origin, routes]) => {
      const tried = [];
      for (const [method, path] of routes) {
        for (const mode of ["cors", "no-cors"]) {
          try {
            const answer = await fetch(origin + path, { method, mode, credentials: "include" });
            tried.push(answer.type === "opaque" ? "opaque" : answer.status);
          } catch {
            tried.push("refused");
          }
        }
      }
      return { tried: [...new Set(tried)], stored: Object.keys(sessionStorage), cookie: document.cookie };
    }, [origin, asked.routes]);
    other.close();
    faults.length = 0;
    strangers.length = 0;
    return seen;
  },

  // Small and large, dark and light: the same content in another place.
  async sizes() {
    const seen = {};
    for (const [name, options] of Object.entries({
      phone: { viewport: { width: 390, height: 760 }, colorScheme: "dark" },
      tablet: { viewport: { width: 900, height: 700 }, colorScheme: "light" },
      dark: { colorScheme: "dark" },
      light: { colorScheme: "light" },
    })) {
      const page = await open(asked.url, options);
      await page.waitForSelector(".run");
      const isSeen = (selector) => page.$eval(selector, (element) => element.getBoundingClientRect().width > 0);
      // A reader of the screen jumps to the main part, of which every page has one.
      const mains = () => page.$$eval("main, [role=main]", (found) => found.filter((one) => one.getBoundingClientRect().width > 0).length);
      const before = [await isSeen(".list"), await isSeen(".centre"), await isSeen(".side")];
      const main = [await mains()];
      await page.click(".run");
      await page.waitForSelector(".is-ended", { state: "attached" });
      const after = [await isSeen(".list"), await isSeen(".centre")];
      main.push(await mains());
      const isWide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
      const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      const painted = await page.evaluate(() => {
        const canvas = document.querySelector("canvas");
        const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
        const colours = new Set();
        for (let i = 0; i < pixels.length; i += 4) if (pixels[i + 3] > 200) colours.add(`${pixels[i]},${pixels[i + 1]},${pixels[i + 2]}`);
        return colours.size > 4;
      });
      seen[name] = { before, after, main, isWide, isDark: ground === "rgb(14, 17, 22)", painted };
      if (name === "tablet") {
        // Where there is no room beside the run, a button leads to its figures.
        await page.click(".tabs .figures-button");
        await page.waitForSelector(".side", { state: "visible" });
      }
      await page.context().close();
    }
    // In high contrast a border or a system colour says what a colour said.
    const page = await open(asked.url, { forcedColors: "active" });
    await page.click(".run");
    await page.waitForSelector(".tabs [role=tab][aria-selected=true]");
    const border = (selector) => page.$eval(selector, (element) => getComputedStyle(element).borderBottomColor);
    const tabs = [await border(".tabs [aria-selected=true]"), await border(".tabs [aria-selected=false]")];
    const outline = await page.$eval(".run[aria-selected=true]", (element) => getComputedStyle(element).outlineStyle);
    seen.contrast = { tab: tabs[0] !== tabs[1], run: outline };
    return seen;
  },

  // What a run has left in its worktree: seen, checked, merged; another one is discarded.
  async results() {
    const page = await open(`${asked.url}&run=${asked.api}`);
    await page.click('[role=tab]:has-text("Changes")');
    await page.waitForSelector(".diff .add");
    const files = await page.$$eval(".page .call > .fold", (found) => found.map((one) => one.textContent.trim().replace(/\s+/g, " ")));
    const diff = await page.$$eval(".diff .add, .diff .del", (lines) => lines.map((line) => line.textContent.trim()));
    const contents = await page.$$eval(".contents button", (found) => found.map((one) => one.textContent.trim().replace(/\s+/g, " ")));
    const waiting = [await text(page, ".pill.waiting")];
    const fits = [];
    await page.click('button:has-text("Does it fit?")');
    fits.push(await text(page, ".result [role=status]"));
    await page.click("#merge");
    await page.waitForSelector('.notice:has-text("api: merged, 2 files")');
    await page.waitForSelector(".result", { state: "detached" });
    await page.waitForSelector('.page:has-text(", merged")');
    // The server counts what waits; its number comes after the news of the run.
    await page.waitForSelector('.pill.waiting:has-text("To merge 1")');
    waiting.push(await text(page, ".pill.waiting"));
    await page.click(`#run-${asked.ui}`);
    await page.click('button:has-text("Does it fit?")');
    fits.push(await text(page, ".result [role=status]"));
    const isBarred = await page.$eval("#merge", (button) => button.disabled);
    await page.click('button:has-text("Discard…")');
    await page.click('button:has-text("Keep it")');
    const kept = (await page.waitForSelector(".result")) !== null;
    await page.click('button:has-text("Discard…")');
    await page.click("#discard-yes");
    await page.waitForSelector('.notice:has-text("ui: discarded; git branch")');
    await page.waitForSelector(".pill.waiting", { state: "detached" });
    return { files, diff, contents, waiting, fits, isBarred, kept };
  },

  // Behind many newer runs: results that wait, failures and words are found; the address leads back.
  async lists() {
    // Results wait, so the first view would be that of what waits.
    const page = await open(`${asked.url}&page=runs`);
    await page.waitForSelector('.pill:has-text("To merge 4")');
    const listed = async () => [...new Set(await names(page))].sort();
    const pills = await page.$$eval(".pill", (found) => found.map((one) => one.textContent.trim().replace(/\s+/g, " ")));
    const title = await page.title();
    await page.click('.pill:has-text("To merge")');
    await page.waitForSelector('.run:has-text("filler")', { state: "detached" });
    const waiting = await listed();
    await page.click('.pill:has-text("Failed")');
    await page.waitForSelector('.run:has-text("docs")', { state: "detached" });
    const failed = await listed();
    await page.click('.pill:has-text("All")');
    await page.fill("#search", "lamp40");
    await page.waitForSelector('.finding:has-text("of all that there are")');
    const found = await listed();
    const finding = await text(page, ".finding span");
    await page.fill("#search", "");
    await page.waitForSelector('.run:has-text("filler")');
    // An old run brings its call along, and no filter takes lanes away.
    await page.goto(`${asked.url}&run=${asked.ids.api}`);
    const lanesNow = async () => (await page.$$eval(".for-readers tbody th", (cells) => cells.map((cell) => cell.textContent))).filter((name) => name in asked.ids && name !== "gated").sort();
    await page.waitForSelector('.for-readers th:text-is("ui")', { state: "attached" });
    await page.waitForSelector('.file-row.bad:has-text("a.txt")');
    const conflict = await page.$eval(".file-row.bad", (row) => [...row.children].map((part) => part.textContent));
    const lanes = [await lanesNow()];
    const range = await page.$eval(".timeline-head select", (select) => select.selectedOptions[0].textContent);
    const proven = await page.$eval("#merge", (button) => [button.textContent, button.classList.contains("primary")]);
    await page.click('.pill:has-text("Failed")');
    await page.waitForSelector('.pill.failed[aria-pressed="true"]');
    lanes.push(await lanesNow());
    await page.click('[role=tab]:has-text("Changes")');
    await page.waitForSelector("#tab-changes[aria-selected=true]");
    await page.waitForSelector(".diff .add");
    // After a reload no list has the row: the filter leaves it out.
    await page.reload();
    await page.waitForSelector("#tab-changes[aria-selected=true]");
    await page.waitForSelector(".diff .add");
    const reloaded = [await text(page, ".run-header h1"), (await text(page, "[role=tab][aria-selected=true]")).split(" ")[0], await text(page, '.pill[aria-pressed="true"]')];
    // History filters and searches; then step by step back.
    await page.click('nav button:has-text("History")');
    await page.waitForSelector(".history-row:not(.head)");
    const counted = () => text(page, ".history .page-head .muted");
    const history = [(await counted()).split(" · ")[0]];
    await page.click('.history .pill:has-text("Failed")');
    await page.waitForSelector('.history .page-head .muted:text-is("1 run")');
    history.push(await counted());
    await page.click('.history .pill:has-text("All")');
    await page.fill("#search-history", "lamp40");
    await page.waitForSelector('.history .page-head .muted:text-is("1 run")');
    history.push(await counted());
    await page.click(".history-row .cover");
    await page.waitForSelector("body.on-runs .run-header");
    const back = [];
    const where = () => page.evaluate(() => document.body.className.match(/on-(\w+)/)[1]);
    await page.goBack();
    await page.waitForSelector("body.on-history");
    back.push(await where());
    for (let step = 0; step < 6 && (await where()) !== "runs"; step++) {
      await page.goBack();
      await page.waitForTimeout(100);
    }
    back.push(await where());
    back.push((await text(page, "[role=tab][aria-selected=true]")).split(" ")[0].toLowerCase());
    await page.goBack();
    await page.waitForSelector("#tab-transcript[aria-selected=true]");
    back.push("transcript");
    await page.goto(`${asked.url}&run=${asked.ids.gated}`);
    await page.waitForSelector(".result .warn");
    const gated = [...(await page.$eval("#merge", (button) => [button.textContent, button.classList.contains("primary")])), await text(page, ".result .warn")];
    return { pills, waiting, failures: failed, found, finding, conflict, lanes, range, gated, proven, history, back, reloaded, title };
  },

  // A page for looking shows what a run has left, and has no button for it.
  async looking() {
    const page = await open(`${asked.url}&run=${asked.run}`);
    await page.click('[role=tab]:has-text("Changes")');
    await page.waitForSelector(".diff .add");
    const acts = await page.$$("#message, #merge, .danger, .primary");
    return { files: (await page.$$(".page .call")).length, acts: acts.length };
  },

  // The token is in the storage of this tab, and in nothing that others see or that is kept.
  async secret() {
    // A profile on disk, because a browser writes its history there.
    const context = await chromium.launchPersistentContext(asked.profile, { executablePath: asked.chromium, args: process.getuid() === 0 ? ["--no-sandbox"] : [] });
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE);
    await page.goto(`${asked.url}&run=${asked.run}`);
    await page.waitForSelector(".is-ended");
    const address = page.url().includes(asked.secret) || page.url().includes("code=");
    await page.goto("about:blank");
    await page.goBack();
    await page.waitForSelector(".state.live");
    const seen = await page.evaluate(() => [location.href, document.cookie, document.referrer, Object.values(sessionStorage), Object.values(localStorage)]);
    // The tab keeps its access over a reload, and the address lets nobody else in.
    await page.reload();
    await page.waitForSelector(".state.live");
    const other = await context.newPage();
    await other.goto(`${asked.url}&run=${asked.run}`);
    // Its first frame is drawn before the server has refused the code.
    await other.waitForSelector(".state.live, h1:has-text('is not open yet')");
    const again = await text(other, "h1");
    // The tokens of open tabs are in the storage of their sessions, which a browser also keeps on disk
    // for tabs that it restores; it lets them go with the tabs.
    await page.evaluate(() => sessionStorage.clear());
    await context.close();
    return { address, back: seen[0].includes(asked.secret), cookies: seen[1], referrer: seen[2], stored: seen[3].filter((one) => one.includes(asked.secret)).length + seen[4].length, reloaded: true, again };
  },

  // A browser gives a server six connections; the eighth window comes up all the same.
  async tabs() {
    const first = await open(asked.url);
    const pages = [first];
    for (let tab = 0; tab < 7; tab++) {
      const page = await first.context().newPage();
      page.setDefaultTimeout(PATIENCE);
      await page.goto(asked.url);
      pages.push(page);
    }
    const patience = Date.now() + PATIENCE;
    const count = async (tabs) => {
      // A place that one window gives up is taken by another a moment later.
      for (;;) {
        const states = {};
        for (const page of tabs) {
          const state = await page.waitForSelector(".state.live, .state.waiting");
          const name = (await state.getAttribute("class")).replace("state ", "");
          states[name] = (states[name] ?? 0) + 1;
        }
        if (states.live === 5 || Date.now() > patience) return states;
      }
    };
    const states = await count(pages);
    // A window that waits has no stream, and reads the runs when it is asked to.
    for (const page of pages) await page.keyboard.press("2");
    for (const page of pages) await page.waitForSelector('.history-row:has-text("one")');
    await first.close();
    const rest = pages.slice(1);
    await Promise.any(rest.slice(4).map((page) => page.waitForSelector(".state.live")));
    return { states, rows: pages.length, later: await count(rest) };
  },

  // The same runs on the page, in its lists, in the table of usage and in a file.
  async numbers() {
    const tokensOf = (page, selector) => page.$$eval(selector, (found) => found.map((row) => [row.querySelector("b").textContent, row.querySelector(".figures").textContent.split(" · ").at(-1)]));
    const page = await open(asked.url);
    await page.locator(".run").nth(1).waitFor();
    await page.waitForSelector('.sums:has-text("2 runs")');
    const sums = await text(page, ".foot .sums");
    const rows = await tokensOf(page, ".run");
    await page.keyboard.press("2");
    await page.locator(".history-row:not(.head)").nth(1).waitFor();
    const history = await page.$$eval(".history-row:not(.head)", (found) => found.map((row) => [row.querySelector("b").textContent, row.querySelectorAll(".number")[2].textContent]));
    await page.keyboard.press("4");
    const usage = await text(page, ".usage tbody .number");
    const [download] = await Promise.all([page.waitForEvent("download"), page.click('button:has-text("Save CSV")')]);
    const csv = readFileSync(await download.path(), "utf8").split("\n")[1].split(",").slice(2, 9).join(",");
    const file = await open(`file://${asked.file}`, { offline: true });
    await file.waitForSelector(".is-ended");
    return { page: sums, rows, history, usage, csv, file: await text(file, ".foot .sums"), fileRows: await tokensOf(file, ".run") };
  },

  // Runs beside each other; the task of the first is done again.
  async compare() {
    const page = await open(`${asked.url}&compare=${asked.runs.join(",")}`);
    await page.waitForSelector(".compare th:nth-child(3)");
    await page.waitForSelector(".share i");
    const all = (selector) => page.$$eval(selector, (found) => found.map((one) => one.textContent.trim()));
    const seen = { heads: await all(".compare thead .link"), lines: await all(".compare tbody th"), different: await all(".different") };
    await page.fill("#again", asked.model);
    await page.press("#again", "Enter");
    await page.keyboard.press("Escape");
    await page.click('nav button:has-text("Runs")');
    await page.waitForSelector('.notice:has-text("is done again by")');
    return { ...seen, again: await text(page, ".run-header h1") };
  },

  // The pointer is told how a call has ended, and a seventh run has no place on Compare.
  async seven() {
    const page = await open(`${asked.url}&run=${asked.run}`);
    await page.waitForSelector(".is-ended");
    await page.waitForSelector(".for-readers tbody th", { state: "attached" });
    const canvas = await (await page.waitForSelector("canvas.timeline")).boundingBox();
    const names = await page.$$eval(".for-readers tbody th", (found) => found.map((one) => one.textContent));
    // The lanes begin 42 pixels below the top, 104 from the left, and each is 26 high.
    const y = canvas.y + 42 + 26 * names.indexOf(asked.name) + 13;
    let ended = "";
    for (let x = 105; x < canvas.width && !ended; x += 2) {
      await page.mouse.move(canvas.x + x, y);
      ended = await page.evaluate(() => document.querySelector(".tip:not([hidden]) dd.bad")?.textContent ?? "");
    }
    for (let run = 0; run < 7; run++) {
      await page.locator(".run").nth(run).click();
      await page.waitForSelector(".is-ended");
      await page.keyboard.press("c");
    }
    const notice = await text(page, ".notice.bad span");
    return { ended, notice, compared: await text(page, "nav .badge") };
  },

  // Half of a line is nothing yet; it is read when its rest is there.
  async torn() {
    const page = await open(`${asked.url}&run=${asked.run}`);
    await page.waitForSelector('.call.running:has-text("sleep 600")');
    const count = async () => [(await page.$$('.said:has-text("Half of this line")')).length, (await page.$$(".is-unreadable")).length];
    const before = await count();
    console.log("half");
    await page.waitForSelector('.said:has-text("Half of this line")');
    return { before, after: await count() };
  },

  // Where there is nothing yet, a page says what will be there and which commands bring it.
  async empty() {
    const page = await open(asked.url, { permissions: ["clipboard-read", "clipboard-write"] });
    const seen = {};
    for (const [key, name] of [["1", "runs"], ["2", "history"], ["3", "compare"], ["4", "usage"], ["5", "agents"]]) {
      await page.keyboard.press(key);
      await page.waitForSelector(`body.on-${name} .invitation`);
      seen[name] = await text(page, ".invitation h2");
    }
    const isWide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    await page.click(".to-copy");
    const notice = await text(page, ".notice span");
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    return { ...seen, isWide, notice, copied };
  },

  // What fits no filter is said, with the way back; a search that finds nothing leads on.
  async unmatched() {
    const page = await open(asked.url);
    await page.waitForSelector(".run");
    await page.click('.pill:has-text("Running")');
    const filter = await text(page, ".list .empty p");
    await page.fill("#search", "no such words");
    const search = await text(page, '.list .empty p:has-text("no such words")');
    await page.click('button:has-text("Open in History")');
    const history = await text(page, ".history .empty p");
    await page.click('.history button:has-text("Show all runs")');
    await page.waitForSelector(".history-row:not(.head)");
    await page.click('nav button:has-text("Runs")');
    await page.click('.list button:has-text("Show the run")');
    await page.waitForSelector(".run");
    return { filter, search, history, words: await page.inputValue("#search") };
  },

  // What is above the page has the keyboard, and gives it back.
  async keyboard() {
    const page = await open(asked.url);
    await page.waitForSelector(".is-ended");
    const isInside = () => page.evaluate(() => document.querySelector("dialog[open]")?.contains(document.activeElement) ?? false);
    const inside = [];
    await page.focus(".share-button");
    await page.keyboard.press("Enter");
    await page.waitForSelector("dialog[open]");
    for (let tab = 0; tab < 3; tab++) {
      inside.push(await isInside());
      await page.keyboard.press("Tab");
    }
    // A key of the page behind it does nothing.
    await page.keyboard.press("4");
    const behind = await page.getAttribute("body", "class");
    await page.keyboard.press("Escape");
    await page.waitForSelector("dialog[open]", { state: "detached" });
    const back = await page.evaluate(() => document.activeElement?.className);
    await page.keyboard.press("?");
    await page.waitForSelector('dialog[open]:has-text("Keys")');
    await page.keyboard.press("?");
    await page.waitForSelector("dialog[open]", { state: "detached" });
    // Arrows go from tab to tab, and everything that has the keyboard is seen to have it.
    await page.focus("[role=tab][aria-selected=true]");
    await page.keyboard.press("ArrowLeft");
    await page.waitForSelector('#tab-raw[aria-selected=true]:focus');
    await page.keyboard.press("ArrowRight");
    await page.waitForSelector('#tab-transcript[aria-selected=true]:focus');
    const unseen = [];
    for (let tab = 0; tab < 30; tab++) {
      await page.keyboard.press("Tab");
      unseen.push(await page.evaluate(() => {
        const focused = document.activeElement;
        if (!focused || focused === document.body) return null;
        const chosen = focused.matches(".list .virtual") ? focused.querySelector("[aria-selected=true]") : null;
        const isSeen = getComputedStyle(focused).outlineStyle !== "none" || (chosen && getComputedStyle(chosen).boxShadow !== "none");
        return isSeen ? null : focused.outerHTML.slice(0, 80);
      }));
    }
    return { inside, behind: behind.trim(), back, unseen: unseen.filter(Boolean) };
  },

  // A run that waits for a place: it cannot be told anything yet, only be stopped.
  async queued() {
    const page = await open(`${asked.url}&run=${asked.run}`);
    await page.waitForSelector(".is-queued");
    const row = await text(page, `#run-${asked.run} .doing`);
    const remark = await text(page, ".is-queued .remark");
    const composer = await text(page, ".composer");
    const acts = (await page.$$("#message")).length;
    // It is in History before it has begun, and what becomes of it is seen there.
    await page.keyboard.press("2");
    await page.waitForSelector('.history-row:has-text("second") .mark.queued');
    const before = await page.$$eval(".history-row:not(.head)", (found) => found.map((one) => one.querySelector(".doing").textContent));
    await page.keyboard.press("1");
    await page.keyboard.press("x");
    await page.waitForSelector('[role=alertdialog] button:text-is("Let it wait"):focus');
    const question = await text(page, "[role=alertdialog] .space");
    await page.keyboard.press("Enter");
    // The keyboard goes back to the button that asked.
    await page.waitForSelector('.composer button:text-is("Stop…"):focus');
    await page.keyboard.press("Enter");
    await page.click("#stop-yes");
    await page.waitForSelector(`#run-${asked.run}.stopped`);
    await page.keyboard.press("2");
    await page.waitForSelector('.history-row:has-text("second") .mark.stopped');
    // A run that begins meanwhile comes first.
    await page.keyboard.press("1");
    await page.click(`#run-${asked.done}`);
    await page.fill("#message", "Say more");
    await page.press("#message", "Enter");
    await page.waitForSelector(".notice");
    // The keyboard stays where the person types, so a key would become a word there.
    await page.click('nav button:has-text("History")');
    await page.locator(".history-row:not(.head)").nth(3).waitFor();
    const history = await text(page, ".history .page-head .muted");
    return { row, remark, composer, acts, before, question, history: history.split(" · ")[0] };
  },

  // What goes wrong is said where a person looks, and no word of theirs is lost.
  async wrong() {
    const isOnScreen = (page, selector) => page.$eval(selector, (element) => {
      const box = element.getBoundingClientRect();
      const seen = document.elementFromPoint(box.left + 5, box.top + box.height / 2);
      return element === seen || element.contains(seen);
    });
    const stranger = await open(asked.url, { token: "0" });
    await stranger.waitForSelector('h1:has-text("is not open yet")');
    const token = await isOnScreen(stranger, "main p");
    const gone = await open(`${asked.url}&run=20200101-000000-000-000000`);
    const run = (await text(gone, ".pane .empty:has-text('there is no run')")).includes("20200101-000000-000-000000");
    const acts = (await gone.$$(".side button:not(.close)")).length;
    const page = await open(asked.url);
    await page.click(`#run-${asked.run}`);
    await page.waitForSelector(".is-ended");
    await page.route("**/continue", (route) => route.abort());
    await page.fill("#message", "Say it again");
    await page.press("#message", "Enter");
    const notice = await text(page, ".notice.bad span");
    // The refusals above are what this scene is about.
    faults.splice(0, faults.length, ...faults.filter((fault) => !/401|404|ERR_FAILED/.test(fault)));
    return { token, run, acts, notice, words: await page.inputValue("#message") };
  },

  // A long name in wide letters, a line without an end, a megabyte of answer, and no motion.
  async odd() {
    const page = await open(`${asked.url}&run=${asked.run}`, { reducedMotion: "reduce" });
    await page.waitForSelector(".is-ended");
    // The answer alone is higher than the screen.
    await page.keyboard.press("g");
    await page.waitForSelector(".call");
    await page.keyboard.press("e");
    await page.waitForSelector(".call .output");
    await page.keyboard.press("G");
    const name = await text(page, ".run-header h1");
    const isWide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    const rest = await page.waitForSelector('button:has-text("show the rest")');
    const isCut = (await page.$$eval(".is-said .said", (found) => found[0].textContent.length)) < 100000;
    const still = await page.evaluate(() => {
      const caret = document.createElement("span");
      caret.className = "pulse";
      document.body.append(caret);
      return getComputedStyle(caret).animationName;
    });
    await rest.click();
    await page.waitForFunction(() => document.querySelector(".is-said .said")?.textContent.length > 1000000);
    return { name, isWide, isCut, still, whole: true };
  },

  // The picture of the README, and what stands on it.
  async picture() {
    const page = await open(`${asked.url}&run=${asked.run}`, { viewport: { width: 1400, height: 860 }, colorScheme: "dark" });
    await page.waitForSelector('.call.running:has-text("nextest")');
    await page.click('.call:has-text("edit →") .fold');
    await page.waitForSelector(".diff .add");
    await page.mouse.move(2, 2);
    await page.evaluate(() => {
      document.activeElement?.blur();
      // The directory of a test says nothing.
      for (const option of document.querySelectorAll("header.bar option")) if (option.selected) option.textContent = "~/lamp";
    });
    await page.waitForSelector(".files .file-row");
    await page.waitForSelector('.for-readers th:text-is("review")', { state: "attached" });
    const all = (selector) => page.$$eval(selector, (found) => found.map((one) => one.textContent.trim().replace(/\s+/g, " ")));
    const names = await all(".run b");
    const lanes = await all(".for-readers tbody th");
    const seen = {
      pages: await all("header.bar nav button"),
      runs: names.slice(0, 7),
      lanes: lanes.slice(0, 7),
      kinds: await all(".key-label"),
      header: await all(".run-header h1, .run-header .about"),
      context: await page.$$eval('.run[aria-selected="true"] .context', (found) => found.map((one) => one.getAttribute("aria-label"))),
      tabs: await all("[role=tab]"),
      diff: await all(".diff .add, .diff .del"),
      parts: await page.$$eval(".side h2", (found) => found.map((one) => one.firstChild.textContent.trim())),
      files: await all(".file-row .path"),
      composer: await all(".composer button"),
      state: await all(".state"),
    };
    await page.screenshot({ path: asked.file });
    return seen;
  },

  // A file from disk, with the network off.
  async exported() {
    const page = await open(`file://${asked.file}`, { offline: true });
    await page.waitForSelector(".is-ended");
    await page.click('.call .fold');
    await page.waitForSelector(".call .output");
    const output = await text(page, ".call .output");
    const figures = await text(page, ".foot .sums");
    const tabs = await page.$$eval("[role=tab]", (found) => found.map((one) => one.textContent.trim()));
    return { names: await names(page), tabs, output, figures, acts: (await page.$$("#message")).length, source: readFileSync(asked.file).length > 0 };
  },
};

Object.assign(scenes, reviewScenes({ open, text, asked }), callScenes({ open, text, asked }));

try {
  const seen = await scenes[asked.scene]();
  if (asked.picture) await browser.contexts()[0].pages()[0].screenshot({ path: asked.picture });
  console.log(JSON.stringify({ ...seen, faults, strangers }));
} catch (error) {
  console.log(JSON.stringify({ failed: String(error), faults, strangers }));
  process.exitCode = 1;
} finally {
  await browser.close();
}
