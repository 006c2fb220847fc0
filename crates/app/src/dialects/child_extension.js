// Written by pi-subagents for one run: what a child of pi needs beside its flags.
import { closeSync, readFileSync } from "node:fs";

const FINALIZE = __FINALIZE__;
const PROVIDER = __PROVIDER__;

export default function (pi) {
  const key = takeKey();
  if (key !== undefined && PROVIDER !== null) useKey(pi, key);
  if (FINALIZE) registerFinalize(pi);
}

// The descriptor is read and closed before anything else can look at it.
function takeKey() {
  const descriptor = process.env.PI_SUBAGENTS_KEY_FD;
  if (descriptor === undefined) return undefined;
  delete process.env.PI_SUBAGENTS_KEY_FD;
  const key = readFileSync(Number(descriptor), "utf8");
  closeSync(Number(descriptor));
  return key;
}

// The first lets pi start without a key of its own; the second beats a stored one.
function useKey(pi, key) {
  pi.registerProvider(PROVIDER, { apiKey: key });
  pi.on("before_provider_headers", (event) => {
    const headers = event.headers;
    for (const name of Object.keys(headers)) {
      const header = name.toLowerCase();
      if (header === "authorization") headers[name] = `Bearer ${key}`;
      if (header === "x-api-key" || header === "x-goog-api-key") headers[name] = key;
    }
  });
}

function registerFinalize(pi) {
  pi.registerTool({
    name: "subagent_finalize",
    label: "Finalize",
    description:
      "Report the final result of your task. Call it once, as your last action; text outside of it is not seen by anybody.",
    promptSnippet: "Report the final result of the task",
    promptGuidelines: ["End by calling subagent_finalize with everything the caller needs to know."],
    parameters: {
      type: "object",
      required: ["status"],
      properties: {
        status: { type: "string", enum: ["SUCCESS", "ERROR"] },
        result: { type: "string", description: "The result; needed with SUCCESS, partial with ERROR" },
        error: { type: "string", description: "What went wrong; needed with ERROR" },
      },
    },
    async execute(_id, report) {
      const says = (text) => typeof text === "string" && text.trim() !== "";
      if (report.status === "SUCCESS" && !says(report.result)) {
        throw new Error("SUCCESS needs a non-empty result");
      }
      if (report.status === "ERROR" && !says(report.error)) {
        throw new Error("ERROR needs a non-empty error");
      }
      return {
        content: [{ type: "text", text: "Reported." }],
        details: report,
        terminate: true,
      };
    },
  });
}
