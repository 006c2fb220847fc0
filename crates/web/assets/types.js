// The shapes of what the server tells. Nothing here runs; `tsc --checkJs` reads it.

/**
 * @typedef {{input: number, output: number, cacheRead: number, cacheWrite: number,
 *   cost: number | null, costIsAtLeast?: boolean}} Usage The cost is a part where not every price is known.
 * @typedef {{runs: number, toolCalls: number, usage: Usage}} Totals What runs used.
 * @typedef {{queued: number, running: number, completed: number, failed: number, stopped: number,
 *   total: number}} Counts
 *
 * @typedef {"queued" | "running" | "completed" | "failed" | "stopped"} Status
 *
 * @typedef {object} Row A run, as `status --json` prints it, and what a list says beside it.
 * @property {string} runId
 * @property {string} sessionId
 * @property {string} name
 * @property {Status} status
 * @property {string} acceptedAt
 * @property {string} [startedAt]
 * @property {string} [endedAt]
 * @property {string} [agent]
 * @property {string} [task]
 * @property {string} [provider]
 * @property {string} [model]
 * @property {string} [requestedModel]
 * @property {string} [runner]
 * @property {string} [sandbox]
 * @property {string | string[]} [network]
 * @property {string} [cwd]
 * @property {string} [project]
 * @property {string} [errorMessage]
 * @property {string} [output]
 * @property {string} [recordProblem]
 * @property {string[]} [incomplete]
 * @property {Usage} [usage]
 * @property {{cost?: number | null, tokens?: number | null}} [granted] What its budgets let it use.
 * @property {number} [toolCalls]
 * @property {number} [exitCode]
 * @property {boolean} [background]
 * @property {number} sequence
 * @property {string} group
 * @property {string} groupLabel
 * @property {string | null} [notice] Something a person should know of the run.
 * @property {string} [doing]
 * @property {string} [hit] The line of its transcript that has the words of a search.
 * @property {number | null} [lastAt]
 * @property {[number, number] | null} [context] Tokens of the last turn, and how many the model reads at most.
 * @property {number | null} [contextWindow]
 * @property {Tree} [answer]
 * @property {Tree} [taskTree]
 * @property {Workspace} [workspace]
 * @property {any} [receipt]
 * @property {Row[]} [call] The other finished runs of its call.
 * @property {{path: string, runs: {runId: string, name: string}[]}[]} [sameFiles] Files that other runs changed too.
 *
 * @typedef {Array<any>} Tree Markdown as elements: a name and what is in it.
 *
 * @typedef {[string, number, number | null, string, number, number[] | null, string?]} Span
 * Kind, beginning and end in milliseconds, label, whether it failed, and the usage of an
 * answer or the file of an edit.
 * @typedef {{spans: Span[], steered: number[], isThin?: boolean, part?: Part}} Lane
 * @typedef {{from: number, to: number, spans: Span[]}} Part The spans of some time, closer.
 *
 * @typedef {{path: string, status: string, from?: string, added?: number, removed?: number,
 *   mode?: string, patch?: string}} ChangedFile
 * @typedef {{files: ChangedFile[], merged: boolean, base: string, result: string}} Changes
 * @typedef {{state: string, branch?: string, path?: string, notes?: string[], files?: ChangedFile[]}} Workspace
 *
 * @typedef {object} Told Something that happened, as the server tells it.
 * @property {string} k
 * @property {number} p
 * @property {number} n
 * @property {number} [t]
 * @property {string} [id]
 * @property {string} [text]
 * @property {boolean} [cut]
 * @property {Tree} [md]
 * @property {string} [tool]
 * @property {string} [kind]
 * @property {string} [title]
 * @property {string} [path]
 * @property {string} [arguments]
 * @property {boolean} [failed]
 * @property {string | null} [words]
 * @property {number} [lines]
 * @property {[number, number] | null} [changes]
 * @property {string | null} [diff]
 * @property {string} [status]
 * @property {string | null} [model]
 * @property {string | null} [error]
 * @property {Array<number | null>} [usage]
 *
 * @typedef {object} Item One entry of a transcript.
 * @property {string} key
 * @property {string} kind
 * @property {number} t
 * @property {string} [text]
 * @property {boolean} [cut]
 * @property {Tree} [md]
 * @property {string} [status]
 * @property {[number, number]} [place]
 * @property {Call} [call]
 *
 * @typedef {object} Call A call of a tool, and what came of it.
 * @property {string} id
 * @property {string} tool
 * @property {string} kind
 * @property {string} title
 * @property {string | undefined} path
 * @property {"running" | "done" | "failed" | "unanswered"} state
 * @property {number} begin
 * @property {number} [end]
 * @property {string | null} [words]
 * @property {number} [lines]
 * @property {[number, number] | null} [changes]
 * @property {string} [text]
 * @property {boolean} [cut]
 * @property {string} [arguments]
 * @property {string | null} [diff]
 * @property {[number, number]} called
 * @property {[number, number]} [answered]
 * @property {[number, number]} [ended]
 *
 * @typedef {object} Waiting Something that waits for a person, as `review --json` prints it.
 * @property {string} runId
 * @property {string} name
 * @property {"question" | "limit" | "change" | "failure" | "unreachable"} kind
 * @property {string} since
 * @property {boolean} [later]
 * @property {string} [message]
 * @property {any} [question]
 * @property {"fits" | "look" | "careful" | "decide"} [tier]
 * @property {{rule: string, words: string, paths?: string[]}[]} [reasons]
 * @property {number} [files]
 * @property {number} [added]
 * @property {number} [removed]
 * @property {string[]} [gates]
 * @property {{left: number, of: number}} [remainder]
 * @property {string[]} [standsOn]
 * @property {{runId: string, name: string}[]} [otherAttempts]
 * @property {string[]} [conflictsWithCheckout]
 * @property {{runId: string, name: string, places: string[]}[]} [conflicts]
 *
 * @typedef {{path: string, line: number | null, old: number | null, quoted: string, words: string}} Comment
 * A comment on a line: its number now, or the number that it had.
 *
 * @typedef {{t: number, input: number, output: number, cacheRead: number, cacheWrite: number,
 *   cost: number | null}} Turn
 */

export {};
