-- What the plugin does by itself: options, the look-up of the server, commands, the window of decisions, the statusline,
-- checkhealth and the help file, in a real Neovim:
--   nvim -u NONE -i NONE --headless -l neovim_plugin.lua PLUGIN SERVER SCRATCH HOOK
-- Prints "ok" or "FAIL" for each check and "N passed, N failed" at the end.
local plugin, server, scratch, hook = _G.arg[1], _G.arg[2], _G.arg[3], _G.arg[4]
local checks = dofile(vim.fs.joinpath(vim.fs.dirname(debug.getinfo(1, "S").source:sub(2)), "checks.lua"))
local check, wait, write = checks.check, checks.wait, checks.write

local base = vim.uv.fs_realpath(scratch)
local root = base .. "/project"
local messages = {}

local function said(part)
  return wait(function() return table.concat(messages, "\n"):find(part, 1, true) ~= nil end)
end

local function options()
  local ruleline = require("ruleline")
  for problem, given in pairs({
    ["option trusted: expected true, false or a function"] = { trusted = "yes" },
    ['option baseline: expected "head", "disk" or "all"'] = { baseline = "none" },
    ["option hints: expected true or false"] = { hints = 1 },
    ["option cmd: expected a list"] = { cmd = "ruleline-server" },
    ["./ruleline-server is another program in each folder"] = { cmd = { "./ruleline-server" } },
    ["there is no option color; the options are baseline, cmd,"] = { color = true },
  }) do
    local ok, error = pcall(ruleline.setup, given)
    check("refused: " .. problem, not ok and tostring(error):find(problem, 1, true) ~= nil, error)
  end
  check("nothing was started by that", not vim.lsp.is_enabled("ruleline"))
end

