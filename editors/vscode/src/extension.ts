// The extension: what is registered at activation. The language client is loaded when the server starts.

import * as vscode from "vscode";
import { copyReason, Decisions, openDecision, openDecisionRule, reviewDecision, Node } from "./decisions.ts";
import { reviewHooks, trustHooks, untrustHooks } from "./hooks.ts";
import { createRulebook, openRulebook } from "./rulebook.ts";
import { Server } from "./server.ts";
import { showMenu, showStatusItem, StatusText } from "./status.ts";
import { message } from "./text.ts";

let server: Server | undefined;

/** Called by VS Code. */
export function activate(context: vscode.ExtensionContext): void {
  const started = new Server(context);
  server = started;
  const decisions = new Decisions(started, context.workspaceState);
  const status = new StatusText(started);
  // Arguments are taken only from our own view: whatever a keybinding, a task or a link gives is left aside.
  const commands: Record<string, (...given: unknown[]) => unknown> = {
    menu: () => showMenu(started),
    showStatus: () => status.show(),
    showOutput: () => {
      started.log.show();
    },
    restartServer: () => started.restart(),
    openRulebook: () => openRulebook(started),
    createRulebook: () => createRulebook(),
    reviewProjectHooks: () => reviewHooks(started),
    trustProjectHooks: () => trustHooks(started),
    untrustProjectHooks: () => untrustHooks(started),
    openWalkthrough: () =>
      vscode.commands.executeCommand("workbench.action.openWalkthrough", `${context.extension.id}#start`, false),
    refreshDecisions: () => decisions.refresh(),
    showAllDecisions: () => {
      decisions.showAll(true);
    },
    showRefusals: () => {
      decisions.showAll(false);
    },
    openDecision: ofNode(openDecision),
    openDecisionRule: ofNode((node) => openDecisionRule(started, node)),
    reviewDecision: ofNode((node) => reviewDecision(started, node)),
    copyReason: ofNode(copyReason),
  };
  for (const [name, run] of Object.entries(commands)) {
    context.subscriptions.push(vscode.commands.registerCommand(`ruleline.${name}`, said(run)));
  }
  context.subscriptions.push(
    decisions,
    vscode.workspace.registerTextDocumentContentProvider("ruleline", status),
    showStatusItem(started),
    started.onDidChange(() => {
      tellContext(started);
    }),
    started.startWhenNeeded(),
  );
  tellContext(started);
}

/** Called by VS Code, which waits for the end of the server. */
export function deactivate(): Promise<void> | undefined {
  return server?.stop();
}

/** What the welcome texts and the walkthrough go by. */
function tellContext({ state, status }: Server): void {
  void vscode.commands.executeCommand("setContext", "ruleline.server", state);
  void vscode.commands.executeCommand("setContext", "ruleline.hasRules", (status?.rules ?? 0) > 0);
}

function ofNode(run: (node: Node) => unknown): (given: unknown) => unknown {
  return (given) => (given instanceof Node ? run(given) : undefined);
}

/** Says a command's failure as it is, without a stack or the editor's own words around it. */
function said(run: (...given: unknown[]) => unknown): (...given: unknown[]) => Promise<void> {
  return async (...given) => {
    try {
      await run(...given);
    } catch (error) {
      const why = message(error instanceof Error ? error.message : String(error)).replace(/^Ruleline: /u, "");
      void vscode.window.showErrorMessage(`Ruleline: ${why}`);
    }
  };
}
