/** Where the program `pi-subagents` is. */

import { accessSync, constants, statSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";

const NAME = "pi-subagents";
const VARIABLE = "PI_SUBAGENTS_BIN";

/** The package that has the program for this system, if there is one. */
const PLATFORM_PACKAGE = `@pi-subagents/${process.platform}-${process.arch}`;

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
      `${VARIABLE} is ${named}, which is not a program that can be started. ` +
        `Set it to the path of ${NAME}, or unset it.`,
    );
  }
  const built = fileURLToPath(new URL(`../../target/release/${NAME}`, import.meta.url));
  // A relative entry would run a program of whichever repository pi works in.
  const onPath = (process.env.PATH ?? "").split(delimiter).filter(isAbsolute).map((directory) => join(directory, NAME));
  const found = [...inPlatformPackage(), built, ...onPath].find(isProgram);
  if (found) {
    const advice = `Install the package or build the program again, or set ${VARIABLE} to the path of one that works.`;
    return { path: found, advice };
  }
  throw new Error(howToGetIt());
}

/** Returns the program of the platform's package, which npm installs beside or above this package. */
function inPlatformPackage(): string[] {
  try {
    return [createRequire(import.meta.url).resolve(`${PLATFORM_PACKAGE}/bin/${NAME}`)];
  } catch {
    return [];
  }
}

function howToGetIt(): string {
  if (process.platform !== "linux") {
    return `${NAME} runs on Linux only and this is ${process.platform}, so its tools do not work here.`;
  }
  return (
    `The program ${NAME} was not found, neither in the package ${PLATFORM_PACKAGE} nor on the PATH: ` +
    `install that package, build the program with \`cargo build --release\`, or set ${VARIABLE} to its path.`
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
