// The item in the status bar, its menu, and the text that says where everything stands.

import * as vscode from "vscode";
import type { Hooks, Status } from "./protocol.ts";
import type { Server, State } from "./server.ts";
import { counted, label, plain } from "./text.ts";

const STATES: Record<State, string> = {
  idle: "not started",
  starting: "starting",
  running: "running",
  restarting: "ended, and is started again",
  failed: "does not run",
};

const HOOKS: Record<Hooks["state"], string> = {
  notReviewed: "Hooks not reviewed",
  changed: "Hooks changed",
  trusted: "Hooks trusted",
  refused: "Hooks unreadable",
  lost: "Hook grants unreadable",
};

/** The states from the one that matters most, for a bar that has room for one. */
const ORDER: Hooks["state"][] = ["lost", "refused", "changed", "notReviewed", "trusted"];

/** Shows the server's state in the status bar. */
export function showStatusItem(server: Server): vscode.Disposable {
  const item = vscode.window.createStatusBarItem("ruleline.status", vscode.StatusBarAlignment.Left, 0);
  item.name = "Ruleline";
  item.command = "ruleline.menu";
  const draw = (): void => {
    if (server.state === "idle") {
      item.hide();
      return;
    }
    item.text = text(server);
    item.tooltip = tooltip(server);
    item.accessibilityInformation = { label: `Ruleline: ${facts(server).join(", ")}` };
    item.backgroundColor = background(server);
    item.show();
  };
  draw();
  return vscode.Disposable.from(item, server.onDidChange(draw));
}

function text({ state, status }: Server): string {
  switch (state) {
    case "starting":
    case "restarting":
      return "$(law) Ruleline: starting";
    case "failed":
      return "$(error) Ruleline";
    default: {
      const parts = [status?.rules === undefined ? "$(law) Ruleline" : `$(law) ${counted(status.rules, "rule")}`];
      if (status?.restricted === true) {
        parts.push("$(workspace-untrusted) restricted");
      }
      const hooks = worst(status);
      if (hooks !== undefined && hooks !== "trusted") {
        parts.push(`$(shield) ${HOOKS[hooks].toLowerCase()}`);
      }
      const refused = status?.decisions?.refused ?? 0;
      if (refused > 0) {
        parts.push(`$(circle-slash) ${refused}`);
      }
      return parts.join("  ");
    }
  }
}

function background({ state, status }: Server): vscode.ThemeColor | undefined {
  if (state === "failed") {
    return new vscode.ThemeColor("statusBarItem.errorBackground");
  }
  const hooks = worst(status);
  const warns = (hooks !== undefined && hooks !== "trusted") || status?.log?.state === "broken";
  return warns ? new vscode.ThemeColor("statusBarItem.warningBackground") : undefined;
}

function worst(status: Status | undefined): Hooks["state"] | undefined {
  return ORDER.find((state) => status?.hooks.some((hooks) => hooks.state === state));
}

function tooltip(server: Server): vscode.MarkdownString {
  // Appended as text, so that nothing in it is Markdown.
  const shown = new vscode.MarkdownString("**Ruleline**\n\n");
  for (const fact of facts(server)) {
    shown.appendText(fact).appendMarkdown("\n\n");
  }
  return shown;
}

