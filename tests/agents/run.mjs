// Real clients of the index and of the reminder: the official MCP client, and Claude Code against a scripted model on
// loopback. Prints `ok NAME` or `FAIL NAME` for each check, and `N passed, N failed` at the end.
//
// node run.mjs BIN, where BIN is the folder of ruleline and ruleline-server.

import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const here = path.dirname(fileURLToPath(import.meta.url));
const bin = path.resolve(process.argv[2]);
const ruleline = path.join(bin, "ruleline");
const counts = { passed: 0, failed: 0 };

function check(name, holds, told = "") {
  counts[holds ? "passed" : "failed"] += 1;
  console.log(`${holds ? "ok  " : "FAIL"} ${name}${holds ? "" : `: ${told}`}`);
}

const CART = "class Cart:\n    def total(self):\n        return 0\n\n\ndef make_cart():\n    return Cart()\n";

/** A project with a home beside it; gone when this program ends. */
function project() {
  const base = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "ruleline-agents-")));
  process.on("exit", () => fs.rmSync(base, { recursive: true, force: true }));
  const [root, home, state] = ["project", "home", "state"].map((name) => path.join(base, name));
  for (const folder of [path.join(root, "shop"), path.join(root, ".claude"), home]) {
    fs.mkdirSync(folder, { recursive: true });
  }
  fs.writeFileSync(path.join(root, "shop/cart.py"), CART);
  fs.writeFileSync(path.join(root, "shop/order.py"), "from shop.cart import Cart\n\nprint(Cart().total())\n");
  spawnSync("git", ["init", "-q"], { cwd: root });
  return { base, root, home, state };
}

async function mcp() {
  const { root, home, state } = project();
  const transport = new StdioClientTransport({
    command: ruleline,
    args: ["mcp", "--state-dir", state],
    cwd: root,
    env: { PATH: process.env.PATH, HOME: home },
  });
  const client = new Client({ name: "test", version: "0" });
  await client.connect(transport);
  check("MCP: the server says who it is", client.getServerVersion()?.name === "ruleline");
  const { tools } = await client.listTools();
  check("MCP: four tools are listed", tools.length === 4 && tools.every((tool) => tool.annotations?.readOnlyHint));
  const call = async (name, args) => client.callTool({ name, arguments: args });
  const found = await call("find_symbol", { name: "Cart.total", include_body: true });
  const text = found.content[0].text;
  check("MCP: a symbol is found with its source", text.startsWith("shop/cart.py:2 method Cart.total\n") && text.includes("return 0"), text);
  const references = (await call("find_references", { name: "Cart" })).content[0].text;
  check("MCP: its uses are found", references.includes("shop/order.py:3: call"), references);
  const wrong = await call("find_symbol", { symbol: "Cart" });
  check("MCP: a wrong call is an error of the tool", wrong.isError === true && wrong.content[0].text.includes("`name`"));
  await client.close();
}

/** Plays `turns` to Claude Code; what each tool call was answered, as the model got it. */
async function claude(place, turns, more = []) {
  const { base, root, home } = place;
  const script = path.join(base, "script.json");
  fs.writeFileSync(script, JSON.stringify({ turns }));
  const log = path.join(base, "requests");
  const port = path.join(base, "port");
  const words = [path.join(here, "fake_model.py"), "--script", script, "--cwd", root, "--log", log, "--port-file", port];
  const model = spawn("python3", [...words, "--max-seconds", "120"], { stdio: "inherit" });
  for (let looks = 0; looks < 200 && !fs.existsSync(port); looks += 1) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const platform = `claude-code-${os.platform()}-${os.arch()}`;
  const program = path.join(here, "node_modules/@anthropic-ai", platform, "claude");
  const flags = ["--model", "claude-sonnet-4-5", "--output-format", "stream-json", "--verbose", "--permission-mode", "acceptEdits"];
  const agent = spawnSync(program, ["-p", "Please do the scripted work.", ...flags, "--allowedTools", "Read", "Grep", "LSP", "mcp__ruleline", "mcp__plugin_ruleline_ruleline", ...more], {
    cwd: root,
    timeout: 100_000,
    input: "",
    encoding: "utf8",
    env: {
      HOME: home,
      PATH: `${bin}:/usr/local/bin:/usr/bin:/bin`,
      TERM: "dumb",
      LANG: "C.UTF-8",
      ANTHROPIC_BASE_URL: `http://127.0.0.1:${fs.readFileSync(port, "utf8")}`,
      ANTHROPIC_API_KEY: "dummy-not-a-key",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
      DISABLE_TELEMETRY: "1",
      DISABLE_ERROR_REPORTING: "1",
      ENABLE_TOOL_SEARCH: "false",
    },
  });
  model.kill();
  const requests = fs.readdirSync(log).sort().map((name) => JSON.parse(fs.readFileSync(path.join(log, name), "utf8")));
  const last = requests.filter((request) => request.body?.tools?.length > 0).pop();
  const results = (last?.body.messages ?? [])
    .filter((message) => message.role === "user" && Array.isArray(message.content))
    .flatMap((message) => message.content.filter((block) => block.type === "tool_result"))
    .map((block) => (Array.isArray(block.content) ? block.content.map((part) => part.text).join("\n") : String(block.content)));
  return { results, agent, tools: last?.body.tools?.map((tool) => tool.name) ?? [] };
}

