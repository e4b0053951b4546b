import assert from "node:assert/strict";
import { test } from "node:test";
import { counted, fenced, label, message, plain } from "../src/text.ts";

test("what others wrote is one line without anything hidden in it", () => {
  for (const [given, shown] of [
    ["one\ntwo\r\n\tthree", "one two three"],
    ["a\u202eb\u200bc\u001b[31md", "a\uFFFDb\uFFFDc\uFFFD[31md"],
    ["\ud800", "\uFFFD"],
    ["ä 😀", "ä 😀"],
  ] as const) {
    assert.equal(plain(given), shown);
  }
});

test("it is cut where it is too long", () => {
  assert.equal(plain("abcdef", 4), "abc…");
  assert.equal(plain("abcd", 4), "abcd");
  assert.equal(plain("x".repeat(100_000)).length, 2000);
});

test("a label holds no icon, a message no link", () => {
  assert.equal(label("$(check) trusted"), "$ (check) trusted");
  assert.equal(message("[Trust](command:ruleline.trustHooks)"), "[Trust] (command:ruleline.trustHooks)");
});

test("numbers have their noun", () => {
  assert.deepEqual([counted(1, "rule"), counted(0, "rule"), counted(2, "rule")], ["1 rule", "0 rules", "2 rules"]);
});

test("a block of code is found in a text", () => {
  assert.equal(fenced("a\n```json\n{}\n```\n```toml\nb = 1\n```\n", "toml"), "b = 1\n");
  assert.equal(fenced("a", "toml"), "");
});
