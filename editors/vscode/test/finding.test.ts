import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { findServer, NotFound, type Places } from "../src/finding.ts";

let base = "";
let places: Places;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "ruleline-finding-")));
  places = {
    setting: "",
    extension: join(base, "extension"),
    path: "",
    workspace: [join(base, "w")],
    platform: "linux",
  };
});

afterEach(() => {
  rmSync(base, { recursive: true });
});

function program(...at: string[]): string {
  const path = join(base, ...at);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, "#!/bin/sh\n");
  chmodSync(path, 0o755);
  return path;
}

test("the setting comes first, then the bundled one, then the PATH", () => {
  const onPath = program("bin", "ruleline-server");
  places.path = join(base, "bin");
  assert.deepEqual(findServer(places), { program: onPath, from: "PATH" });
  const bundled = program("extension", "server", "ruleline-server");
  assert.deepEqual(findServer(places), { program: bundled, from: "extension" });
  places.setting = program("own", "server");
  assert.deepEqual(findServer(places), { program: places.setting, from: "setting" });
});

test("s29 the PATH leads into no project and to no relative folder", () => {
  program("w", "bin", "ruleline-server");
  program("w", "ruleline-server");
  symlinkSync(join(base, "w"), join(base, "link"));
  mkdirSync(join(base, "away"));
  symlinkSync(join(base, "w", "bin", "ruleline-server"), join(base, "away", "ruleline-server"));
  const entries = ["", ".", "bin", "../bin", join(base, "w"), join(base, "w", "bin"), join(base, "link", "bin")];
  places.path = [...entries, join(base, "away")].join(delimiter);
  assert.throws(() => findServer(places), NotFound);
  const good = program("good", "ruleline-server");
  places.path += delimiter + join(base, "good");
  assert.equal(findServer(places).program, good);
});

test("s29 a workspace behind a link is a workspace", () => {
  program("real", "ruleline-server");
  symlinkSync(join(base, "real"), join(base, "opened"));
  places.workspace = [join(base, "opened")];
  places.path = join(base, "real");
  assert.throws(() => findServer(places), NotFound);
});

test("a setting that names no program says so and is not passed over", () => {
  program("extension", "server", "ruleline-server");
  for (const setting of ["ruleline-server", "./server", join(base, "nothing"), base]) {
    assert.throws(() => findServer({ ...places, setting }), /ruleline\.server\.path/u);
  }
});

test("none at all names the remedy", () => {
  assert.throws(() => findServer(places), /Install it, or set ruleline\.server\.path/u);
});

test("a file that cannot be run is no server", () => {
  const path = program("bin", "ruleline-server");
  chmodSync(path, 0o644);
  assert.throws(() => findServer({ ...places, path: dirname(path) }), NotFound);
});