/** The call that a refusal tells to make. */
function told(refusal) {
  const found = /Call (\w+) (\{.*?\})\. /.exec(refusal ?? "");
  return found ? { name: found[1], input: JSON.parse(found[2]) } : undefined;
}

async function reminder() {
  const place = project();
  const { root, state } = place;
  const hook = [{ hooks: [{ type: "command", command: `${ruleline} hook --agent claude --state-dir ${state}`, timeout: 20 }] }];
  fs.writeFileSync(path.join(root, ".claude/settings.json"), JSON.stringify({ hooks: { SessionStart: hook, PreToolUse: hook, PostToolUse: hook } }));
  const server = { command: ruleline, args: ["mcp", "--state-dir", state] };
  fs.writeFileSync(path.join(root, ".mcp.json"), JSON.stringify({ mcpServers: { ruleline: server } }));
  fs.writeFileSync(path.join(root, ".claude/settings.local.json"), JSON.stringify({ enableAllProjectMcpServers: true }));
  spawnSync(ruleline, ["symbols", "Cart", "--state-dir", state], { cwd: root });
  const search = { wait: 0.4, tools: [{ name: "Grep", input: { pattern: "class Cart", output_mode: "content" } }] };
  const first = await claude(place, [search, search, search]);
  const refusal = first.results[2];
  check("Claude Code: the first two searches go through", first.results[0]?.includes("cart.py") && first.results[1]?.includes("cart.py"), JSON.stringify(first.results) + first.agent.stderr);
  check("Claude Code: the third is answered with file and line", refusal?.includes("class Cart is defined at shop/cart.py:1"), refusal);
  const call = told(refusal);
  check("Claude Code: and with a call to a tool that it has", call && first.tools.includes(call.name), `${JSON.stringify(call)} of ${first.tools}`);
  if (!call) {
    return;
  }
  fs.rmSync(path.join(place.base, "requests"), { recursive: true });
  fs.rmSync(path.join(place.base, "port"));
  // The model makes that call after the refusal, and the same search again.
  const second = await claude(place, [search, search, search, { wait: 0.4, tools: [call] }, search]);
  check("Claude Code: the call that it is told succeeds", second.results[3]?.startsWith("shop/cart.py:1 class Cart"), second.results[3]);
  check("Claude Code: the same search then goes through", second.results[4]?.includes("cart.py"), second.results[4]);
}

async function plugin() {
  const lsp = (input) => ({ wait: 1, tools: [{ name: "LSP", input: { line: 1, character: 1, ...input } }] });
  const turns = [
    lsp({ operation: "goToDefinition", filePath: "shop/order.py", line: 3, character: 7 }),
    lsp({ operation: "workspaceSymbol", filePath: "shop/order.py", query: "Cart" }),
    { tools: [{ name: "mcp__plugin_ruleline_ruleline__find_symbol", input: { name: "Cart" } }] },
  ];
  const folder = path.join(here, "../../editors/claude-code");
  const { results, agent } = await claude(project(), turns, ["--plugin-dir", folder]);
  const all = JSON.stringify(results) + agent.stderr;
  check("the plugin of Claude Code: its LSP tool finds a definition", results[0]?.includes("shop/cart.py:1:7"), all);
  check("the plugin of Claude Code: and the symbols of the workspace", results[1]?.includes("Cart (Class)"), all);
  check("the plugin of Claude Code: and has the tools of the index", results[2]?.startsWith("shop/cart.py:1 class Cart"), all);
}

for (const part of [mcp, reminder, plugin]) {
  try {
    await part();
  } catch (error) {
    check(part.name, false, error.stack);
  }
}
console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exit(counts.failed > 0 ? 1 : 0);