/** What is to be said of the server, a line each. */
function facts(server: Server): string[] {
  const { state, status, problem } = server;
  if (state !== "running") {
    return [`Language server: ${STATES[state]}`, ...(problem === undefined ? [] : [plain(problem, 400)])];
  }
  const facts: string[] = [];
  if (status?.restricted === true) {
    facts.push("Restricted Mode: hooks can be read and nothing can be trusted");
  }
  if (status?.rules !== undefined) {
    const books = status.rulebooks.length === 0 ? "no rulebook" : counted(status.rulebooks.length, "rulebook");
    facts.push(`${counted(status.rules, "rule")} in ${books}`);
  }
  const problems = status?.rulebooks.filter((book) => book.problems > 0) ?? [];
  facts.push(...problems.map((book) => `${counted(book.problems, "problem")} in ${plain(book.path, 200)}`));
  facts.push(
    ...(status?.hooks ?? []).map((hooks) => `${HOOKS[hooks.state]}: ${plain(hooks.message ?? hooks.root, 300)}`),
  );
  if (status?.decisions !== undefined) {
    const { refused, asked, judged } = status.decisions;
    facts.push(`Agents since the start: ${refused} refused, ${asked} asked, ${counted(judged, "call")} judged`);
  }
  if (status?.log?.state === "broken") {
    facts.push(`The record of decisions cannot be read: ${plain(status.log.message ?? "", 300)}`);
  } else if (status?.log?.state === "off") {
    facts.push("Decisions are not recorded (log = off)");
  }
  return facts.length === 0 ? ["Language server: running"] : facts;
}

/** The menu behind the item: what can be done now. */
export async function showMenu(server: Server): Promise<void> {
  const hooks = worst(server.status);
  const running = server.state === "running";
  const trusted = vscode.workspace.isTrusted;
  const entries: (vscode.QuickPickItem & { command?: string })[] = [];
  const add = (icon: string, title: string, command: string, description = ""): void => {
    entries.push({ label: `$(${icon}) ${title}`, description: label(description), command });
  };
  if (hooks !== undefined && running) {
    add("shield", "Review Hooks", "ruleline.reviewProjectHooks", HOOKS[hooks].toLowerCase());
    if (trusted && (hooks === "trusted" || hooks === "changed")) {
      add("circle-slash", "Untrust Hooks...", "ruleline.untrustProjectHooks");
    }
  }
  if (!trusted) {
    add("workspace-untrusted", "Manage Workspace Trust", "workbench.trust.manage", "Restricted Mode");
  }
  const rules = server.status?.rules;
  add("law", "Open Rulebook", "ruleline.openRulebook", rules === undefined ? "" : counted(rules, "rule"));
  add("list-unordered", "Show Agent Decisions", "ruleline.decisions.focus");
  entries.push({ label: "Server", kind: vscode.QuickPickItemKind.Separator });
  add("info", "Show Status", "ruleline.showStatus");
  add("output", "Show Output", "ruleline.showOutput");
  add("refresh", "Restart Server", "ruleline.restartServer", STATES[server.state]);
  add("book", "Get Started", "ruleline.openWalkthrough");
  const chosen = await vscode.window.showQuickPick(entries, { title: "Ruleline", placeHolder: facts(server)[0] ?? "" });
  if (chosen?.command !== undefined) {
    await vscode.commands.executeCommand(chosen.command);
  }
}

const STATUS = vscode.Uri.parse("ruleline:/Ruleline%20Status.txt");

/** The text that says where everything stands: what a person would send with a question. */
export class StatusText implements vscode.TextDocumentContentProvider {
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly #server: Server;
  readonly onDidChange = this.#changed.event;

  constructor(server: Server) {
    this.#server = server;
  }

  async show(): Promise<void> {
    if (this.#server.state === "running") {
      await this.#server.ask();
    }
    this.#changed.fire(STATUS);
    await vscode.window.showTextDocument(STATUS, { preview: true });
  }

  provideTextDocumentContent(): string {
    const { state, found, version, status } = this.#server;
    const lines = [
      `Language server: ${STATES[state]}${version === undefined ? "" : `, version ${plain(version, 60)}`}`,
      ...(found === undefined ? [] : [`Program: ${plain(found.program)} (${found.from})`]),
      `Workspace: ${vscode.workspace.isTrusted ? "trusted" : "Restricted Mode"}`,
      "",
      ...facts(this.#server),
    ];
    if (status !== undefined && status.rulebooks.length > 0) {
      lines.push("", "Rulebooks:");
      for (const book of status.rulebooks) {
        lines.push(`  ${plain(book.path)}: ${counted(book.rules, "rule")}, ${counted(book.problems, "problem")}`);
      }
    }
    return `${lines.join("\n")}\n`;
  }
}
