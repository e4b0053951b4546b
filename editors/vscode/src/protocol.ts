// What the server tells beyond the language server protocol, read from messages of any shape.
//
// A server may be older or newer than this: what is missing or has another shape counts as not said.

/** The server's commands that are sent from here; those in lenses and actions are the server's own affair. */
export const Command = {
  decisions: "ruleline.decisions",
  openRule: "ruleline.openRule",
  reviewHooks: "ruleline.reviewHooks",
  reviewRefusal: "ruleline.reviewRefusal",
  status: "ruleline.status",
  trustHooks: "ruleline.trustHooks",
  untrustHooks: "ruleline.untrustHooks",
} as const;

/** Where the hooks of a root stand. */
export interface Hooks {
  root: string;
  state: "notReviewed" | "changed" | "trusted" | "refused" | "lost";
  files: number;
  digest: string | undefined;
  message: string | undefined;
}

/** A rulebook that holds. */
export interface Rulebook {
  path: string;
  rules: number;
  problems: number;
}

/** The state of the server as it was told last. */
export interface Status {
  version: string | undefined;
  restricted: boolean;
  /** How many rules hold; not known of a server that does not tell. */
  rules: number | undefined;
  rulebooks: Rulebook[];
  hooks: Hooks[];
  /** Decisions of agents since the server started. */
  decisions: { refused: number; asked: number; judged: number } | undefined;
  log: { state: string; message: string | undefined } | undefined;
}

/** A rule that spoke. */
export interface Finding {
  rule: string;
  effect: string;
  /** From 1, where it would have stood; none where there is no place. */
  line: number | undefined;
  rulebook: string | undefined;
}

/** What an agent's call was answered. */
export interface Decision {
  id: string;
  /** In milliseconds since 1970; none where it cannot be read. */
  time: number | undefined;
  agent: string;
  event: string;
  tool: string;
  decision: "deny" | "ask" | "allow" | "none";
  root: string | undefined;
  path: string | undefined;
  uri: string | undefined;
  reason: string;
  findings: Finding[];
  /** Whether it can be read, and allowed once after that. */
  reviewable: boolean;
}

/** Most findings of one decision that are kept. */
const FINDINGS = 50;

/** Reads the notification `ruleline/status`, or the answer of the command. */
export function readStatus(value: unknown): Status {
  const status = object(value);
  const decisions = optional(status.decisions, object);
  const log = optional(status.log, object);
  return {
    version: text(status.version),
    restricted: status.restricted === true,
    rules: number(status.rules),
    rulebooks: list(status.rulebooks).map((one) => {
      const book = object(one);
      return { path: text(book.path) ?? "", rules: number(book.rules) ?? 0, problems: number(book.problems) ?? 0 };
    }),
    hooks: list(status.hooks).flatMap((one) => readHooks(object(one))),
    decisions: decisions && {
      refused: number(decisions.refused) ?? 0,
      asked: number(decisions.asked) ?? 0,
      judged: number(decisions.judged) ?? 0,
    },
    log: log && { state: text(log.state) ?? "", message: text(log.message) },
  };
}

const STATES = ["notReviewed", "changed", "trusted", "refused", "lost"] as const;

function readHooks(hooks: Shape): Hooks[] {
  const root = text(hooks.root);
  const state = STATES.find((one) => one === hooks.state);
  if (root === undefined || state === undefined) {
    return [];
  }
  return [{ root, state, files: number(hooks.files) ?? 0, digest: text(hooks.digest), message: text(hooks.message) }];
}

const DECISIONS = ["deny", "ask", "allow", "none"] as const;

/** Reads one decision; none when it has no id or no answer. */
export function readDecision(value: unknown): Decision | undefined {
  const told = object(value);
  const id = text(told.id);
  const decision = DECISIONS.find((one) => one === told.decision);
  if (id === undefined || decision === undefined) {
    return undefined;
  }
  const time = Date.parse(text(told.time) ?? "");
  return {
    id,
    time: Number.isNaN(time) ? undefined : time,
    agent: text(told.agent) ?? "agent",
    event: text(told.event) ?? "",
    tool: text(told.tool) ?? "",
    decision,
    root: text(told.root),
    path: text(told.path),
    uri: text(told.uri),
    reason: text(told.reason) ?? "",
    findings: list(told.findings)
      .slice(0, FINDINGS)
      .map((one) => {
        const finding = object(one);
        return {
          rule: text(finding.rule) ?? "",
          effect: text(finding.effect) ?? "",
          line: number(finding.line),
          rulebook: text(finding.rulebook),
        };
      }),
    reviewable: told.reviewable === true,
  };
}

/** Reads the answer of `ruleline.decisions`. */
export function readDecisions(value: unknown): Decision[] {
  return list(value).flatMap((one) => readDecision(one) ?? []);
}

type Shape = Record<string, unknown>;

function object(value: unknown): Shape {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Shape) : {};
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function number(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

function optional<T>(value: unknown, read: (value: unknown) => T): T | undefined {
  return value === undefined || value === null ? undefined : read(value);
}
