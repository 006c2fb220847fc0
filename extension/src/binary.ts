/** Where the program `pi-subagents` is. */

import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

const NAME = "pi-subagents";
const VARIABLE = "PI_SUBAGENTS_BIN";

/** A file that can be started, and should be `pi-subagents`. */
export interface Binary {
  path: string;
  /** What to do if it turns out to be something else. */
  advice: string;
}

/** Finds the program, or throws an error that says how to get it. */
export function findBinary(): Binary {
  const named = process.env[VARIABLE];
  if (named) {
    const advice = `${VARIABLE} names it: set that to the path of ${NAME}, or unset it.`;
    if (isProgram(named)) return { path: named, advice };
    throw new Error(
      `${VARIABLE} is ${named}, which is no program that can be started. ` +
        `Set it to the path of ${NAME}, or unset it.`,
    );
  }
  const inPackage = fileURLToPath(new URL(`../bin/${NAME}`, import.meta.url));
  const built = fileURLToPath(new URL(`../../target/release/${NAME}`, import.meta.url));
  const onPath = (process.env.PATH ?? "").split(delimiter).filter(Boolean).map((directory) => join(directory, NAME));
  const found = [inPackage, built, ...onPath].find(isProgram);
  if (found) {
    const advice =
      `Build it again with \`cargo build --release\` in the repository of ${NAME}, ` +
      `or set ${VARIABLE} to the path of one that works.`;
    return { path: found, advice };
  }
  throw new Error(
    `The program ${NAME} was not found. It was looked for as ${inPackage}, as ${built} and on the PATH. ` +
      `Build it with \`cargo build --release\` in the repository of ${NAME}, or set ${VARIABLE} to its path.`,
  );
}

/** Returns what to do if the program is not there, in a sentence. */
export function missing(): string | undefined {
  try {
    findBinary();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
