// Everything that happened in a run, folded into entries that a person reads.

/** @typedef {import("./types.js").Told} Told */
/** @typedef {import("./types.js").Item} Item */
/** @typedef {import("./types.js").Call} Call */
/** @typedef {import("./types.js").Turn} Turn */
/** @typedef {{items: Item[]}} ChangedFile The calls that have changed a file. */

export class Transcript {
  constructor() {
    /** @type {Item[]} */
    this.items = [];
    /** @type {Map<string, Item>} */
    this.calls = new Map();
    /** @type {Turn[]} */
    this.turns = [];
    /** @type {Map<string, Item>} Messages that were sent and not read yet. */
    this.sent = new Map();
    /** How many answers of the model are complete. */
    this.answers = 0;
    /** @type {Map<string, ChangedFile>} The files that calls have changed. */
    this.files = new Map();
  }

  /** @param {Told[]} events */
  apply(events) {
    for (const event of events) this.add(event);
  }

  /** @param {Told} event */
  add(event) {
    switch (event.k) {
      case "call":
        return this.called(event);
      case "begun":
        return this.change(event.id, (call) => {
          call.begin = event.t ?? call.begin;
        });
      case "done":
        return this.change(event.id, (call) => {
          call.changes = event.changes;
          call.diff = event.diff;
          call.end = event.t;
          call.ended = [event.p, event.n];
          call.state = event.failed ? "failed" : "done";
        }, true);
      case "result":
        return this.change(event.id, (call) => {
          call.state = event.failed ? "failed" : "done";
          call.end ??= event.t;
          call.words = event.words;
          call.lines = event.lines;
          call.text = event.text;
          call.cut = event.cut;
          call.answered = [event.p, event.n];
        }, true);
      case "turn":
        return this.turn(event);
      case "steered":
        this.sent.set((event.text ?? "").trim(), this.push("steered", event));
        return;
      case "told": {
        // The child repeats a message once it reads it.
        const words = plain(event.md).trim();
        const sent = this.sent.get(words);
        if (sent) this.sent.delete(words);
        else this.push("told", event);
        return;
      }
      case "ended":
        for (const item of this.calls.values()) {
          if (item.call && item.call.state === "running") {
            item.call.state = "unanswered";
            item.call.end = event.t;
          }
        }
        this.push("ended", event);
        return;
      default:
        this.push(event.k, event);
    }
  }

  /** @param {string} kind @param {Told} event @returns {Item} */
  push(kind, event) {
    const item = {
      key: `${event.p}.${event.n}.${kind}`,
      kind,
      t: event.t ?? this.items.at(-1)?.t ?? 0,
      text: event.text,
      cut: event.cut,
      md: event.md,
      status: event.status,
      place: /** @type {[number, number]} */ ([event.p, event.n]),
    };
    this.items.push(item);
    return item;
  }

  /** @param {Told} event */
  called(event) {
    const item = this.push("call", event);
    item.call = {
      id: event.id ?? "",
      tool: event.tool ?? "",
      kind: event.kind ?? "other",
      title: event.title ?? event.tool ?? "",
      path: event.path,
      state: "running",
      begin: item.t,
      arguments: event.arguments,
      called: [event.p, event.n],
    };
    this.calls.set(item.call.id, item);
  }

  /** @param {string | undefined} id @param {(call: Call) => void} change @param {boolean} [isEnd] */
  change(id, change, isEnd = false) {
    const item = this.calls.get(id ?? "");
    if (!item?.call) return;
    change(item.call);
    if (isEnd) this.noteFile(item, item.call);
  }

  /** Notes that a call has changed a file. @param {Item} item @param {Call} call */
  noteFile(item, call) {
    if (!call.path || call.kind !== "edit" || call.state !== "done") return;
    const file = this.files.get(call.path) ?? { items: [] };
    if (!file.items.includes(item)) file.items.push(item);
    this.files.set(call.path, file);
  }

  /** @param {Told} event */
  turn(event) {
    this.answers += 1;
    const [input, output, cacheRead, cacheWrite, cost] = event.usage ?? [];
    this.turns.push({
      t: event.t ?? 0,
      input: input ?? 0,
      output: output ?? 0,
      cacheRead: cacheRead ?? 0,
      cacheWrite: cacheWrite ?? 0,
      cost: cost ?? null,
    });
    if (event.error) this.push("warned", { ...event, text: event.error });
  }
}

/** Returns the words of a tree. @param {any} tree @returns {string} */
export function plain(tree) {
  if (typeof tree === "string") return tree;
  if (!Array.isArray(tree)) return "";
  const isElement = typeof tree[0] === "string" && NAMES.has(tree[0]) && tree.length > 1;
  return (isElement ? tree.slice(1) : tree).map(plain).join("");
}

const NAMES = new Set(
  "p h3 h4 h5 h6 pre ul ol li table thead tr td em strong del code a img blockquote".split(" "),
);

/** Returns how many lines calls have added to a file and removed from it. @param {ChangedFile} file */
export function changedLines({ items }) {
  let [added, removed] = [0, 0];
  for (const { call } of items) {
    // A file that was written whole has no changes beside it, only its lines.
    added += call?.changes?.[0] ?? Number(call?.title.match(/ \+(\d+)$/)?.[1] ?? 0);
    removed += call?.changes?.[1] ?? 0;
  }
  return { added, removed };
}
