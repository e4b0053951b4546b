// The hooks of a project: reading them and taking trust back. Trusting is offered by the server, after the review.

import * as vscode from "vscode";
import { Command, type Hooks } from "./protocol.ts";
import type { Server } from "./server.ts";
import { label } from "./text.ts";

/** Opens the review of a root's hooks. */
export async function reviewHooks(server: Server): Promise<void> {
  const hooks = await chooseHooks(server, () => true);
  if (hooks !== undefined) {
    await server.execute(Command.reviewHooks, { root: rootOf(hooks) });
  }
}

/** Opens the review of a root's hooks and says how to go on; nothing is trusted by a command alone. */
export async function trustHooks(server: Server): Promise<void> {
  const hooks = await chooseHooks(server, (one) => one.state !== "trusted");
  if (hooks === undefined) {
    return;
  }
  await server.execute(Command.reviewHooks, { root: rootOf(hooks) });
  void vscode.window.showInformationMessage(
    "Ruleline: Read the review to its end. Then choose Trust above its first line.",
  );
}

/** Takes trust back; the server asks before it does. */
export async function untrustHooks(server: Server): Promise<void> {
  const hooks = await chooseHooks(server, (one) => one.state === "trusted" || one.state === "changed");
  if (hooks !== undefined) {
    await server.execute(Command.untrustHooks, { root: rootOf(hooks) });
  }
}

function rootOf(hooks: Hooks): string {
  return vscode.Uri.file(hooks.root).toString();
}

/** The hooks that are meant: the only ones, or those that the person picks. */
async function chooseHooks(server: Server, fits: (hooks: Hooks) => boolean): Promise<Hooks | undefined> {
  const status = server.status ?? (await server.ask());
  const hooks = status.hooks.filter(fits);
  if (hooks.length === 0) {
    const none = status.hooks.length === 0 ? "There are no hooks in this workspace." : "There are no such hooks here.";
    void vscode.window.showInformationMessage(`Ruleline: ${none}`);
    return undefined;
  }
  if (hooks.length === 1) {
    return hooks[0];
  }
  const picked = await vscode.window.showQuickPick(
    hooks.map((one) => ({ label: label(one.root), description: label(one.message ?? ""), hooks: one })),
    { title: "Hooks", placeHolder: "Whose hooks?" },
  );
  return picked?.hooks;
}
