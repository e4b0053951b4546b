// The server's life: when it is started, with what, and what is known of it. One for the window.
//
// Starting, stopping and restarting wait for each other; nothing here polls.

import * as vscode from "vscode";
import type { Connection } from "./client.ts";
import { findServer, NotFound, type Found } from "./finding.ts";
import { readStatus, Command, type Decision, type Status } from "./protocol.ts";
import { plain } from "./text.ts";

/** Where the server stands. */
export type State = "idle" | "starting" | "running" | "restarting" | "failed";

/** The language server of this window. */
export class Server implements vscode.Disposable {
  readonly log: vscode.LogOutputChannel;
  readonly #extension: vscode.Uri;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #decided = new vscode.EventEmitter<Decision>();
  readonly #started = new vscode.EventEmitter<void>();
  #queue: Promise<void> = Promise.resolve();
  #connection: Connection | undefined;
  #state: State = "idle";
  /** The settings that the server was started with. */
  #launched = "";

  /** The program that runs, and where it was found. */
  found: Found | undefined;
  /** What the server told last. */
  status: Status | undefined;
  /** Why it does not run. */
  problem: string | undefined;

  /** State or status is another. */
  readonly onDidChange = this.#changed.event;
  /** An agent's call was answered. */
  readonly onDidDecide = this.#decided.event;
  /** A server answered, the first one or one that takes another's place. */
  readonly onDidStart = this.#started.event;

  constructor(context: vscode.ExtensionContext) {
    this.log = vscode.window.createOutputChannel("Ruleline", { log: true });
    this.#extension = context.extensionUri;
    context.subscriptions.push(
      this.log,
      this.#changed,
      this.#decided,
      this.#started,
      vscode.workspace.onDidChangeConfiguration((change) => {
        this.#reconfigure(change);
      }),
      // The server learns of trust as it starts and at no other time.
      vscode.workspace.onDidGrantWorkspaceTrust(() => {
        void this.restart();
      }),
    );
  }

  get state(): State {
    return this.#state;
  }

  get version(): string | undefined {
    return this.status?.version ?? this.#connection?.version;
  }

  /** Starts the server as soon as something is open that it could judge. */
  startWhenNeeded(): vscode.Disposable {
    const isFile = (document: vscode.TextDocument): boolean => document.uri.scheme === "file";
    if ((vscode.workspace.workspaceFolders?.length ?? 0) > 0 || vscode.workspace.textDocuments.some(isFile)) {
      void this.restart();
      return new vscode.Disposable(() => undefined);
    }
    const waiting = vscode.workspace.onDidOpenTextDocument((document) => {
      if (isFile(document)) {
        waiting.dispose();
        void this.restart();
      }
    });
    return waiting;
  }