--- A program of the project must never become the server.
local function look_up()
  local evil, good, mark = root .. "/bin", base .. "/programs", base .. "/mark"
  for _, folder in ipairs({ evil, root, good }) do
    write(folder .. "/ruleline-server", { "#!/bin/sh", "echo " .. folder .. " >> " .. mark, "exec " .. server .. ' "$@"' })
    vim.uv.fs_chmod(folder .. "/ruleline-server", 448)
  end
  local path = vim.env.PATH
  vim.fn.chdir(root)
  vim.uv.fs_symlink(evil, base .. "/link")
  require("ruleline").setup({ trusted = true })
  vim.env.PATH = ".:bin:" .. evil .. ":" .. base .. "/link::" .. path
  vim.cmd.edit(root .. "/a.py")
  check("s29: a server of the project is not started", said("is not run"), messages)
  check("and the message names it", said(evil .. "/ruleline-server"), messages)
  vim.wait(300)
  check("nothing of it ran", vim.fn.filereadable(mark) == 0 and #vim.lsp.get_clients() == 0)

  vim.env.PATH = ".:bin:" .. evil .. ":" .. base .. "/link:" .. good .. ":" .. path
  vim.cmd.edit()
  local started = wait(function() return #vim.lsp.get_clients({ name = "ruleline", bufnr = 0 }) == 1 end)
  check("s29: that of another folder is", started, messages)
  check("and no other", vim.fn.filereadable(mark) == 1 and vim.deep_equal(vim.fn.readfile(mark), { good }))
  vim.env.PATH = path
end

local function commands()
  check("subcommands are completed", vim.deep_equal(vim.fn.getcompletion("Ruleline re", "cmdline"), { "reload", "restart" }))
  local hooks = vim.fn.getcompletion("Ruleline hooks ", "cmdline")
  check("and what they take", vim.deep_equal(hooks, { "review", "trust", "untrust" }), hooks)
  check("and no more", #vim.fn.getcompletion("Ruleline hooks review ", "cmdline") == 0)
  messages = {}
  vim.cmd("Ruleline refresh")
  check("an unknown one names those there are", said("decisions, hooks, log, reload, restart, rules, status"), messages)
  messages = {}
  vim.cmd("Ruleline hooks allow")
  check("so do hooks", said("review"), messages)

  local echoed = ""
  local echo = vim.api.nvim_echo
  vim.api.nvim_echo = function(chunks) echoed = chunks[1][1] end
  vim.cmd("Ruleline")
  wait(function() return echoed ~= "" end)
  vim.api.nvim_echo = echo
  check("status names the project", echoed:find("project   " .. root, 1, true) ~= nil, echoed)
  check("and the rulebook with its rules", echoed:find("/.ruleline/rules.toml: 1 rule", 1, true) ~= nil, echoed)

  vim.cmd("Ruleline rules")
  check("rules opens the rulebook", vim.api.nvim_buf_get_name(0) == root .. "/.ruleline/rules.toml", vim.api.nvim_buf_get_name(0))
  vim.cmd("buffer #")
  messages = {}
  vim.cmd("Ruleline reload")
  check("reload reads again", said("were read again"), messages)
  vim.cmd("Ruleline log")
  check("log opens what was written on stderr", vim.api.nvim_buf_get_name(0):find("lsp.log", 1, true) ~= nil)
  check("for reading", not vim.bo.modifiable)
  vim.cmd("tabclose")
end

--- What a server could send at its worst.
local HOSTILE = "x%{system('touch " .. scratch .. "/ran')}%#Error#\n\27[31m"

local function decision(id, changes)
  return vim.tbl_extend("force", {
    id = id, time = "2026-01-31T12:00:0" .. id .. ".000Z", agent = "claude", session = "s", event = "PreToolUse",
    tool = "Edit", decision = "deny", root = root, path = root .. "/a.py", uri = vim.uri_from_fname(root .. "/a.py"),
    reason = "no", findings = { { rule = "no-eval", effect = "deny", line = 2, rulebook = "/r" } }, reviewable = true,
  }, changes or {})
end

local function decisions()
  local module, client = require("ruleline.decisions"), vim.lsp.get_clients({ name = "ruleline" })[1]
  local seen = {}
  vim.api.nvim_create_autocmd("User", {
    pattern = "RulelineDecision",
    callback = function(event) table.insert(seen, event.data.id) end,
  })
  local function tell(sent) module.told(nil, sent, { client_id = client.id }) end
  local buffer = vim.fn.bufnr(root .. "/a.py")
  tell(decision("1"))
  check("a refusal is in the statusline", require("ruleline").statusline(buffer):find("claude refused by no-eval", 1, true) ~= nil,
    require("ruleline").statusline(buffer))
  vim.cmd.buffer(buffer)
  vim.cmd("Ruleline decisions")
  local window = vim.api.nvim_get_current_win()
  local function rows() return vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 1, -1, true) end
  check("it is in the window", #rows() == 1 and rows()[1]:find("claude  refused  Edit  a.py:2  no-eval  no", 1, true) ~= nil, rows())
  check("which cannot be changed", not vim.bo.modifiable)
  check("and an autocommand told of it", vim.deep_equal(seen, { "1" }), seen)

  vim.api.nvim_win_set_cursor(window, { 2, 0 })
  vim.api.nvim_exec_autocmds("CursorMoved", { buffer = 0 })
  tell(decision("3", { agent = HOSTILE, decision = "ask", path = vim.NIL, findings = { { rule = HOSTILE, line = -1 } } }))
  tell(decision("2", { decision = "deny", findings = { { rule = HOSTILE, line = 1e300 } }, path = "scp://host/file" }))
  for _, nothing in ipairs({ vim.NIL, 3, {}, { id = 3 }, { id = "4", findings = 3, time = {}, reason = vim.NIL } }) do
    tell(nothing)
  end
  check("later ones stand above it", #rows() == 4 and rows()[3]:find("a.py:2", 1, true) ~= nil, rows())
  check("a line that is none is not shown as one", rows()[1]:find("1e", 1, true) == nil and rows()[2]:find("1e", 1, true) == nil, rows())
  check("and the cursor stays on its own", vim.api.nvim_get_current_line():find("a.py:2", 1, true) ~= nil, vim.api.nvim_get_current_line())
  check("the same one comes once", (function() tell(decision("1")) return #rows() == 4 end)(), rows())

  local line = require("ruleline").statusline(buffer)
  vim.o.statusline = "%{%v:lua.require'ruleline'.statusline(" .. buffer .. ")%}"
  vim.api.nvim_eval_statusline(vim.o.statusline, {})
  vim.cmd("redrawstatus!")
  check("a name puts nothing into the statusline", not line:find("[%%%c]") and vim.fn.filereadable(scratch .. "/ran") == 0, line)

  -- From the window to the file.
  vim.api.nvim_win_set_cursor(window, { 4, 0 })
  local function press(keys) vim.api.nvim_feedkeys(vim.keycode(keys), "xm", false) end
  press("<CR>")
  check("<CR> opens the file", vim.api.nvim_buf_get_name(0) == root .. "/a.py", vim.api.nvim_buf_get_name(0))
  check("at the line", vim.api.nvim_win_get_cursor(0)[1] == 2, vim.api.nvim_win_get_cursor(0))
  vim.api.nvim_set_current_win(window)
  for row, text in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, true)) do
    if text:find("scp://", 1, true) then
      vim.api.nvim_win_set_cursor(window, { row, 0 })
    end
  end
  messages = {}
  press("<CR>")
  check("a name that is no path is not opened", said("is no file") and vim.api.nvim_get_current_win() == window, messages)
  press("q")
  check("q closes the window", not vim.api.nvim_win_is_valid(window))

  for id = 1, 300 do
    tell(decision("n" .. id))
  end
  vim.cmd("Ruleline decisions")
  check("no more than 200 are kept", vim.api.nvim_buf_line_count(0) == 201, vim.api.nvim_buf_line_count(0))
  vim.cmd("only")
  press("<CR>")
  check("without a window for it, the file opens in a new one", #vim.api.nvim_tabpage_list_wins(0) == 2 and vim.bo.filetype == "python")
  vim.cmd("only")
end

local function health()
  vim.o.exrc = true
  package.loaded["neoconf"] = {}
  vim.env.PATH = vim.fs.dirname(hook) .. ":" .. vim.env.PATH
  local function report()
    vim.cmd("silent checkhealth ruleline")
    local text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), "\n")
    vim.cmd("bwipeout!")
    return text
  end
  local text = report()
  for name, part in pairs({
    ["Neovim's version"] = "Neovim 0.11",
    ["the server and its version"] = "/ruleline-server, version ",
    ["the hook of the same version"] = "OK hook: " .. hook .. ", version ",
    ["the client and its root"] = "root " .. root .. ", ",
    ["the rulebook"] = "/.ruleline/rules.toml: 1 rule",
    ["that trust is set"] = "trusted: git data of the projects",
    ["that exrc is a danger"] = "'exrc' is on",
    ["that another plugin reads settings"] = "neoconf.nvim reads settings from projects",
    ["that hooks were not reviewed"] = "never reviewed",
  }) do
    check("checkhealth tells " .. name, text:find(part, 1, true) ~= nil, text)
  end
  vim.o.exrc = false
  package.loaded["neoconf"] = nil
  check("and when there is no such danger", report():find("nothing in a project chooses which server runs", 1, true) ~= nil)
  require("ruleline.options").chosen.cmd = { "/nonexistent/ruleline-server" }
  text = report()
  check("checkhealth tells of a server that is not there", text:find("ERROR /nonexistent/ruleline-server is not a program", 1, true) ~= nil, text)
end

local function help()
  -- The plugin's folder stays as it is.
  vim.fn.mkdir(base .. "/help", "p")
  vim.uv.fs_copyfile(plugin .. "/doc/ruleline.txt", base .. "/help/ruleline.txt")
  local ok, problem = pcall(vim.cmd.helptags, base .. "/help")
  check("the help file has no tag twice", ok, problem)
  local tags = {}
  for _, line in ipairs(vim.fn.readfile(base .. "/help/tags")) do
    tags[line:match("^[^\t]+")] = true
  end
  local text = table.concat(vim.fn.readfile(plugin .. "/doc/ruleline.txt"), "\n")
  for link in text:gmatch("|([^|%s]+)|") do
    local known = tags[link] or #vim.fn.getcompletion(link, "help") > 0
    check("help links to " .. link, known)
  end
  for _, name in ipairs({ "status", "rules", "decisions", "hooks", "reload", "restart", "log" }) do
    check("help names :Ruleline " .. name, text:find(":Ruleline %[?" .. name) ~= nil)
  end
  for _, name in ipairs({ "cmd", "filetypes", "trusted", "baseline", "hints" }) do
    check("help names the option " .. name, text:find("\n`" .. name .. "`", 1, true) ~= nil)
  end
end

checks.run(function()
  write(root .. "/.ruleline/rules.toml", { "[[rule]]", 'id = "no-eval"', 'paths = ["**"]', "forbid = ['eval']", 'why = "no"' })
  write(root .. "/.ruleline/hooks/hooks.yaml", { "hooks: {}" })
  write(root .. "/a.py", { "a = 1", "b = 2", "c = 3" })
  vim.fn.mkdir(root .. "/.git", "p")
  vim.notify = function(message) table.insert(messages, message) end
  vim.notify_once = vim.notify
  vim.opt.runtimepath:append(plugin)
  vim.cmd("filetype on")
  options()
  look_up()
  commands()
  decisions()
  health()
  help()
end)
