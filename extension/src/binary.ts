/** Where the program `pi-subagents` is. */

import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

const NAME = "pi-subagents";
const VARIABLE = "PI_SUBAGENTS_BIN";

/** Finds the program, or throws an error that says how to get it. */
export function findBinary(): string {
  const named = process.env[VARIABLE];
  if (named) {
    if (isProgram(named)) return named;
    throw new Error(`${VARIABLE} is ${named}, which is no program that can be started. Set it to the path of ${NAME}, or unset it.`);
  }
  const inPackage = fileURLToPath(new URL(`../bin/${NAME}`, import.meta.url));
  const built = fileURLToPath(new URL(`../../target/release/${NAME}`, import.meta.url));
  const onPath = (process.env.PATH ?? "").split(delimiter).filter(Boolean).map((directory) => join(directory, NAME));
  const found = [inPackage, built, ...onPath].find(isProgram);
  if (found) return found;
  throw new Error(
    `The program ${NAME} was not found. It was looked for as ${inPackage}, as ${built} and on the PATH. ` +
      `Build it with \`cargo build --release\` in the repository of ${NAME}, or set ${VARIABLE} to its path.`,
  );
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
