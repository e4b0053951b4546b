// The language client: one process of the server and the connection to it. Loaded when the server starts.
//
// What the server says is shown as plain text; it opens files and nothing else.

import { spawn, type ChildProcess } from "node:child_process";
import { dirname } from "node:path";
import { createInterface } from "node:readline";
import * as vscode from "vscode";
import {
  CloseAction,
  ErrorAction,
  LanguageClient,
  MessageType,
  ShowMessageNotification,
  ShowMessageRequest,
  State,
  type LanguageClientOptions,
  type MessageActionItem,
} from "vscode-languageclient/node";
import { Crashes } from "./crashes.ts";
import { readDecision, readStatus, type Decision, type Status } from "./protocol.ts";
import { message, plain } from "./text.ts";

/** How long a server may take to answer `initialize`, and to end when asked to, in milliseconds. */
const START = 30_000;
const END = 2_000;

/** What a server is started with. */
export interface Launch {
  program: string;
  arguments: string[];
  environment: Record<string, string>;
  /** `initializationOptions` of docs/protocol.md. */
  options: Record<string, unknown>;
  log: vscode.LogOutputChannel;
}

/** What is told of a server. */
export interface Told {
  status(status: Status): void;
  decision(decision: Decision): void;
  running(): void;
  /** It died, and is started again after a pause. */
  restarting(): void;
  /** It died too often, or at once. */
  failed(why: string): void;
}

/** Logs what goes wrong; whoever started it says it to the person, once. */
class Client extends LanguageClient {
  override error(text: string, data?: unknown): void {
    super.error(text, data, false);
  }
}

/** A running server. */
export class Connection {
  readonly #client: Client;
  readonly #launch: Launch;
  readonly #crashes = new Crashes();
  #process: ChildProcess | undefined;
  #pause: NodeJS.Timeout | undefined;
  #lastWords = "";
  #ran = false;
  #ending = false;

