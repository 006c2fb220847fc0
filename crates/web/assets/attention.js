// Says that a person is needed: in the title of the tab, on its icon, and in one notice of the browser.

import { count } from "./figures.js";

/** @typedef {import("./model.js").Model} Model */
/** @typedef {(message: import("./model.js").Message) => void} Dispatch */

/** How often a tab that nobody sees asks how much waits, if a person wants to be told. */
const PACE = 20000;

/** Says in the title of the tab what a person waits for. @param {Model} model */
export function title(model) {
  const { counts, connection } = model;
  if (connection === "recorded") return "pi-subagents";
  const running = counts ? counts.queued + counts.running : 0;
  const waiting = waits(model);
  const parts = [waiting > 0 ? `${waiting} ${waiting === 1 ? "needs" : "need"} you` : "", running > 0 ? `${running} running` : ""].filter(Boolean);
  return [...parts, "pi-subagents"].join(" · ");
}

/** Returns how much waits, as far as it is known. @param {Model} model */
function waits({ review, waiting }) {
  return review.count ?? waiting ?? 0;
}

/** Puts a mark on the icon of the tab. @param {Model} model */
export function markIcon(model) {
  const link = /** @type {HTMLLinkElement | null} */ (document.querySelector("link[rel=icon]"));
  const name = waits(model) > 0 ? "icon-asks.svg" : "icon.svg";
  if (link && link.getAttribute("href") !== name) link.setAttribute("href", name);
}

/** Lets the browser ask whether it may tell a person. @param {Dispatch} dispatch */
export function allowNotices(dispatch) {
  Notification.requestPermission().then(() => dispatch({ type: "forgetNotice" }));
}

/** Tells a person once when more waits than before, while nobody sees this tab.
 * @param {Model} model @param {() => Promise<number>} ask how much waits now */
export function tellWhenNeeded(model, ask) {
  let told = 0;
  setInterval(async () => {
    if (!document.hidden || !("Notification" in window) || Notification.permission !== "granted") {
      told = model.review.count ?? 0;
      return;
    }
    const now = await ask().catch(() => told);
    if (now > told) new Notification("pi-subagents", { body: `${count(now, "thing")} ${now === 1 ? "needs" : "need"} you`, tag: "pi-subagents", icon: "icon-asks.svg" });
    told = now;
    model.review.count = now;
    document.title = title(model);
    markIcon(model);
  }, PACE);
}
