// The connection to the server: questions, wishes, and one stream per tab. The token stands in a
// header and nowhere else.

const KEY = "pi-subagents-token";

/** How many windows are followed at once; one connection is left for questions. */
const STREAMS = 5;

/** The reason why the server gave no answer. */
export class Refused extends Error {
  /** @param {string} message @param {number} status */
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

export class Connection {
  constructor() {
    this.isRecorded = false;
    /** @type {AbortController | null} */
    this.streaming = null;
  }

  /** Exchanges the code of an address for the token, which this tab keeps. A code is good once; a tab
   * that has a token already needs none. @param {string} code */
  async enter(code) {
    const answer = await fetch("v1/token", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ code }),
      cache: "no-store",
    });
    if (answer.status === 401 && sessionStorage.getItem(KEY)) return;
    sessionStorage.setItem(KEY, (await (await checked(answer)).json()).token);
  }

  headers() {
    return { authorization: `Bearer ${sessionStorage.getItem(KEY) ?? ""}` };
  }

  /** Asks a question. @param {string} path @param {Record<string, any>} [query] @returns {Promise<any>} */
  async ask(path, query = {}) {
    return (await this.fetch(path, query)).json();
  }

  /** Fetches something to keep. @param {string} path @param {Record<string, any>} query */
  async file(path, query) {
    return (await this.fetch(path, query)).blob();
  }

  /** @param {string} path @param {Record<string, any>} query */
  async fetch(path, query) {
    const answer = await fetch(address(path, query), { headers: this.headers(), cache: "no-store" });
    return checked(answer);
  }

  /** Wants something of a run. @param {string} run @param {string} what @param {object} body */
  async wish(run, what, body) {
    return this.post(`runs/${encodeURIComponent(run)}/${what}`, body);
  }

  /** Wants something done. @param {string} path @param {object} body */
  async post(path, body) {
    return (await checked(await this.send(path, body))).json();
  }

  /** @param {string} path @param {object} body */
  send(path, body) {
    const headers = { ...this.headers(), "content-type": "application/json" };
    return fetch(`v1/${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  }

  /** Wants something done that takes its time, and reads what happens. @param {string} path
   * @param {object} body @param {(piece: any) => void} each */
  async read(path, body, each) {
    await pieces(await checked(await this.send(path, body)), each);
  }

  /** Follows what happens until the stream ends or another one is opened. A browser gives a server
   * six connections: if five other windows are followed, this one waits until one of them is left.
   * @param {() => Record<string, any>} view says what is looked at when the stream is opened
   * @param {(piece: any) => void} each
   * @param {() => void} waits is called if the other windows have all streams */
  async follow(view, each, waits) {
    this.leave();
    const streaming = new AbortController();
    this.streaming = streaming;
    const read = () => this.stream(view(), each, streaming);
    for (let slot = 0; slot < STREAMS; slot++) {
      const wasFree = await navigator.locks.request(`stream ${slot}`, { ifAvailable: true }, async (lock) => {
        if (lock && !streaming.signal.aborted) await read();
        return lock !== null;
      });
      if (wasFree) return;
    }
    waits();
    await this.whenFree(read, streaming.signal);
  }

  /** Waits for all streams, and reads once one of them is free. @param {() => Promise<void>} read
   * @param {AbortSignal} left */
  async whenFree(read, left) {
    const waiting = new AbortController();
    const signal = AbortSignal.any([left, waiting.signal]);
    let isTaken = false;
    const take = async () => {
      if (isTaken) return;
      isTaken = true;
      waiting.abort();
      await read();
    };
    const slots = Array.from({ length: STREAMS }, (_, slot) => navigator.locks.request(`stream ${slot}`, { signal }, take));
    for (const ended of await Promise.allSettled(slots)) {
      const isOwn = ended.status === "rejected" && ended.reason?.name !== "AbortError";
      if (isOwn) throw ended.reason;
    }
  }

  /** @param {Record<string, any>} query @param {(piece: any) => void} each @param {AbortController} streaming */
  async stream(query, each, streaming) {
    const answer = await fetch(address("stream", query), {
      headers: this.headers(),
      signal: streaming.signal,
      cache: "no-store",
    });
    await pieces(await checked(answer), each);
  }

  /** Turns a stream that is open to another view. @param {number} stream @param {Record<string, any>} view */
  async turn(stream, view) {
    await this.ask(`streams/${stream}`, view);
  }

  /** Closes the stream. */
  leave() {
    this.streaming?.abort();
    this.streaming = null;
  }
}

/** Reads an answer piece by piece, as it comes. @param {Response} answer @param {(piece: any) => void} each */
async function pieces({ body }, each) {
  if (!body) return;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    rest += value;
    const whole = rest.split("\n\n");
    rest = whole.pop() ?? "";
    for (const piece of whole) each(JSON.parse(piece.slice("data: ".length)));
  }
}

/** @param {string} path @param {Record<string, any>} query */
function address(path, query) {
  const said = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== "") said.set(name, String(value));
  }
  return `v1/${path}${said.size > 0 ? `?${said}` : ""}`;
}

/** @param {Response} answer */
async function checked(answer) {
  if (answer.ok) return answer;
  const text = await answer.text();
  let message = text.trim();
  try {
    message = JSON.parse(text).error ?? message;
  } catch {
    // It was no JSON: the words themselves are the message.
  }
  throw new Refused(message, answer.status);
}
