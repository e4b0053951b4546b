// In the extension host of a real VS Code, with the extension as it was packed: what its parts give to the editor.
const assert = require("node:assert/strict");
const { readFileSync } = require("node:fs");
const path = require("node:path");
const vscode = require("vscode");

const { RULELINE_TEST_ROOT: ROOT, RULELINE_TEST_BASE: BASE } = process.env;
const say = globalThis.say;
const tools = import(path.join(__dirname, "..", "checks.mjs"));

const uri = (name) => vscode.Uri.file(path.join(ROOT, name));
const ofRuleline = (document) => vscode.languages.getDiagnostics(document.uri).filter((one) => one.source === "ruleline");

async function until(what) {
  const found = await (await tools).until(what, 30_000);
  assert.ok(found, `not within 30 s: ${what}`);
  return found;
}

async function open(name) {
  const document = await vscode.workspace.openTextDocument(uri(name));
  await vscode.window.showTextDocument(document);
  return document;
}

async function insert(document, line, text) {
  const edit = new vscode.WorkspaceEdit();
  edit.insert(document.uri, new vscode.Position(line, 0), text);
  await vscode.workspace.applyEdit(edit);
}

async function revert() {
  await vscode.commands.executeCommand("workbench.action.files.revert");
}

/** The one process of the server that came with the extension. */
async function server() {
  const { processes } = await tools;
  const extension = vscode.extensions.getExtension("ruleline.ruleline");
  const program = path.join(extension.extensionPath, "server/ruleline-server");
  const [one] = await until(() => {
    const all = processes(program);
    return all.length === 1 && all;
  });
  return one.id;
}

async function statusText() {
  await vscode.commands.executeCommand("ruleline.showStatus");
  return vscode.window.activeTextEditor.document.getText();
}