  /** Starts the server, after ending the one that runs. */
  restart(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#end();
      await this.#start();
    });
  }

  /** Ends the server. */
  stop(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#end();
      this.#become("idle");
    });
  }

  dispose(): void {
    void this.stop();
  }

  /** Whether the server that runs has a command. */
  knows(command: string): boolean {
    return this.#state === "running" && (this.#connection?.knows(command) ?? false);
  }

  /** Runs one of the server's commands; fails when there is no server, or when it refuses. */
  async execute(command: string, argument?: object): Promise<unknown> {
    const connection = this.#connection;
    if (connection === undefined || this.#state !== "running") {
      throw new Error("the language server does not run");
    }
    if (!connection.knows(command)) {
      throw new Error("this language server is too old for that; a newer one can do it");
    }
    return connection.execute(command, argument);
  }

  /** Asks the server where everything stands. */
  async ask(): Promise<Status> {
    this.status = readStatus(await this.execute(Command.status));
    this.#changed.fire();
    return this.status;
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    this.#queue = this.#queue.then(work, work);
    return this.#queue;
  }

  #become(state: State, problem?: string): void {
    this.#state = state;
    this.problem = problem;
    this.#changed.fire();
  }

  async #end(): Promise<void> {
    const connection = this.#connection;
    this.#connection = undefined;
    this.status = undefined;
    await connection?.stop();
  }

  async #start(): Promise<void> {
    this.#become("starting");
    this.#launched = launchSettings();
    try {
      const { Connection } = await import("./client.js");
      const found = this.#find();
      this.found = found;
      this.log.info(`starting ${found.program} (${ORIGIN[found.from]})`);
      const connection: Connection = new Connection(
        {
          program: found.program,
          arguments: this.#arguments(),
          environment: settings().get("server.environment", {}),
          options: { trusted: vscode.workspace.isTrusted, ...wishes() },
          log: this.log,
        },
        {
          status: (status) => {
            if (this.#connection === connection) {
              this.status = status;
              this.#changed.fire();
            }
          },
          decision: (decision) => {
            if (this.#connection === connection) {
              this.#decided.fire(decision);
            }
          },
          running: () => {
            if (this.#connection === connection) {
              this.#become("running");
              this.#started.fire();
            }
          },
          restarting: () => {
            if (this.#connection === connection) {
              this.status = undefined;
              this.#become("restarting");
            }
          },
          failed: (why) => {
            if (this.#connection === connection) {
              this.#fail(why);
            }
          },
        },
      );
      this.#connection = connection;
      await connection.start();
    } catch (error) {
      this.#connection = undefined;
      this.#fail(error instanceof Error ? error.message : String(error), error instanceof NotFound);
    }
  }

  #find(): Found {
    return findServer({
      setting: settings().get("server.path", "").trim(),
      extension: this.#extension.fsPath,
      path: process.env.PATH ?? "",
      workspace: (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath),
      platform: process.platform,
    });
  }

  #arguments(): string[] {
    const folder = settings().get("server.stateFolder", "").trim();
    const state = folder === "" ? [] : ["--state-dir", folder];
    const level = vscode.LogLevel[this.log.logLevel].toLowerCase().replace("warning", "warn").replace("off", "error");
    return ["--stdio", "--log", level, ...state, ...settings().get<string[]>("server.arguments", [])];
  }

  #fail(why: string, lacksProgram = false): void {
    this.log.error(plain(why));
    this.#become("failed", why);
    const choices = lacksProgram ? (["Open Settings", "Show Output"] as const) : (["Restart", "Show Output"] as const);
    const said = `Ruleline: ${plain(why, 400)}`.replaceAll("](", "] (");
    void vscode.window.showErrorMessage(said, ...choices).then(async (choice) => {
      if (choice === "Restart") {
        await this.restart();
      } else if (choice === "Show Output") {
        this.log.show();
      } else if (choice === "Open Settings") {
        await vscode.commands.executeCommand("workbench.action.openSettings", "ruleline.server.path");
      }
    });
  }

  #reconfigure(change: vscode.ConfigurationChangeEvent): void {
    if (this.#state === "idle") {
      return;
    }
    const wants = wishes();
    // A server cannot be told to go by config.toml again.
    const goesBack = change.affectsConfiguration("ruleline.baseline") && wants.baseline === undefined;
    // That the workspace is trusted changes which settings count, and mostly none of these.
    const isOther = change.affectsConfiguration("ruleline.server") && this.#launched !== launchSettings();
    // What a server can do it says once.
    const otherAnswers = change.affectsConfiguration("ruleline.symbols");
    if (isOther || goesBack || otherAnswers) {
      void this.restart();
    } else if (change.affectsConfiguration("ruleline.baseline") || change.affectsConfiguration("ruleline.hints")) {
      void this.#connection?.configure(wants).catch(() => undefined);
    }
  }
}

const ORIGIN = { setting: "ruleline.server.path", extension: "came with the extension", PATH: "found on the PATH" };

function settings(): vscode.WorkspaceConfiguration {
  return vscode.workspace.getConfiguration("ruleline");
}

/** The settings that only a new server can follow, to be compared. */
function launchSettings(): string {
  const names = ["path", "arguments", "environment", "stateFolder"];
  return JSON.stringify(names.map((name) => settings().get(`server.${name}`)));
}

/** What a workspace may say as well: how an edit is counted and what is shown beside it. */
function wishes(): { baseline?: string; hints: boolean; symbols: string } {
  const baseline = settings().get<string>("baseline", "project");
  const hints = settings().get<boolean>("hints", true);
  const symbols = settings().get<string>("symbols", "all");
  return baseline === "project" ? { hints, symbols } : { baseline, hints, symbols };
}
