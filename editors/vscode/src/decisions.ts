// The view of what agents were answered, newest first: filled when the server starts, then told of each decision.

import * as vscode from "vscode";
import { Command, readDecisions, type Decision, type Finding } from "./protocol.ts";
import type { Server } from "./server.ts";
import { label, plain } from "./text.ts";

/** Most decisions that are kept. */
const MOST = 500;
/** How many are asked for at the start. */
const FIRST = 200;
/** Whether all decisions are shown, or only what was refused or asked; kept for the workspace. */
const ALL = "ruleline.allDecisions";

/** A decision in the tree, or one of its findings. */
export class Node {
  readonly decision: Decision;
  readonly finding: Finding | undefined;

  constructor(decision: Decision, finding?: Finding) {
    this.decision = decision;
    this.finding = finding;
  }
}

/** The decisions of agents in this workspace. */
export class Decisions implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  readonly #server: Server;
  readonly #memento: vscode.Memento;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #view: vscode.TreeView<Node>;
  readonly #listening: vscode.Disposable;
  /** Newest first. */
  #decisions: Decision[] = [];
  #unseen = 0;

  readonly onDidChangeTreeData = this.#changed.event;

  constructor(server: Server, memento: vscode.Memento) {
    this.#server = server;
    this.#memento = memento;
    this.#view = vscode.window.createTreeView("ruleline.decisions", { treeDataProvider: this });
    this.#listening = vscode.Disposable.from(
      this.#view,
      this.#changed,
      server.onDidDecide((decision) => {
        this.#add(decision);
      }),
      server.onDidStart(() => void this.refresh().catch(() => undefined)),
      this.#view.onDidChangeVisibility(() => {
        this.#see();
      }),
    );
    this.showAll(this.#all);
  }

  dispose(): void {
    this.#listening.dispose();
  }

  get #all(): boolean {
    return this.#memento.get(ALL, false);
  }

  /** Shows all decisions, or only what was refused or asked. */
  showAll(all: boolean): void {
    void this.#memento.update(ALL, all);
    void vscode.commands.executeCommand("setContext", ALL, all);
    this.#changed.fire();
  }

  /** Asks the server for what it knows. */
  async refresh(): Promise<void> {
    const knows = this.#server.knows(Command.decisions);
    void vscode.commands.executeCommand("setContext", "ruleline.decisionsUnsupported", !knows);
    if (knows) {
      const known = readDecisions(await this.#server.execute(Command.decisions, { limit: FIRST }));
      // What was told meanwhile may be newer than the answer.
      const ids = new Set(known.map(({ id }) => id));
      const told = this.#decisions.filter(({ id }) => !ids.has(id));
      this.#decisions = [...told, ...known].sort((one, other) => (other.time ?? 0) - (one.time ?? 0)).slice(0, MOST);
    }
    this.#changed.fire();
  }

  getChildren(node?: Node): Node[] {
    if (node === undefined) {
      return this.#decisions.filter((decision) => this.#shows(decision)).map((decision) => new Node(decision));
    }
    return node.decision.findings.map((finding) => new Node(node.decision, finding));
  }

  getTreeItem({ decision, finding }: Node): vscode.TreeItem {
    return finding === undefined ? ofDecision(decision) : ofFinding(decision, finding);
  }

  #shows(decision: Decision): boolean {
    return this.#all || decision.decision === "deny" || decision.decision === "ask";
  }

  #add(decision: Decision): void {
    if (this.#decisions.some(({ id }) => id === decision.id)) {
      return;
    }
    this.#decisions = [decision, ...this.#decisions].slice(0, MOST);
    if (this.#shows(decision)) {
      this.#unseen += 1;
      this.#see();
      this.#changed.fire();
    }
  }

  /** The number on the view's icon is that of the decisions nobody has seen yet. */
  #see(): void {
    if (this.#view.visible) {
      this.#unseen = 0;
    }
    const value = this.#unseen;
    this.#view.badge = value === 0 ? undefined : { value, tooltip: `${value} new` };
  }
}

const WORDS = { deny: "refused", ask: "asked", allow: "allowed", none: "nothing to say" } as const;

const ICONS = {
  deny: new vscode.ThemeIcon("circle-slash", new vscode.ThemeColor("list.errorForeground")),
  ask: new vscode.ThemeIcon("question", new vscode.ThemeColor("list.warningForeground")),
  allow: new vscode.ThemeIcon("pass"),
  none: new vscode.ThemeIcon("dash"),
} as const;

