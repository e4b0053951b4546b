// Where the server's program is: the user's setting, the one in the extension, the PATH. Never a program of a project.
//
// Nothing is run here, and nothing of VS Code is used.

import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { delimiter, isAbsolute, join, relative } from "node:path";

/** The program's name without what the platform appends. */
export const PROGRAM = "ruleline-server";

/** Where a program may be looked for. */
export interface Places {
  /** The setting; empty where there is none. */
  setting: string;
  /** The extension's own folder. */
  extension: string;
  /** The PATH as the environment has it. */
  path: string;
  /** The folders that are open: what lies in them is a project's. */
  workspace: readonly string[];
  platform: NodeJS.Platform;
}

/** A program that can be run. */
export interface Found {
  program: string;
  from: "setting" | "extension" | "PATH";
}

/** Why there is none, with what to do about it, in one line. */
export class NotFound extends Error {}

/** Finds the server; throws `NotFound`. */
export function findServer(places: Places): Found {
  const name = places.platform === "win32" ? `${PROGRAM}.exe` : PROGRAM;
  if (places.setting !== "") {
    return { program: ofSetting(places.setting), from: "setting" };
  }
  const bundled = join(places.extension, "server", name);
  if (isProgram(bundled)) {
    return { program: bundled, from: "extension" };
  }
  for (const folder of places.path.split(delimiter)) {
    const program = join(folder, name);
    // A relative entry means another folder in each project.
    if (isAbsolute(folder) && isProgram(program) && !isInside(program, places.workspace)) {
      return { program, from: "PATH" };
    }
  }
  throw new NotFound(
    `${PROGRAM} was not found: this build of the extension brings none, and there is none on the PATH outside of the ` +
      `workspace. Install it, or set ruleline.server.path.`,
  );
}

function ofSetting(path: string): string {
  if (!isAbsolute(path)) {
    throw new NotFound(`ruleline.server.path must be an absolute path, and is "${path}".`);
  }
  if (!isProgram(path)) {
    throw new NotFound(`There is no program at ${path}. Mend ruleline.server.path, or leave it empty.`);
  }
  return path;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Whether the file, or what it links to, lies in one of the folders. */
function isInside(file: string, folders: readonly string[]): boolean {
  const files = [file, resolved(file)];
  return folders
    .flatMap((folder) => [folder, resolved(folder)])
    .some((folder) => files.some((one) => isBelow(relative(folder, one))));
}

function isBelow(way: string): boolean {
  return way !== "" && !isAbsolute(way) && way.split(/[\\/]/u)[0] !== "..";
}

function resolved(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