describe("the extension in the extension host", () => {
  it("is activated and starts the server that it brings", async () => {
    await until(() => vscode.extensions.getExtension("ruleline.ruleline")?.isActive);
    await server();
  });

  it("registers every command that its manifest has", async () => {
    const known = await vscode.commands.getCommands();
    const { contributes } = vscode.extensions.getExtension("ruleline.ruleline").packageJSON;
    const missing = contributes.commands.map(({ command }) => command).filter((command) => !known.includes(command));
    assert.deepEqual(missing, []);
  });

  it("underlines the very call, behind tabs and an emoji", async () => {
    const document = await open("src/signs.py");
    await insert(document, 4, '\tmark = "🌦️👩‍🚀"; value = eval(name)\n');
    const [found] = await until(() => ofRuleline(document).length > 0 && ofRuleline(document));
    assert.equal(found.code.value ?? found.code, "no-eval");
    assert.equal(found.severity, vscode.DiagnosticSeverity.Error);
    assert.match(document.getText(found.range), /^eval\b/);
    assert.equal(document.lineAt(found.range.start.line).text.indexOf("eval"), found.range.start.character);
    assert.match(found.message, /ast\.literal_eval/);
  });

  it("says nothing of lines that were there before", async () => {
    const document = await open("src/signs.py");
    assert.equal(ofRuleline(document).length, 1);
  });

  it("offers to go to the rule and to explain it, and goes there", async () => {
    const document = await open("src/signs.py");
    const [found] = await until(() => ofRuleline(document).length > 0 && ofRuleline(document));
    const actions = await vscode.commands.executeCommand("vscode.executeCodeActionProvider", document.uri, found.range);
    const titles = actions.map(({ title }) => title);
    for (const title of ["Go to rule no-eval", "Explain no-eval"]) {
      assert.ok(titles.includes(title), titles.join(", "));
    }
    const { command } = actions.find(({ title }) => title.startsWith("Go to rule"));
    await vscode.commands.executeCommand(command.command, ...command.arguments);
    await until(() => vscode.window.activeTextEditor?.document.uri.path.endsWith("/.ruleline/rules.toml"));
    const editor = vscode.window.activeTextEditor;
    assert.match(editor.document.getText(editor.selection) + editor.document.lineAt(editor.selection.start).text, /no-eval/);
  });

  it("takes the underline away with the call", async () => {
    const document = await open("src/signs.py");
    const edit = new vscode.WorkspaceEdit();
    const [found] = ofRuleline(document);
    edit.replace(document.uri, found.range, "str(name)");
    await vscode.workspace.applyEdit(edit);
    await until(() => ofRuleline(document).length === 0);
    await revert();
  });

  it("checks the rulebook while it is typed", async () => {
    const document = await open(".ruleline/rules.toml");
    await insert(document, 0, 'colour = "red"\n');
    const [found] = await until(() => ofRuleline(document).length > 0 && ofRuleline(document));
    assert.match(found.message, /colour/);
    await revert();
    await until(() => ofRuleline(document).length === 0);
  });

  it("follows the setting for hints and baseline without a new server", async () => {
    const before = await server();
    const document = await open("src/alerts.py");
    await insert(document, 0, "eval(1)\n");
    await document.save();
    await until(() => ofRuleline(document).length === 1);
    const settings = vscode.workspace.getConfiguration("ruleline");
    await settings.update("hints", false, vscode.ConfigurationTarget.Global);
    await settings.update("baseline", "disk", vscode.ConfigurationTarget.Global);
    await until(() => ofRuleline(document).length === 0);
    assert.equal(await server(), before);
    await settings.update("baseline", "all", vscode.ConfigurationTarget.Global);
    await until(() => ofRuleline(document)[0]?.severity === vscode.DiagnosticSeverity.Error);
    for (const name of ["hints", "baseline"]) {
      await settings.update(name, undefined, vscode.ConfigurationTarget.Global);
    }
    const undo = new vscode.WorkspaceEdit();
    undo.delete(document.uri, new vscode.Range(0, 0, 1, 0));
    await vscode.workspace.applyEdit(undo);
    await document.save();
    await until(() => ofRuleline(document).length === 0);
  });

  it("says where everything stands", async () => {
    const text = await statusText();
    assert.match(text, /^Language server: running, version \d/m);
    assert.match(text, /^Program: .*\/server\/ruleline-server \(extension\)/m);
    assert.match(text, /never reviewed/);
  });

  it("writes the sample rulebook nowhere where there is one", async () => {
    const before = readFileSync(uri(".ruleline/rules.toml").fsPath, "utf8");
    await vscode.commands.executeCommand("ruleline.createRulebook");
    assert.equal(vscode.window.activeTextEditor.document.uri.path.endsWith("/.ruleline/rules.toml"), true);
    assert.equal(readFileSync(uri(".ruleline/rules.toml").fsPath, "utf8"), before);
  });

  it("exchanges nothing while nobody does anything", async () => {
    const { sleep, ticks, calls } = await tools;
    await vscode.commands.executeCommand("workbench.action.closeAllEditors");
    const id = await server();
    await sleep(3000);
    const before = { calls: calls(id), server: ticks(id), host: ticks(process.pid) };
    await sleep(5000);
    const spent = (now, then) => `${(now - then) * 10} ms of CPU`;
    say(`idle for 5 s: server ${spent(ticks(id), before.server)}, extension host ${spent(ticks(process.pid), before.host)}`);
    // The same thread of the kernel may have been woken; nothing may have been read or written.
    assert.equal(calls(id), before.calls);
  });

  it("comes back after the server was killed, and shows what it showed", async () => {
    const document = await open("src/signs.py");
    await insert(document, 4, "\texec(name)\n");
    await until(() => ofRuleline(document).length === 1);
    const before = await server();
    process.kill(before, "SIGKILL");
    await until(async () => (await server()) !== before);
    await until(() => ofRuleline(document).length === 1);
    assert.match(await statusText(), /^Language server: running/m);
    await vscode.window.showTextDocument(document);
    await revert();
    await until(() => ofRuleline(document).length === 0);
  });

  it("says what is wrong with a setting that names no server, and mends when it is mended", async () => {
    const { processes } = await tools;
    const settings = vscode.workspace.getConfiguration("ruleline");
    const program = path.join(vscode.extensions.getExtension("ruleline.ruleline").extensionPath, "server/ruleline-server");
    await settings.update("server.path", `${BASE}/nothing`, vscode.ConfigurationTarget.Global);
    await until(() => processes(program).length === 0);
    const says = (pattern) => until(async () => pattern.test(await statusText()));
    await says(/does not run[^]*There is no program at .*nothing\. Mend ruleline\.server\.path/);
    // A program that is no language server ends at once.
    await settings.update("server.path", "/bin/false", vscode.ConfigurationTarget.Global);
    await says(/\/bin\/false did not start/);
    await settings.update("server.path", undefined, vscode.ConfigurationTarget.Global);
    await server();
    await says(/^Language server: running/m);
  });

  it("s29 takes no server from the project's settings", async () => {
    assert.equal(vscode.workspace.getConfiguration("ruleline").get("server.path"), "");
    assert.deepEqual(vscode.workspace.getConfiguration("ruleline").get("server.arguments"), []);
  });
});
