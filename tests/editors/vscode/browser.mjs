// A person at the window: Restricted Mode, trust, squiggle, light bulb, hooks, an agent's refusals, the end.
import { appendFileSync, existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { check, processes, sleep, until } from "./checks.mjs";
import { start } from "./editor.mjs";
import { Person } from "./person.mjs";

export async function inBrowser(given, project) {
  const editor = await start(given);
  const person = new Person(editor.page, given.pictures);
  const program = join(editor.extensions, "ruleline.ruleline-0.1.0", "server", "ruleline-server");
  const servers = () => processes(program).map(({ id }) => id);
  try {
    await editor.page.goto(`${editor.address}/?folder=${project.root}`);
    await editor.page.waitForSelector(".monaco-workbench");
    await restricted(person, project, servers, given);
    await squiggle(person, project);
    await hooks(person, project);
    await decisions(person, project);
    await activation(person);
  } catch (error) {
    await editor.page.screenshot({ path: join(given.scratch, "failed.png") });
    check("a person gets to the end", false, error.stack);
  }
  await ends(editor, servers, given);
}

async function restricted(person, project, servers, { state }) {
  check("in Restricted Mode a server runs", await until(() => servers().length === 1), servers());
  await person.open(".ruleline/hooks/hooks.yaml");
  await person.lens("Review").waitFor();
  check("the review of hooks is offered", true);
  check("trusting them is not", (await person.lens("Trust").count()) === 0);
  check("the status bar says that hooks were not reviewed", await person.says("hooks not reviewed"), await person.status().innerText());
  await person.command("Ruleline: Review Hooks");
  await person.page.locator(".tab.active", { hasText: /^[0-9a-f]{12}\.txt/ }).waitFor();
  check("they can be read", (await person.line("were never reviewed").count()) + (await person.page.locator(".view-line").count()) > 0);
  await person.command("View: Close All Editors");
  await sleep(500);
  check("no program of the project was run", project.marks().length === 0, project.marks());
  check("nothing was granted", !existsSync(join(state, "grants")) || readdirSync(join(state, "grants")).length === 0);
  const before = servers()[0];
  await person.command("Workspaces: Manage Workspace Trust");
  await person.page.getByRole("button", { name: "Trust", exact: true }).first().click();
  check("granting trust starts the server anew", await until(() => servers().length === 1 && servers()[0] !== before), servers());
  check("and still nothing of the project ran", project.marks().length === 0, project.marks());
  // The page of trust stands over the editor and takes its keys.
  await person.page.keyboard.press("Escape");
  const over = person.page.locator(".monaco-modal-editor-block, .modal-editor-block");
  if (await over.count()) {
    await over.getByRole("button", { name: /^Close/ }).first().click();
  }
  await person.command("View: Close All Editors");
}

async function squiggle(person, project) {
  const { page } = person;
  await person.open("src/report.py");
  await person.quiet();
  await person.go(14, 1);
  await page.keyboard.press("End");
  await page.keyboard.type("\n\n\ndef threshold(expression):\n    return eval(expression)", { delay: 15 });
  await page.waitForSelector(".squiggly-error");
  check("a call that the rulebook forbids is underlined", true);
  await person.go(18, 13);
  await person.command("Show or Focus Hover");
  await page.locator(".monaco-hover", { hasText: "ast.literal_eval" }).first().waitFor();
  const said = await page.locator(".monaco-hover", { hasText: "ast.literal_eval" }).first().innerText();
  check("pointing at it says the rule and what to do instead", /no-eval/.test(said), said);
  await person.picture("squiggle");
  await page.keyboard.press("Escape");
  await person.go(18, 14);
  const bulb = page.locator("[class*='lightbulb'], [class*='light-bulb'], .lightBulbWidget").first();
  check("a light bulb stands beside it", await bulb.waitFor({ timeout: 10_000 }).then(() => true, () => false));
  const row = await person.actions("Go to rule no-eval");
  await person.picture("quick-fix");
  await row.click();
  await person.tab("rules.toml");
  check("the menu goes to the rule", (await person.line("no-eval").count()) > 0);
  await person.open("src/report.py");
  await person.go(18, 1);
  await page.keyboard.press("End");
  await page.keyboard.press("Shift+Home");
  await page.keyboard.press("Shift+Home");
  await page.keyboard.type("    return float(expression); print(expression)");
  await page.waitForSelector(".squiggly-error", { state: "detached" });
  check("the underline goes with the call", true);
  await page.waitForSelector(".squiggly-warning");
  await person.go(18, 34);
  await (await person.actions("Write log.info(expression) instead")).click();
  await page.waitForSelector(".squiggly-warning", { state: "detached" });
  check("the rule's fix mends the line", (await person.line("log.info(expression)").count()) === 1);
  await page.keyboard.press("Control+s");
}

async function hooks(person, project) {
  const { page } = person;
  check("an agent's session runs no unread hook", (await project.call("Bash", { command: "git push" })) === "silent" && project.marks().length === 0);
  await person.command("View: Close All Editors");
  await person.command("Ruleline: Trust Hooks...");
  await page.locator(".tab.active", { hasText: /^[0-9a-f]{12}\.txt/ }).waitFor();
  check("the command to trust opens the review only", (await page.locator(".monaco-dialog-box").count()) === 0);
  await page.waitForSelector(".editor-instance .view-line");
  const text = await page.locator(".editor-instance .view-lines").first().innerText();
  check("which shows the files whole", /no-push/.test(text), text.slice(0, 300));
  await page.keyboard.press("Control+Home");
  await page.keyboard.type("x");
  const readOnly = page.locator(".monaco-editor-overlaymessage", { hasText: /read-only/ });
  check("and cannot be changed", await readOnly.waitFor({ timeout: 10_000 }).then(() => true, () => false));
  await person.quiet();
  // The remark goes with the cursor, and would stand over the lens.
  await person.go(4, 1);
  await readOnly.waitFor({ state: "hidden" });
  const trust = person.lens("Trust these 2 files");
  await trust.waitFor();
  await person.picture("trust");
  await trust.click();
  const dialog = page.locator(".monaco-dialog-box");
  await dialog.waitFor();
  const question = await dialog.innerText();
  check("then a person is asked, with the root", question.includes(project.root), question);
  await dialog.getByRole("button", { name: "Trust", exact: true }).click();
  check("trusted, the status bar warns no more", await until(async () => !(await person.status().innerText()).includes("hooks")), await person.status().innerText());
  check("the next session runs the hook", (await project.call("Bash", { command: "git push" }, "two")) === "deny" && project.marks().length === 1, project.marks());
  const script = project.file(".ruleline/hooks/no-push.sh");
  const good = readFileSync(script);
  appendFileSync(script, "#");
  check("one more byte, and the status bar says changed", await person.says("hooks changed"), await person.status().innerText());
  check("the hook does not run", (await project.call("Bash", { command: "git push" }, "two")) === "ask" && project.marks().length === 1);
  writeFileSync(script, good);
  check("the very bytes are trusted again", await until(async () => !(await person.status().innerText()).includes("hooks")));
  await person.quiet();
  await person.command("View: Close All Editors");
}

async function decisions(person, project) {
  const { page } = person;
  await person.command("Ruleline: Focus on Agent Decisions View");
  const rows = page.locator(".monaco-list[aria-label='Agent Decisions'] .monaco-list-row");
  await rows.first().waitFor();
  const before = await until(async () => ((await rows.count()) === 2 ? rows.allInnerTexts() : null));
  check("what the hook refused stands there already", before?.every((row) => /Bash[^]*claude/.test(row)), before);
  await person.open("src/alerts.py");
  const edit = {
    file_path: project.file("src/alerts.py"),
    old_string: '    return [one for one in readings if one["celsius"] > 35]',
    new_string: '    limit = eval("35")\n    return [one for one in readings if one["celsius"] > limit]',
  };
  check("an agent's edit is refused", (await project.call("Edit", edit, "three")) === "deny");
  const answered = Date.now();
  await rows.filter({ hasText: "no-eval" }).first().waitFor();
  const row = Date.now() - answered;
  await page.waitForSelector(".squiggly-error");
  const shown = Date.now() - answered;
  console.log(`refusal: in the view after ${row} ms, underlined after ${shown} ms`);
  check("within a second of the hook's answer", Math.max(row, shown) < 1000, [row, shown]);
  check("it stands in the view with agent and rule", /claude.*no-eval/s.test(await rows.first().innerText()), await rows.first().innerText());
  check("and is underlined where it would have stood, while the file is open", true);
  check("the status bar counts it", await person.says("2"), await person.status().innerText());
  await rows.first().click();
  await person.tab("alerts.py");
  await person.quiet();
  await person.widen();
  await person.go(2, 12);
  await person.command("Show or Focus Hover");
  const hover = page.locator(".monaco-hover", { hasText: "claude was refused here" }).first();
  await hover.waitFor();
  check("pointing at it says who was refused, and why", /limit = eval\("35"\)[^]*no-eval: calls eval\. Parse the input/.test(await hover.innerText()), await hover.innerText());
  await person.picture("decisions");
  await page.keyboard.press("Escape");
  await rows.first().hover();
  await rows.first().locator("[aria-label='Review Refusal']").click();
  await page.locator(".tab.active", { hasText: /^[0-9a-f]{12}\.txt/ }).waitFor();
  check("the refusal can be read", await page.locator(".editor-instance .view-line", { hasText: "eval" }).first().waitFor().then(() => true, () => false));
  await person.go(1, 1);
  await person.lens("Allow this once").click();
  const dialog = page.locator(".monaco-dialog-box");
  await dialog.waitFor();
  check("allowing it once asks a person", /once/i.test(await dialog.innerText()), await dialog.innerText());
  await dialog.getByRole("button", { name: /allow/i }).first().click();
  await dialog.waitFor({ state: "hidden" });
  check("it is allowed once", await until(async () => (await project.call("Edit", edit, "three")) !== "deny", 10_000));
  check("and not twice", (await project.call("Edit", edit, "three")) === "deny");
}

async function activation(person) {
  const { page } = person;
  await person.command("View: Close All Editors");
  await person.command("Developer: Show Running Extensions");
  const list = page.locator(".runtime-extensions-editor");
  const row = list.locator(".extension", { hasText: "Ruleline" }).first();
  await list.locator(".extension").first().hover();
  // The slowest stand first.
  const listed = await until(async () => {
    await page.mouse.wheel(0, 200);
    return (await row.count()) > 0;
  }, 20_000);
  const time = listed ? /Activation: (\d+)\s?ms/.exec(await row.innerText()) : null;
  console.log(`activation: ${time?.[1]} ms`);
  check("activation takes less than 200 ms", Number(time?.[1]) < 200, time?.[1]);
}

async function ends(editor, servers, { state }) {
  check("a server runs until the end", servers().length === 1, servers());
  await editor.close();
  check("closing the editor ends the server", await until(() => servers().length === 0, 30_000), servers());
  const run = join(state, "run");
  const left = existsSync(run) ? readdirSync(run, { recursive: true }).filter((name) => /sock|\.s$/.test(name)) : [];
  check("and leaves no socket", left.length === 0, left);
  editor.end();
}
