// The extension in a real VS Code:
//   node run.mjs CODE_SERVER VSIX HOOK SCRATCH [PICTURES]
// Prints "ok" or "FAIL" for each check and "N passed, N failed" at the end; with PICTURES leaves screenshots there.
import { mkdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { check, close } from "./checks.mjs";
import { inExtensionHost } from "./host.mjs";
import { inBrowser } from "./browser.mjs";
import { asNewcomer } from "./newcomer.mjs";
import { layOut } from "./project.mjs";

const [codeServer, vsix, hook, below, pictures] = process.argv.slice(2);
const base = realpathSync(below);

for (const [name, part] of [
  ["host", inExtensionHost],
  ["window", inBrowser],
  ["newcomer", asNewcomer],
]) {
  if (process.env.RULELINE_TEST_ONLY && process.env.RULELINE_TEST_ONLY !== name) {
    continue;
  }
  const scratch = join(base, name);
  const state = join(scratch, "state");
  mkdirSync(scratch, { recursive: true });
  const began = Date.now();
  try {
    const project = await layOut(scratch, hook, state);
    await part({ codeServer, vsix, scratch, state, pictures }, project);
  } catch (error) {
    check(`the tests in the ${name} run to their end`, false, error.stack);
  }
  console.log(`${name}: ${((Date.now() - began) / 1000).toFixed(1)} s`);
}
process.exitCode = close() ? 0 : 1;
