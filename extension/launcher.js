#!/usr/bin/env node
/**
 * Starts the program of the platform's package with the same arguments, for `npx` and `npm i -g`.
 *
 * The extension does not use it: it finds the program itself and saves the start of another Node.
 */

import { spawn } from "node:child_process";
import { createRequire } from "node:module";

const platform = `${process.platform}-${process.arch}`;

function findProgram() {
  try {
    return createRequire(import.meta.url).resolve(`@pi-subagents/${platform}/bin/pi-subagents`);
  } catch {
    return undefined;
  }
}

const program = findProgram();
if (!program) {
  console.error(
    `error: there is no pi-subagents for ${platform} here: it runs on Linux with glibc (x64, arm64), where npm ` +
      `installs @pi-subagents/${platform} unless optional dependencies are left out.`,
  );
  process.exit(1);
}
const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// A terminal sends its signals to both; the program decides what they mean.
for (const signal of ["SIGINT", "SIGQUIT"]) process.on(signal, () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`error: ${program} does not start: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  if (!signal) process.exit(code ?? 1);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
