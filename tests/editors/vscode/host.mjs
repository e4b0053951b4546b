// Runs the suite in the extension host: the workbench loads it where the server was started for tests and the address
// names it.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { add, check, until } from "./checks.mjs";
import { start } from "./editor.mjs";

const SUITE = join(import.meta.dirname, "suite");

export async function inExtensionHost(given, project) {
  const out = join(given.scratch, "suite.txt");
  const editor = await start({
    ...given,
    given: ["--disable-workspace-trust", "--vscode-option", "enable-smoke-test-driver"],
    environment: { RULELINE_TEST_OUT: out, RULELINE_TEST_ROOT: project.root, RULELINE_TEST_BASE: given.scratch },
  });
  try {
    const remote = (path) => `vscode-remote://127.0.0.1:${editor.port}${path}`;
    const payload = [
      ["extensionDevelopmentPath", remote(SUITE)],
      ["extensionTestsPath", remote(join(SUITE, "index.cjs"))],
    ];
    await editor.page.goto(`${editor.address}/?folder=${project.root}&payload=${encodeURIComponent(JSON.stringify(payload))}`);
    await until(() => existsSync(out), 300_000);
    if (!existsSync(out)) {
      const part = existsSync(`${out}.part`) ? readFileSync(`${out}.part`, "utf8") : "";
      await editor.page.screenshot({ path: join(given.scratch, "suite.png") });
      check("the suite in the extension host ends", false, part);
      return;
    }
    const lines = readFileSync(out, "utf8").trim().split("\n");
    add(JSON.parse(lines.pop()));
    console.log(lines.join("\n"));
  } finally {
    await editor.close();
    editor.end();
  }
}
