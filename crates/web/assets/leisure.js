// Questions that can wait: they are asked one after the other, each when the browser has nothing else
// to do. The server and the browser share a machine, and what a person looks at comes first.

/** How many milliseconds a question waits at most. */
const PATIENCE = 200;

export class Leisure {
  constructor() {
    /** @type {Promise<any>} Ends with the last question so far. */
    this.last = Promise.resolve();
  }

  /** Asks a question behind those that wait already. @template T @param {() => Promise<T>} ask
   * @returns {Promise<T>} */
  ask(ask) {
    const answer = this.last.then(idle).then(ask);
    // A question that fails is told to whoever has asked it; the next one is asked all the same.
    this.last = answer.catch(() => {});
    return answer;
  }
}

/** Waits until the browser has nothing to do. @returns {Promise<void>} */
function idle() {
  return new Promise((done) => {
    if (typeof requestIdleCallback === "function") requestIdleCallback(() => done(), { timeout: PATIENCE });
    else setTimeout(done, PATIENCE / 10);
  });
}
