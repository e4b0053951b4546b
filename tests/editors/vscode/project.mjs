// The project that is opened: a small repository with rules, hooks, and a setting that nobody may follow.
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { run, write } from "./checks.mjs";

const RULES = `[[rule]]
id = "no-eval"
paths = ["**/*.py"]
forbid_calls = ["eval", "exec"]
why = "Parse the input instead: ast.literal_eval for literals, json.loads for data."

[[rule]]
id = "no-print"
paths = ["src/**/*.py"]
forbid = ['\\bprint\\((.*)\\)']
fix = "log.info($1)"
on_fail = "ask"
why = "Use the logger: it knows the station and the time."
`;

const REPORT = `"""The weather of the last day, one line a station."""

import json


def read(path):
    """Readings of all stations, as the collector writes them."""
    with open(path) as file:
        return [json.loads(line) for line in file]


def average(readings):
    values = [reading["celsius"] for reading in readings]
    return sum(values) / len(values) if values else None


def hottest(readings):
    return max(readings, key=lambda reading: reading["celsius"])
`;

/** Lays the project out below `base`. */
export async function layOut(base, hook, state) {
  const root = join(realpathSync(base), "weather-app");
  const mark = join(realpathSync(base), "mark");
  const book = join(root, ".ruleline/rules.toml");
  write(book, RULES);
  write(join(root, "src/report.py"), REPORT);
  write(join(root, "src/signs.py"), `SIGNS = {}\n\n\ndef sign(name):\n\treturn SIGNS[name]\n`);
  write(join(root, "src/alerts.py"), `def alerts(readings):\n    return [one for one in readings if one["celsius"] > 35]\n`);
  write(join(root, "README.md"), "# Weather\n\nReadings of all stations, hour by hour.\n");
  write(
    join(root, ".ruleline/hooks/hooks.yaml"),
    "hooks:\n  PreToolUse:\n    - script: no-push\n      matcher: Bash\n",
  );
  write(join(root, ".ruleline/hooks/no-push.sh"), `# Pushing is a person's business.\necho ran >> "${mark}"\necho "nobody pushes from here" >&2\nexit 2\n`);
  // What a hostile project would try.
  const evil = join(root, ".vscode/ruleline-server");
  write(evil, `#!/bin/sh\necho evil >> "${mark}"\n`, 0o755);
  write(join(root, ".vscode/settings.json"), `${JSON.stringify({ "ruleline.server.path": evil, "ruleline.server.arguments": ["--version"] }, null, 2)}\n`);
  const git = (...words) =>
    run("git", ["-c", "user.name=ada", "-c", "user.email=ada@example.org", "-c", "init.defaultBranch=main", ...words], { cwd: root });
  await git("init", "--quiet");
  await git("add", "--all");
  await git("commit", "--quiet", "--message", "Stations");
  return {
    root,
    book,
    file: (name) => join(root, name),
    /** What scripts of the project have left behind. */
    marks: () => (existsSync(mark) ? readFileSync(mark, "utf8").trim().split("\n") : []),
    /** What a real hook process answers to a call of a session: the agent's decision, or "silent". */
    call: async (tool, input, session = "one") => {
      const payload = { hook_event_name: "PreToolUse", session_id: session, cwd: root, tool_name: tool, tool_input: input };
      const answer = await run(hook, ["hook", "--agent", "claude", "--state-dir", state], { input: JSON.stringify(payload), cwd: root });
      return (answer && JSON.parse(answer).hookSpecificOutput?.permissionDecision) || "silent";
    },
  };
}
