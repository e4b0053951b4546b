-- The plugin and the server in a real Neovim:
--   nvim -u NONE -i NONE --headless -l neovim.lua PLUGIN SERVER SCRATCH
-- Prints "ok" or "FAIL" for each check and "N passed, N failed" at the end.
local plugin, server, scratch = _G.arg[1], _G.arg[2], _G.arg[3]
local checks = dofile(vim.fs.joinpath(vim.fs.dirname(debug.getinfo(1, "S").source:sub(2)), "checks.lua"))
local check, wait, write = checks.check, checks.wait, checks.write

local function git(root, ...)
  local run = vim.system({ "git", "-C", root, "-c", "user.name=t", "-c", "user.email=t@example.org", ... }):wait()
  assert(run.code == 0, run.stderr)
end

--- The servers that this editor has started and that still run.
local function servers()
  local pid = vim.fn.getpid()
  local function read(path)
    local file = io.open(path)
    local text = file and file:read("*a") or ""
    return file and file:close() and text or ""
  end
  local children = vim.split(read(("/proc/%d/task/%d/children"):format(pid, pid)), " ", { trimempty = true })
  return vim.tbl_filter(function(child)
    return vim.startswith(read(("/proc/%s/cmdline"):format(child)), server)
  end, children)
end

local RULES = {
  "[[rule]]",
  'id = "no-todo"',
  'paths = ["src/**"]',
  "forbid = ['TODO']",
  'on_fail = "warn"',
  'why = "file an issue"',
  'fix = "DONE"',
  "",
  "[[rule]]",
  'id = "no-print"',
  'paths = ["**/*.py"]',
  'forbid_calls = ["print"]',
  'on_fail = "ask"',
  'why = "use logging"',
  "",
  "[[rule]]",
  'id = "no-eval"',
  'paths = ["**/*.py"]',
  'forbid_calls = ["eval"]',
  'why = "use ast.literal_eval"',
}
local RULE_LINE, CALLS_LINE = 16, 19

