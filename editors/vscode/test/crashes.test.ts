import assert from "node:assert/strict";
import { test } from "node:test";
import { Crashes } from "../src/crashes.ts";

test("the first crash is mended at once, the next ones after longer and longer pauses, the fifth not", () => {
  const crashes = new Crashes();
  const pauses = [1, 2, 3, 4, 5].map((second) => crashes.add(second * 1000));
  assert.equal(pauses[0], 0);
  for (let index = 1; index < 4; index += 1) {
    assert.ok((pauses[index] ?? 0) > (pauses[index - 1] ?? 0));
  }
  assert.equal(pauses[4], undefined);
});

test("crashes of long ago do not count", () => {
  const crashes = new Crashes();
  for (let hour = 0; hour < 20; hour += 1) {
    assert.equal(crashes.add(hour * 3_600_000), 0);
  }
});
