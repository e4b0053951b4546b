// Rulebooks: opening one, and writing a first one into a project.
//
// The samples are the walkthrough's rule and those of `ruleline init`.

import { constants } from "node:fs";
import { lstat, mkdir, open } from "node:fs/promises";
import * as vscode from "vscode";
import python from "../../../hook-bin/src/commands/packs/python.toml";
import starter from "../../../hook-bin/src/commands/packs/starter.toml";
import walkthrough from "../media/walkthrough/rulebook.md";
import type { Server } from "./server.ts";
import { counted, fenced, label } from "./text.ts";

const SAMPLES = [
  { label: "One rule, to try it", detail: "No TODO in new lines", text: fenced(walkthrough, "toml") },
  { label: "Python", detail: "No eval, no shell, no pickle, migrations that go back, no secrets", text: python },
  { label: "Any language", detail: "No secrets, no conflict markers; every key of a rule explained", text: starter },
];

/** Opens the rulebook; offers to write one where there is none. */
export async function openRulebook(server: Server): Promise<void> {
  const books = await rulebooks(server);
  if (books.length === 0) {
    const create = "Create Rulebook";
    const said = "Ruleline: There is no rulebook in this workspace.";
    if ((await vscode.window.showInformationMessage(said, ...(canCreate() ? [create] : []))) === create) {
      await createRulebook();
    }
    return;
  }
  const items = books.map(({ uri, about }) => ({
    label: label(vscode.workspace.asRelativePath(uri)),
    description: label(about),
    uri,
  }));
  const picked =
    items.length === 1 ? items[0] : await vscode.window.showQuickPick(items, { placeHolder: "Which rulebook?" });
  if (picked !== undefined) {
    await vscode.window.showTextDocument(picked.uri);
  }
}

/** Those that the server goes by, and those that lie in the workspace's folders. */
async function rulebooks(server: Server): Promise<{ uri: vscode.Uri; about: string }[]> {
  const books = new Map<string, { uri: vscode.Uri; about: string }>();
  for (const { uri } of vscode.workspace.workspaceFolders ?? []) {
    const book = vscode.Uri.joinPath(uri, ".ruleline", "rules.toml");
    if (await exists(book)) {
      books.set(book.fsPath, { uri: book, about: "" });
    }
  }
  for (const { path, rules, problems } of server.status?.rulebooks ?? []) {
    const uri = vscode.Uri.file(path);
    const wrong = problems > 0 ? `, ${counted(problems, "problem")}` : "";
    books.set(uri.fsPath, { uri, about: `${counted(rules, "rule")}${wrong}` });
  }
  return [...books.values()];
}

async function exists(uri: vscode.Uri): Promise<boolean> {
  try {
    return ((await vscode.workspace.fs.stat(uri)).type & vscode.FileType.File) !== 0;
  } catch {
    return false;
  }
}

function canCreate(): boolean {
  return vscode.workspace.isTrusted && (vscode.workspace.workspaceFolders?.length ?? 0) > 0;
}

/** Writes a sample rulebook into a folder of the workspace and opens it; one that is there is opened as it is. */
export async function createRulebook(): Promise<void> {
  if (!canCreate()) {
    void vscode.window.showInformationMessage("Ruleline: Open a folder that you trust to create a rulebook in it.");
    return;
  }
  const folder = await chooseFolder();
  if (folder === undefined) {
    return;
  }
  const book = vscode.Uri.joinPath(folder, ".ruleline", "rules.toml");
  if (!(await exists(book))) {
    const sample = await vscode.window.showQuickPick(SAMPLES, { title: "Create Rulebook", placeHolder: "Start from" });
    if (sample === undefined) {
      return;
    }
    try {
      await writeNew(vscode.Uri.joinPath(folder, ".ruleline").fsPath, book.fsPath, sample.text);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      void vscode.window.showErrorMessage(`Ruleline: The rulebook was not written: ${label(why, 300)}`);
      return;
    }
  }
  await vscode.window.showTextDocument(book);
}

async function chooseFolder(): Promise<vscode.Uri | undefined> {
  const folders = vscode.workspace.workspaceFolders ?? [];
  const folder = folders.length > 1 ? await vscode.window.showWorkspaceFolderPick() : folders[0];
  return folder?.uri;
}

/** Writes a file that is not there yet into a folder that is no link: a link of the project would lead elsewhere. */
async function writeNew(folder: string, file: string, text: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  if (!(await lstat(folder)).isDirectory()) {
    throw new Error(`${folder} is no folder of its own`);
  }
  // On a platform without O_NOFOLLOW it counts as nothing; O_EXCL refuses a link as well.
  const flags = constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY | constants.O_NOFOLLOW;
  const handle = await open(file, flags, 0o644);
  try {
    await handle.writeFile(text);
  } finally {
    await handle.close();
  }
}