local function run()
  local root = vim.fs.joinpath(vim.uv.fs_realpath(scratch), "project ä")
  local app, rulebook = root .. "/src/app.py", root .. "/.ruleline/rules.toml"
  write(rulebook, RULES)
  write(app, { "def f(name):", "\treturn name" })
  write(root .. "/notes", { "nothing" })
  git(root, "init", "--quiet")
  git(root, "add", "--all")
  git(root, "commit", "--quiet", "--message", "first")

  local messages = {}
  vim.opt.runtimepath:append(plugin)
  vim.lsp.config("ruleline", {
    handlers = { ["window/showMessage"] = function(_, message) table.insert(messages, message.message) end },
  })
  require("ruleline").setup({ cmd = { server }, trusted = true, baseline = "head" })

  vim.cmd("filetype on")
  vim.cmd.edit(vim.fn.fnameescape(app))
  local buffer = vim.api.nvim_get_current_buf()
  local function diagnostics()
    return vim.diagnostic.get(buffer)
  end
  local function line(number)
    return vim.api.nvim_buf_get_lines(buffer, number - 1, number, true)[1]
  end

  wait(function() return #vim.lsp.get_clients({ bufnr = buffer, name = "ruleline" }) == 1 end)
  local client = vim.lsp.get_clients({ bufnr = buffer, name = "ruleline" })[1]
  check("the server is attached", client ~= nil)
  if not client then
    return
  end
  check("its root is the project", client.root_dir == root, client.root_dir)
  check("one process was started", #servers() == 1, servers())

  -- What is in HEAD says nothing; what an edit adds does.
  vim.wait(500)
  check("an unchanged file has no diagnostics", #diagnostics() == 0, diagnostics())
  local bad = '\tx = "😀é\t😀"; y = eval(name)  # 😀'
  vim.api.nvim_buf_set_lines(buffer, 1, 2, true, { bad, "\treturn y" })
  wait(function() return #diagnostics() > 0 end)
  vim.wait(300)
  local found = diagnostics()
  check("one diagnostic", #found == 1, found)
  local first = found[1] or {}
  local column = bad:find("eval", 1, true) - 1
  check("on the line of the call", first.lnum == 1 and first.end_lnum == 1, first)
  check("it starts at the call, in bytes", first.col == column, { first.col, column })
  local text = first.end_col and bad:sub(first.col + 1, first.end_col) or ""
  check("it ends with the call", text == "eval" or text == "eval(name)", text)
  check("its code is the rule", first.code == "no-eval", first.code)
  check("it is an error", first.severity == vim.diagnostic.severity.ERROR, first.severity)
  check("its source is ruleline", first.source == "ruleline", first.source)
  check("it says why", (first.message or ""):find("use ast.literal_eval", 1, true) ~= nil, first.message)

  -- Explain, then go to the rule.
  local function act(title)
    vim.api.nvim_win_set_cursor(0, { 2, column })
    vim.lsp.buf.code_action({ apply = true, filter = function(action) return vim.startswith(action.title, title) end })
  end
  act("Explain")
  wait(function() return #messages > 0 end)
  check("the explanation names the rulebook", (messages[1] or ""):find("rules.toml", 1, true) ~= nil, messages)
  act("Go to rule")
  local there = wait(function() return vim.api.nvim_buf_get_name(0) == rulebook end)
  check("going to the rule opens the rulebook", there, vim.api.nvim_buf_get_name(0))
  local at = vim.api.nvim_win_get_cursor(0)[1]
  check("at the rule", at == RULE_LINE or at == RULE_LINE + 1, at)
  vim.cmd.buffer(buffer)

  -- The fix.
  vim.api.nvim_buf_set_lines(buffer, 1, 2, true, { "\ty = ast.literal_eval(name)" })
  check("the fixed line is clear", wait(function() return #diagnostics() == 0 end), diagnostics())

  -- Severities.
  vim.api.nvim_buf_set_lines(buffer, 0, 1, true, { "def f(name):  # TODO", "\tprint(name)" })
  wait(function() return #diagnostics() == 2 end)
  local severities = {}
  for _, diagnostic in ipairs(diagnostics()) do
    severities[diagnostic.code] = diagnostic.severity
  end
  check("what asks is a warning", severities["no-print"] == vim.diagnostic.severity.WARN, severities)
  check("what warns is an information", severities["no-todo"] == vim.diagnostic.severity.INFO, severities)
  -- What a rule has as its fix.
  vim.api.nvim_win_set_cursor(0, { 1, (line(1):find("TODO", 1, true)) - 1 })
  local offers = function(action) return vim.startswith(action.title, "Write DONE instead") end
  vim.lsp.buf.code_action({ apply = true, filter = offers })
  check("a rule's fix is written", wait(function() return line(1) == "def f(name):  # DONE" end), line(1))
  check("and clear", wait(function() return #diagnostics() == 1 and diagnostics()[1].code == "no-print" end), diagnostics())
  vim.api.nvim_buf_set_lines(buffer, 0, 2, true, { "def f(name):", "\ty = name" })
  check("mended, both are clear", wait(function() return #diagnostics() == 0 end), diagnostics())

  -- Saved and not committed it is still this edit's.
  vim.api.nvim_buf_set_lines(buffer, 1, 2, true, { "\ty = eval(name)" })
  vim.cmd("silent write")
  wait(function() return #diagnostics() > 0 end)
  vim.wait(300)
  check("saved, it is compared with HEAD", #diagnostics() == 1 and line(2) == "\ty = eval(name)", diagnostics())

  -- The rulebook itself.
  vim.cmd.edit(vim.fn.fnameescape(rulebook))
  local book = vim.api.nvim_get_current_buf()
  wait(function() return #vim.lsp.get_clients({ bufnr = book, name = "ruleline" }) == 1 end)
  vim.wait(300)
  check("a good rulebook has no diagnostics", #vim.diagnostic.get(book) == 0, vim.diagnostic.get(book))
  vim.api.nvim_buf_set_lines(book, CALLS_LINE - 1, CALLS_LINE, true, { 'forbid_calls = ["eval"' })
  vim.cmd("silent write")
  wait(function() return #vim.diagnostic.get(book) > 0 end)
  local problem = vim.diagnostic.get(book)[1] or {}
  check("a syntax error is shown in the rulebook", problem.source == "ruleline", vim.diagnostic.get(book))
  check("as an error", problem.severity == vim.diagnostic.severity.ERROR, problem.severity)
  vim.api.nvim_buf_set_lines(book, CALLS_LINE - 1, CALLS_LINE, true, { RULES[CALLS_LINE] })
  vim.cmd("silent write")
  check("mended, it clears", wait(function() return #vim.diagnostic.get(book) == 0 end), vim.diagnostic.get(book))

  -- A new rule holds at once in the other buffer.
  vim.api.nvim_buf_set_lines(book, CALLS_LINE - 1, CALLS_LINE, true, { 'forbid_calls = ["exec"]' })
  vim.cmd("silent write")
  check("without the rule the edit is clear", wait(function() return #diagnostics() == 0 end), diagnostics())

  vim.lsp.enable("ruleline", false)
  check("stopping ends the client", wait(function() return #vim.lsp.get_clients({ name = "ruleline" }) == 0 end))
  check("and no process is left", wait(function() return #servers() == 0 end), servers())
end

checks.run(run)