function ofDecision(decision: Decision): vscode.TreeItem {
  const { agent, tool, findings } = decision;
  const several = findings.length > 1;
  const collapsed = several ? vscode.TreeItemCollapsibleState.Collapsed : vscode.TreeItemCollapsibleState.None;
  const what = decision.path === undefined ? "" : ` ${basename(decision.path)}`;
  const name = plain(`${tool || decision.event}${what}`, 120);
  const item = new vscode.TreeItem(name, collapsed);
  item.id = decision.id;
  const rules = [...new Set(findings.map(({ rule }) => rule))];
  const spoke = rules.length > 1 ? `${rules[0] ?? ""} +${rules.length - 1}` : (rules[0] ?? WORDS[decision.decision]);
  item.description = plain([agent, spoke, clock(decision.time)].filter((part) => part !== "").join(" · "), 200);
  item.iconPath = ICONS[decision.decision];
  item.tooltip = [
    `${agent}: ${WORDS[decision.decision]}`,
    ...(decision.path === undefined ? [] : [decision.path]),
    ...(decision.reason === "" ? [] : [decision.reason]),
  ]
    .map((line) => plain(line))
    .join("\n");
  item.accessibilityInformation = { label: plain(`${WORDS[decision.decision]}: ${name}, ${spoke}`, 300) };
  item.contextValue = context(decision, findings[0]);
  item.command = { command: "ruleline.openDecision", title: "Open File", arguments: [new Node(decision)] };
  return item;
}

function ofFinding(decision: Decision, finding: Finding): vscode.TreeItem {
  const item = new vscode.TreeItem(plain(finding.rule, 120));
  const line = finding.line === undefined ? "" : `line ${finding.line}`;
  item.description = plain([line, finding.effect].filter((part) => part !== "").join(" · "), 100);
  item.iconPath = new vscode.ThemeIcon("law");
  item.contextValue = context({ ...decision, reviewable: false }, finding);
  item.command = { command: "ruleline.openDecision", title: "Open File", arguments: [new Node(decision, finding)] };
  return item;
}

/** What the menus of `package.json` ask for. */
function context(decision: Decision, finding: Finding | undefined): string {
  const words = ["decision"];
  if (fileOf(decision) !== undefined) {
    words.push("file");
  }
  if (finding?.rulebook !== undefined) {
    words.push("rule");
  }
  if (decision.reviewable) {
    words.push("reviewable");
  }
  if (decision.reason !== "") {
    words.push("reason");
  }
  return words.join(".");
}

function basename(path: string): string {
  return path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
}

/** The time of today's decisions, the day and time of older ones. */
function clock(time: number | undefined): string {
  if (time === undefined) {
    return "";
  }
  const at = new Date(time);
  const isToday = at.toDateString() === new Date().toDateString();
  return isToday ? at.toLocaleTimeString() : at.toLocaleString([], { dateStyle: "short", timeStyle: "short" });
}

/** The file that a decision is about; only files, whatever a record says. */
function fileOf(decision: Decision): vscode.Uri | undefined {
  if (decision.uri !== undefined) {
    const uri = vscode.Uri.parse(decision.uri);
    return uri.scheme === "file" ? uri : undefined;
  }
  return decision.path === undefined ? undefined : vscode.Uri.file(decision.path);
}

/** Opens the file of a decision at the line where the refused one would have stood. */
export async function openDecision({ decision, finding }: Node): Promise<void> {
  const uri = fileOf(decision);
  if (uri === undefined) {
    return;
  }
  const line = (finding ?? decision.findings[0])?.line;
  const at = line === undefined ? {} : { selection: new vscode.Range(line - 1, 0, line - 1, 0) };
  try {
    await vscode.window.showTextDocument(uri, at);
  } catch {
    const name = label(basename(uri.path));
    void vscode.window.showInformationMessage(`Ruleline: ${name} is not there: the agent's edit was not made.`);
  }
}

/** Opens the rulebook at the rule that spoke. */
export async function openDecisionRule(server: Server, { decision, finding }: Node): Promise<void> {
  const spoke = finding ?? decision.findings[0];
  if (spoke?.rulebook !== undefined) {
    const rulebook = vscode.Uri.file(spoke.rulebook).toString();
    await server.execute(Command.openRule, { rulebook, rule: spoke.rule });
  }
}

/** Opens the text with what was refused, from which it can be allowed once. */
export async function reviewDecision(server: Server, { decision }: Node): Promise<void> {
  await server.execute(Command.reviewRefusal, { id: decision.id });
}

/** Puts the reason onto the clipboard. */
export async function copyReason({ decision }: Node): Promise<void> {
  await vscode.env.clipboard.writeText(plain(decision.reason));
}
