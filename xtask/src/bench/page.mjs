// Measures the web page in Chromium. Prints lines: name, figure, bar, with tabs between them.

import { createRequire } from "node:module";
import { existsSync, readFileSync } from "node:fs";

const [scene, address, long, pid, modules, token] = process.argv.slice(2);
const url = address.replace(/code=[^&]*&/, "");
const { chromium } = createRequire(modules)("playwright-core");
const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find((path) => existsSync(path));
const args = process.getuid() === 0 ? ["--no-sandbox"] : [];
const browser = await chromium.launch({ executablePath, args });

const say = (...fields) => console.log(fields.join("\t"));
const ms = (time) => `${Math.round(time)} ms`;
const median = (times) => [...times].sort((a, b) => a - b)[Math.floor(times.length / 2)];
const part = (times, share) => [...times].sort((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * share))];

/** Opens a page in a browser that has never seen it, and notes when its first row is there. */
async function open(context) {
  const page = await (context ?? (await browser.newContext({ viewport: { width: 1400, height: 860 } }))).newPage();
  await page.addInitScript((token) => sessionStorage.setItem("pi-subagents-token", token), token);
  await page.addInitScript(() => {
    const seen = new MutationObserver(() => {
      if (!window.firstRow && document.querySelector(".run")) window.firstRow = performance.now();
    });
    seen.observe(document, { childList: true, subtree: true });
  });
  await page.goto(url);
  return page;
}

/** Notes how long each frame takes. */
const watchFrames = (page) =>
  page.evaluate(() => {
    window.frames_ = [];
    let last = performance.now();
    const frame = () => {
      const now = performance.now();
      window.frames_.push(now - last);
      last = now;
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
const takeFrames = (page) => page.evaluate(() => window.frames_.splice(0));
const frameWords = (frames) => `median ${ms(median(frames))}, 95 % ${ms(part(frames, 0.95))}, worst ${ms(Math.max(...frames))}`;

function memory() {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const kilobytes = (name) => Number(status.match(new RegExp(`${name}:\\s+(\\d+)`))[1]);
  return `${(kilobytes("VmRSS") / 1024).toFixed(0)} MB, at most ${(kilobytes("VmHWM") / 1024).toFixed(0)} MB`;
}

/** The time that the tab and the server work, as a share of so many seconds. */
async function work(page, seconds) {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  const tab = async () => (await session.send("Performance.getMetrics")).metrics.find((metric) => metric.name === "TaskDuration").value;
  const server = () => {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
    return (Number(fields[11]) + Number(fields[12])) / 100;
  };
  const before = [await tab(), server()];
  await page.waitForTimeout(seconds * 1000);
  const after = [await tab(), server()];
  const share = (place) => `${(((after[place] - before[place]) / seconds) * 100).toFixed(1)} %`;
  return `tab ${share(0)}, server ${share(1)}`;
}

/** Opens the very long run in several new tabs, one after the other, and says what each has seen: one
 * tab alone may have had luck. */
async function readLongRuns() {
  const seen = [];
  for (let round = 0; round < 5; round++) seen.push(await readLongRun());
  const each = (field) => seen.map((one) => ms(one[field])).join(", ");
  const worst = (field) => seen.map((one) => ms(Math.max(...one[field]))).join(", ");
  const all = (field) => frameWords(seen.flatMap((one) => one[field]));
  say("the end of 100,000 events is read, 5 tabs", each("end"), "300 ms");
  say("all of it, in the background", each("whole"), "");
  say("frames meanwhile", all("meanwhile"), "worst 50 ms");
  say("", `worst of each tab ${worst("meanwhile")}`, "");
  say("frames while it is scrolled", all("scrolled"), "worst 50 ms");
  say("", `worst of each tab ${worst("scrolled")}`, "");
}

/** Opens the very long run in a new tab, waits until it is read, and scrolls through it. */
async function readLongRun() {
  const page = await open();
  await page.waitForSelector(".run-header");
  await page.waitForTimeout(500);
  await watchFrames(page);
  const end = await page.evaluate(async (run) => {
    const begun = performance.now();
    location.hash = `run=${run}`;
    const isThere = () => [...document.querySelectorAll(".call .title")].some((title) => title.textContent.includes("make part-24999"));
    while (!isThere()) await new Promise(requestAnimationFrame);
    return performance.now() - begun;
  }, long);
  const begun = Date.now();
  await page.waitForSelector(".earlier", { state: "detached", timeout: 120000 });
  const whole = Date.now() - begun + end;
  const meanwhile = await takeFrames(page);
  await page.evaluate(async () => {
    const list = document.querySelector(".pane .virtual");
    for (let step = 0; step < 120; step++) {
      list.scrollTop -= 3000;
      await new Promise(requestAnimationFrame);
    }
  });
  const scrolled = await takeFrames(page);
  await page.context().close();
  return { end, whole, meanwhile, scrolled };
}

const scenes = {
  async still() {
    const [frames, rows] = [[], []];
    for (let round = 0; round < 7; round++) {
      const page = await open();
      await page.waitForFunction(() => window.firstRow);
      const [paint, row] = await page.evaluate(() => [performance.getEntriesByName("first-contentful-paint")[0]?.startTime, window.firstRow]);
      frames.push(paint);
      rows.push(row);
      await page.context().close();
    }
    say("first frame", `${ms(Math.min(...frames))} best, ${ms(median(frames))} median of 7`, "150 ms");
    say("first rows on the screen", `${ms(Math.min(...rows))} best, ${ms(median(rows))} median of 7`, "with the first frame");
    say("memory of the server after 7 tabs", memory(), "40 MB");
    await readLongRuns();
    const idle = await open();
    await idle.waitForFunction(() => window.firstRow);
    await idle.waitForTimeout(2500);
    let requests = 0;
    idle.on("request", () => (requests += 1));
    const share = await work(idle, 8);
    say("an idle page in 8 s", `${requests} requests, ${share}`, "0 requests, 1 %");
    const context = idle.context();
    const tabs = [];
    for (let tab = 0; tab < 7; tab++) tabs.push(await open(context));
    for (const tab of tabs) await tab.waitForSelector(".state.live, .state.waiting");
    const states = await Promise.all([idle, ...tabs].map((tab) => tab.$eval(".state", (state) => state.className.replace("state ", ""))));
    say("8 tabs at once", `${states.filter((state) => state === "live").length} live, ${states.filter((state) => state === "waiting").length} wait for a connection; server ${memory()}`, "none dead");
  },

  async busy() {
    const page = await open();
    await page.waitForSelector(".run.running");
    await page.waitForTimeout(2000);
    await watchFrames(page);
    const share = await work(page, 8);
    const frames = await takeFrames(page);
    const pieces = await page.$$eval(".run.running", (rows) => rows.length);
    say("200 running runs, 20 updates/s, frames", frameWords(frames), "worst 50 ms");
    say("", `${share}; ${pieces} of the rows are elements; server ${memory()}`, "");
  },
};

await scenes[scene]();
await browser.close();