  constructor(launch: Launch, told: Told) {
    this.#launch = launch;
    this.#client = new Client("ruleline", "Ruleline", () => Promise.resolve(this.#spawn()), this.#options(told));
    this.#client.registerFeature({
      fillClientCapabilities: (capabilities) => {
        const experimental = (capabilities.experimental ?? {}) as object;
        capabilities.experimental = { ...experimental, rulelineStatus: true, rulelineDecisions: true };
      },
      initialize: () => undefined,
      getState: () => ({ kind: "static" }),
      clear: () => undefined,
    });
    this.#client.onNotification("ruleline/status", (status: unknown) => {
      told.status(readStatus(status));
    });
    this.#client.onNotification("ruleline/decision", (value: unknown) => {
      const decision = readDecision(value);
      if (decision !== undefined) {
        told.decision(decision);
      }
    });
    // These take the place of the client's own, which would make links of what is in brackets.
    this.#client.onNotification(ShowMessageNotification.type, (said) => void say(said.type, said.message));
    this.#client.onRequest(ShowMessageRequest.type, (asked) => ask(asked.message, asked.actions ?? []));
    this.#client.onDidChangeState(({ newState }) => {
      if (newState === State.Running) {
        this.#ran = true;
        told.running();
      }
    });
  }

  /** Starts the server and waits until it has answered. */
  async start(): Promise<void> {
    const late = setTimeout(() => {
      this.#lastWords = `it gave no answer within ${START / 1000} s`;
      this.#process?.kill("SIGKILL");
    }, START);
    try {
      await this.#client.start();
    } catch (error) {
      await this.stop();
      const why = this.#lastWords || (error instanceof Error ? error.message : String(error));
      throw new Error(`${this.#launch.program} did not start: ${plain(why, 300)}`, { cause: error });
    } finally {
      clearTimeout(late);
    }
  }

  /** Ends the server, whatever state it is in. */
  async stop(): Promise<void> {
    this.#ending = true;
    clearTimeout(this.#pause);
    const process = this.#process;
    try {
      await this.#client.dispose(END);
    } catch {
      // It was not running, or did not answer in time.
    }
    if (process?.exitCode === null && process.signalCode === null) {
      const late = setTimeout(() => process.kill("SIGKILL"), END);
      process.once("exit", () => {
        clearTimeout(late);
      });
      process.kill("SIGTERM");
    }
  }

  /** Whether the server has a command. */
  knows(command: string): boolean {
    return this.#client.initializeResult?.capabilities.executeCommandProvider?.commands.includes(command) ?? false;
  }

  /** What the server calls its version. */
  get version(): string | undefined {
    return this.#client.initializeResult?.serverInfo?.version;
  }

  /** Runs one of the server's commands. */
  execute(command: string, argument?: object): Promise<unknown> {
    const given = argument === undefined ? [] : [argument];
    return this.#client.sendRequest("workspace/executeCommand", { command, arguments: given });
  }

  /** Tells the server of changed settings. */
  configure(settings: Record<string, unknown>): Promise<void> {
    return this.#client.sendNotification("workspace/didChangeConfiguration", { settings: { ruleline: settings } });
  }

  #spawn(): ChildProcess {
    const { program, environment } = this.#launch;
    this.#lastWords = "";
    const child = spawn(program, this.#launch.arguments, {
      // Not the project: what a server might look up in its folder is nobody else's.
      cwd: dirname(program),
      env: { ...process.env, ...environment },
      stdio: "pipe",
    });
    child.on("error", (error) => {
      this.#lastWords = error.message;
    });
    child.on("exit", (code, signal) => {
      this.#lastWords ||= signal === null ? `it ended with ${code ?? "no status"}` : `it was ended by ${signal}`;
      this.#launch.log.info(`the server ended (${signal ?? code ?? "no status"})`);
    });
    // Writing to one that has died is told by its end.
    child.stdin.on("error", () => undefined);
    this.#process = child;
    return child;
  }

  #options(told: Told): LanguageClientOptions {
    const { log, options } = this.#launch;
    return {
      // Rules name paths, not languages.
      documentSelector: [{ scheme: "file" }],
      outputChannel: log,
      initializationOptions: options,
      initializationFailedHandler: () => false,
      markdown: { isTrusted: false, supportHtml: false },
      stdioOptions: {
        stdout: () => undefined,
        stderr: (input) => {
          createInterface({ input }).on("line", (line) => {
            this.#lastWords = record(log, line);
          });
        },
      },
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: async () => {
          const pause = this.#ran && !this.#ending ? this.#crashes.add(Date.now()) : undefined;
          if (pause === undefined) {
            if (this.#ran && !this.#ending) {
              told.failed("the language server ended too often; the output has its last words");
            }
            return { action: CloseAction.DoNotRestart, handled: true };
          }
          told.restarting();
          await new Promise((resume) => {
            this.#pause = setTimeout(resume, pause);
          });
          return { action: CloseAction.Restart, handled: true };
        },
      },
      middleware: {
        // Over a finding VS Code shows the finding itself.
        provideHover: (document, position, token, next) =>
          hasFinding(document, position) ? undefined : next(document, position, token),
        window: {
          showDocument: async (request, _token, next) => {
            const opens = request.external !== true && vscode.Uri.parse(request.uri).scheme === "file";
            return opens ? next(request, _token) : { success: false };
          },
        },
      },
    };
  }
}

function hasFinding(document: vscode.TextDocument, position: vscode.Position): boolean {
  const isHere = (one: vscode.Diagnostic): boolean => one.source === "ruleline" && one.range.contains(position);
  return vscode.languages.getDiagnostics(document.uri).some(isHere);
}

const LINE = /^\S+Z\s+(ERROR|WARN|INFO|DEBUG|TRACE)\s+(.*)$/u;

/** Puts a line of the server's log into ours, at its level; gives what it says. */
function record(log: vscode.LogOutputChannel, line: string): string {
  const [, level, said = plain(line)] = LINE.exec(plain(line)) ?? [];
  switch (level) {
    case "ERROR":
      log.error(said);
      break;
    case "INFO":
      log.info(said);
      break;
    case "DEBUG":
      log.debug(said);
      break;
    case "TRACE":
      log.trace(said);
      break;
    default:
      log.warn(said);
  }
  return said;
}

/** Says something in a corner of the window. */
function say(type: MessageType, said: string): Thenable<unknown> {
  switch (type) {
    case MessageType.Error:
      return vscode.window.showErrorMessage(message(said));
    case MessageType.Warning:
      return vscode.window.showWarningMessage(message(said));
    default:
      return vscode.window.showInformationMessage(message(said));
  }
}

/** Asks in a dialog, which nobody overlooks; closing it is the last answer, which changes nothing. */
async function ask(question: string, answers: MessageActionItem[]): Promise<MessageActionItem | null> {
  const items = answers.map(({ title }, index) => ({
    title: plain(title, 80),
    isCloseAffordance: index === answers.length - 1 && answers.length > 1,
    answer: index,
  }));
  const chosen = await vscode.window.showWarningMessage(message(question), { modal: true }, ...items);
  return (chosen && answers[chosen.answer]) ?? null;
}
