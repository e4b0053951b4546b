import assert from "node:assert/strict";
import { test } from "node:test";
import { readDecision, readDecisions, readStatus } from "../src/protocol.ts";

test("a status of an older server says nothing of what it does not know", () => {
  const hooks = [{ root: "/p", state: "changed", files: 3, digest: null, message: "changed" }];
  assert.deepEqual(readStatus({ hooks }), {
    version: undefined,
    restricted: false,
    rules: undefined,
    rulebooks: [],
    hooks: [{ root: "/p", state: "changed", files: 3, digest: undefined, message: "changed" }],
    decisions: undefined,
    log: undefined,
  });
});

test("a whole status is read", () => {
  const status = readStatus({
    version: "0.1.0",
    restricted: true,
    rules: 12,
    rulebooks: [{ path: "/p/.ruleline/rules.toml", rules: 12, problems: 1 }],
    hooks: [],
    decisions: { refused: 2, asked: 1, judged: 41 },
    log: { state: "broken", message: "why" },
  });
  assert.equal(status.restricted, true);
  assert.deepEqual(status.decisions, { refused: 2, asked: 1, judged: 41 });
  assert.deepEqual(status.log, { state: "broken", message: "why" });
});

test("a decision is read", () => {
  const read = readDecision({
    id: "3f9a",
    time: "2026-01-31T12:00:00.123Z",
    agent: "claude",
    event: "PreToolUse",
    tool: "Edit",
    decision: "deny",
    root: "/p",
    path: "/p/a.py",
    uri: "file:///p/a.py",
    reason: "no",
    findings: [{ rule: "no-eval", effect: "deny", line: 12, rulebook: "/p/.ruleline/rules.toml" }],
    reviewable: true,
  });
  assert.equal(read?.time, Date.UTC(2026, 0, 31, 12, 0, 0, 123));
  assert.deepEqual(read.findings, [{ rule: "no-eval", effect: "deny", line: 12, rulebook: "/p/.ruleline/rules.toml" }]);
});

test("anything can be read", () => {
  for (const value of [undefined, null, 3, "x", [], [null], { hooks: 3, decisions: [], rulebooks: [1] }]) {
    assert.equal(readStatus(value).restricted, false);
    assert.equal(readDecision(value), undefined);
    assert.deepEqual(readDecisions([value]), []);
  }
  assert.deepEqual(readDecisions({ decisions: [] }), []);
  assert.equal(readDecision({ id: "1", decision: "maybe" }), undefined);
  assert.equal(readDecision({ id: "1", decision: "ask", findings: [3], time: "then" })?.time, undefined);
});
