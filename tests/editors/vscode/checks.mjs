// What the tests share: checks that are counted, waiting, files, processes.
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** How long something that must come may take; the machine may be busy. */
const PATIENCE = 60_000;
let passed = 0;
let failed = 0;

/** Counts a check and prints "ok" or "FAIL", with what was found instead. */
export function check(name, ok, found) {
  if (ok) {
    passed += 1;
    console.log(`ok   ${name}`);
  } else {
    failed += 1;
    console.log(`FAIL ${name}${found === undefined ? "" : `  ${JSON.stringify(found)}`}`);
  }
  return Boolean(ok);
}

/** Takes over checks that were counted elsewhere and are printed already. */
export function add(counts) {
  passed += counts.passed;
  failed += counts.failed;
}

/** Prints the closing line; whether all is well. */
export function close() {
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0;
}

export const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Waits until `what` gives something; what it gave at last. */
export async function until(what, patience = PATIENCE) {
  const end = Date.now() + patience;
  for (;;) {
    const found = await what();
    if (found || Date.now() > end) {
      return found;
    }
    await sleep(50);
  }
}

export function write(path, text, mode = 0o644) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { mode });
}

/** Runs a program to its end; its stdout. */
export function run(program, given, options = {}) {
  return new Promise((resolve, reject) => {
    const child = execFile(program, given, options, (error, stdout, stderr) => {
      if (error) {
        reject(new Error(`${program} ${given.join(" ")}: ${String(error.code ?? error.signal)} ${stderr.slice(-500)}`));
      } else {
        resolve(stdout);
      }
    });
    // A program that reads nothing may be gone already.
    child.stdin.on("error", () => undefined);
    child.stdin.end(options.input ?? "");
  });
}

/** The processes that run a program, each with its number and its parent's. */
export function processes(program) {
  return readdirSync("/proc").flatMap((name) => {
    try {
      if (!/^\d+$/.test(name) || readlinkSync(`/proc/${name}/exe`) !== program) {
        return [];
      }
      return [{ id: Number(name), parent: Number(stat(name)[1]) }];
    } catch {
      return [];
    }
  });
}

/** Clock ticks that a process has used. */
export function ticks(id) {
  const fields = stat(id);
  return Number(fields[11]) + Number(fields[12]);
}

/** How often a process has read and written. */
export function calls(id) {
  const text = readFileSync(`/proc/${id}/io`, "utf8");
  const number = (name) => Number(new RegExp(`${name}: (\\d+)`).exec(text)?.[1]);
  return number("syscr") + number("syscw");
}

/** The fields of /proc/ID/stat behind the name: state, parent, ... */
function stat(id) {
  return readFileSync(`/proc/${id}/stat`, "utf8").split(") ").at(-1).split(" ");
}
