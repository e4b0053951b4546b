// A real VS Code: code-server with the packed extension, and a headless Chromium that looks at it.
import { spawn } from "node:child_process";
import { openSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { run, until, write } from "./checks.mjs";

const QUIET = {
  "workbench.startupEditor": "none",
  "workbench.tips.enabled": false,
  "workbench.colorTheme": "Default Dark Modern",
  "workbench.layoutControl.enabled": false,
  "chat.disableAIFeatures": true,
  "chat.commandCenter.enabled": false,
  "window.commandCenter": false,
  "extensions.autoCheckUpdates": false,
  "extensions.autoUpdate": false,
  "extensions.ignoreRecommendations": true,
  "telemetry.telemetryLevel": "off",
  "update.showReleaseNotes": false,
  "security.workspace.trust.startupPrompt": "never",
  "security.workspace.trust.banner": "never",
  "files.simpleDialog.enable": true,
  "editor.fontFamily": "DejaVu Sans Mono",
  "editor.fontSize": 15,
  "editor.autoIndent": "none",
  "editor.inlayHints.enabled": "off",
  "editor.wordBasedSuggestions": "off",
  "editor.quickSuggestions": { other: "off", comments: "off", strings: "off" },
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "editor.minimap.enabled": false,
  "editor.lightbulb.enabled": "on",
  "editor.renderWhitespace": "none",
  "editor.occurrencesHighlight": "off",
  "breadcrumbs.enabled": false,
  "editor.wordWrap": "on",
  "editor.stickyScroll.enabled": false,
  "scm.diffDecorations": "none",
  "git.openRepositoryInParentFolders": "never",
};

/** Installs the extension below `scratch` and starts the editor; `given` are more flags of code-server. */
export async function start({ codeServer, vsix, scratch, state, environment = {}, given = [] }) {
  const data = join(scratch, "user");
  const extensions = join(scratch, "extensions");
  const settings = `${JSON.stringify({ ...QUIET, "ruleline.server.stateFolder": state }, null, 2)}\n`;
  // Settings of the machine are read from the second one.
  write(join(data, "User/settings.json"), settings);
  write(join(data, "Machine/settings.json"), settings);
  const home = join(scratch, "home");
  write(join(home, ".profile"), "");
  const env = { PATH: process.env.PATH, LANG: "C.UTF-8", HOME: home, RULELINE_TEST_TOP: process.env.RULELINE_TEST_TOP, ...environment };
  const folders = ["--user-data-dir", data, "--extensions-dir", extensions];
  const entry = join(codeServer, "out/node/entry.js");
  await run(process.execPath, [entry, ...folders, "--install-extension", vsix], { env });
  const port = await freePort();
  const log = openSync(join(scratch, "code-server.log"), "a");
  const quiet = ["--auth", "none", "--disable-telemetry", "--disable-update-check", "--disable-getting-started-override"];
  const child = spawn(process.execPath, [entry, ...quiet, "--bind-addr", `127.0.0.1:${port}`, ...folders, ...given], {
    env,
    cwd: home,
    detached: true,
    stdio: ["ignore", log, log],
  });
  const address = `http://127.0.0.1:${port}`;
  const ready = await until(() => fetch(`${address}/healthz`).then((answer) => answer.ok, () => false));
  if (!ready) {
    throw new Error("code-server did not start");
  }
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
  const page = await browser.newPage({ viewport: { width: 1120, height: 620 }, deviceScaleFactor: 1.5 });
  page.setDefaultTimeout(60_000);
  return {
    port,
    page,
    address,
    process: child,
    extensions,
    /** Closes the window, then ends the editor as its user would: only its first process is asked. */
    async close() {
      await browser.close();
      child.kill("SIGTERM");
    },
    /** Ends whatever is left of it. */
    end() {
      try {
        process.kill(-child.pid, "SIGKILL");
      } catch {
        // Nothing is left.
      }
    },
  };
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
