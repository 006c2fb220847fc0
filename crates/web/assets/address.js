// The address of what is shown: the page, the run, its tab, the filter, the words and the runs that
// are compared. It stands behind the #, so that no server and no log gets it, and it has no token.

/** @typedef {import("./model.js").Model} Model */

/** What changes the address without a step for the Back button: a person who types or walks through a
 * list does not want to go back letter by letter. */
const WITHOUT_STEP = ["words", "searchHistory", "piece", "wholeRead", "begun", "address", "reviewRead", "reviewCount", "reviewDone"];

/** Returns the address of what is shown, without the #. @param {Model} model @returns {string} */
export function addressOf(model) {
  const said = new URLSearchParams();
  const say = (/** @type {string} */ name, /** @type {string | null | undefined} */ value) => value && said.set(name, value);
  if (model.project) say("project", model.project);
  else say("all", "1");
  if (model.page !== "runs") say("page", model.page);
  if (model.page === "review") {
    say("result", model.review.isOpen ? model.review.selected : null);
    say("with", model.review.beside);
  }
  // Only what a person has chosen: the newest run is chosen by itself.
  if (model.hasChosen && model.selected) say("run", model.selected);
  if (model.tab !== "transcript" && model.hasChosen) say("tab", model.tab);
  if (model.filter !== "all") say("filter", model.filter);
  say("q", model.words);
  if (model.page === "history") {
    say("find", model.history.words);
    if (model.history.state !== "all") say("state", model.history.state);
  }
  if (model.compared.size > 0) say("compare", [...model.compared].join(","));
  if (model.page === "usage" && model.usageBy !== "days") say("by", model.usageBy);
  // Slashes and commas stay readable: nothing else reads them here.
  return said.toString().replaceAll("%2F", "/").replaceAll("%2C", ",");
}

/** Writes the address of what is shown into the address bar. @param {Model} model
 * @param {import("./model.js").Message} message what has changed it */
export function noteAddress(model, message) {
  // A file has one view only, whose address leads nowhere.
  const isServed = location.protocol.startsWith("http");
  if (!isServed || !model.isBegun || model.connection === "refused") return;
  const address = `#${addressOf(model)}`;
  if (address === location.hash || address === decodeURI(location.hash)) return;
  const before = new URLSearchParams(location.hash.slice(1)).get("page") ?? "runs";
  const isOtherPage = before !== model.page && message.type === "searchHistory";
  const isStep = isOtherPage || (!WITHOUT_STEP.includes(message.type) && !message.isStep);
  if (isStep) history.pushState(null, "", address);
  else history.replaceState(null, "", address);
}

/** Takes the code out of the address, so that a reload does not use it again.
 * @returns {{code: string | null, said: URLSearchParams}} what the address says */
export function takeAddress() {
  const said = new URLSearchParams(location.hash.slice(1));
  const code = said.get("code");
  if (code) {
    said.delete("code");
    history.replaceState(null, "", said.size > 0 ? `#${said}` : location.pathname);
  }
  return { code, said };
}
