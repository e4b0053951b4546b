-- What an agent does, as a person in Neovim sees it, with real hook processes: a refusal in the buffer, its review, one
-- allowance, what is not saved, and all of it again after the server was killed:
--   nvim -u NONE -i NONE --headless -l neovim_live.lua PLUGIN SERVER SCRATCH HOOK
-- Prints "ok" or "FAIL" for each check and "N passed, N failed" at the end.
local plugin, server, scratch, hook = _G.arg[1], _G.arg[2], _G.arg[3], _G.arg[4]
local checks = dofile(vim.fs.joinpath(vim.fs.dirname(debug.getinfo(1, "S").source:sub(2)), "checks.lua"))
local check, wait, write = checks.check, checks.wait, checks.write

local base = vim.uv.fs_realpath(scratch)
local root, state = base .. "/project", base .. "/state"
local app = root .. "/src/app.py"
local OLD, REFUSED, FINE = "    return x", "    return eval(x)", "    return int(x)"

local messages, asked, choose = {}, {}, "Cancel"

--- What a real hook process answers to an agent that would write `new` in the place of a line of the file.
local function edit(new)
  local payload = vim.json.encode({
    session_id = "s",
    hook_event_name = "PreToolUse",
    cwd = root,
    tool_name = "Edit",
    tool_input = { file_path = app, old_string = OLD, new_string = new },
  })
  local command = { hook, "hook", "--agent", "claude", "--state-dir", state }
  local ran = vim.system(command, { stdin = payload, env = { RULELINE_TEST_HOME = base .. "/home" } }):wait()
  local answer = ran.stdout ~= "" and vim.json.decode(ran.stdout).hookSpecificOutput or {}
  return answer.permissionDecision or "silent", answer.permissionDecisionReason or ran.stderr
end

--- What stands in the file's buffer of agents.
local function refusals()
  return vim.tbl_filter(function(it)
    return vim.startswith(it.message, "claude was refused here")
  end, vim.diagnostic.get(vim.fn.bufnr(app)))
end

local function refused_at(line)
  return wait(function()
    return #refusals() == 1 and refusals()[1].lnum == line
  end)
end

local function set(line, text)
  vim.api.nvim_buf_set_lines(vim.fn.bufnr(app), line, line, true, { text })
end

--- The titles of the actions at the cursor.
local function actions()
  local client = vim.lsp.get_clients({ name = "ruleline", bufnr = 0 })[1]
  local parameters = vim.lsp.util.make_range_params(0, client.offset_encoding)
  parameters.context = { diagnostics = {} }
  local answer = client:request_sync("textDocument/codeAction", parameters, 15000, 0)
  return vim.tbl_map(function(action) return action.title end, answer and answer.result or {})
end

local function act(start)
  vim.lsp.buf.code_action({ apply = true, filter = function(action) return vim.startswith(action.title, start) end })
end

local function is_review()
  return vim.api.nvim_buf_get_name(0):find("/reviews/", 1, true) ~= nil
end

--- Waits until the text that is open offers to allow.
local function offers()
  return wait(function()
    return is_review() and vim.iter(vim.lsp.codelens.get(0)):any(function(lens)
      return lens.command and lens.command.title == "Allow this once"
    end)
  end)
end

local function refusal()
  vim.cmd.edit(app)
  check("the server is there", wait(function() return #vim.lsp.get_clients({ name = "ruleline", bufnr = 0 }) == 1 end), messages)
  -- The buffer as a person sees it has another line above than the last commit.
  set(0, "import sys")
  vim.cmd("silent write")
  local decision, reason = edit(REFUSED)
  local since = vim.uv.now()
  check("the hook refuses", decision == "deny", reason)
  check("the refusal stands in the buffer", refused_at(5), vim.diagnostic.get(0))
  io.stdout:write(("it came %d ms after the hook had ended\n"):format(vim.uv.now() - since))
  local found = refusals()[1] or {}
  check("as an error of the rule", found.severity == vim.diagnostic.severity.ERROR and found.code == "no-eval", found)
  check("with the line, and why", found.message and found.message:find("return eval(x)", 1, true) and found.message:find("parse it", 1, true) ~= nil, found)
  local line = function() return require("ruleline").statusline() end
  check("the statusline names it", wait(function() return line():find("claude refused by no-eval", 1, true) ~= nil end), line())
  set(0, "import re")
  check("it goes with the text", refused_at(6), refusals())
  vim.api.nvim_buf_set_lines(0, 0, 1, true, {})
  check("and back", refused_at(5), refusals())
  vim.cmd("silent write")
end

local function decisions()
  vim.cmd("Ruleline decisions")
  local function rows() return vim.api.nvim_buf_get_lines(0, 1, -1, true) end
  check("the window has the refusal", wait(function()
    return #rows() == 1 and rows()[1]:find("claude  refused  Edit  src/app.py:6  no-eval", 1, true) ~= nil
  end), rows())
  edit(FINE)
  check("and follows what happens", wait(function()
    return #rows() == 2 and rows()[1]:find("claude  allowed", 1, true) ~= nil
  end), rows())
  vim.api.nvim_win_set_cursor(0, { 3, 0 })
  vim.api.nvim_feedkeys(vim.keycode("<CR>"), "x", false)
  check("return opens the file there", vim.api.nvim_buf_get_name(0) == app and vim.api.nvim_win_get_cursor(0)[1] == 6)
  check("where the review is offered", vim.tbl_contains(actions(), "Review this refusal and allow it once"), actions())
  vim.cmd("wincmd p")
  vim.api.nvim_feedkeys("r", "x", false)
  check("r opens the review", offers(), { vim.api.nvim_buf_get_name(0), messages })
  local text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), "\n")
  check("with the refused line", text:find("     6 |     return eval(x)", 1, true) ~= nil, text)
  check("for reading", not vim.bo.modifiable)
  check("nobody was asked yet", #asked == 0, asked)
end

local function once()
  choose = "Cancel"
  act("Allow this once")
  check("a person is asked", wait(function() return #asked == 1 end), asked)
  check("who can say no", edit(REFUSED) == "deny")
  vim.cmd.buffer(vim.fn.bufnr(app))
  refused_at(5)
  vim.api.nvim_win_set_cursor(0, { 6, refusals()[1].col })
  act("Review this refusal")
  check("the finding leads to the review too", offers(), { vim.api.nvim_buf_get_name(0), messages })
  choose = "Allow once"
  act("Allow this once")
  check("one who agrees is told", wait(function() return table.concat(messages, "\n"):find("Allowed once against rule no-eval", 1, true) ~= nil end), messages)
  check("asked again before", #asked == 2, asked)
  check("other lines are refused as before", edit("    return eval(x) or 1") == "deny")
  check("these pass", edit(REFUSED) ~= "deny")
  check("once", edit(REFUSED) == "deny")
end

local function unsaved()
  vim.cmd.buffer(vim.fn.bufnr(app))
  check("saved, an edit needs nobody", edit(FINE) == "silent")
  set(0, "import os")
  local decision, reason
  check("not saved, it asks", wait(function()
    decision, reason = edit(FINE)
    return decision == "ask"
  end), { decision, reason })
  check("and names the editor", reason:find("unsaved changes in Neovim would be lost", 1, true) ~= nil, reason)
  vim.cmd("silent undo")
  check("taken back, it does not", wait(function() return edit(FINE) == "silent" end), { edit(FINE) })
  set(0, "import os")
  vim.cmd("silent write")
  check("nor when it is saved", wait(function() return edit(FINE) == "silent" end), { edit(FINE) })
end

local function killed()
  set(0, "import json")
  wait(function() return edit(FINE) == "ask" end)
  local pid = checks.servers(server)[1]
  vim.uv.kill(tonumber(pid), 9)
  check("killed, the server is another", wait(function()
    local now = checks.servers(server)
    return #now == 1 and now[1] ~= pid and #vim.lsp.get_clients({ name = "ruleline", bufnr = 0 }) == 1
  end), messages)
  check("it knows what is not saved", wait(function() return edit(FINE) == "ask" end), { edit(FINE) })
  vim.cmd("silent write")
  check("and what was saved", wait(function() return edit(FINE) == "silent" end), { edit(FINE) })
  edit(REFUSED)
  check("and shows refusals", wait(function() return #refusals() > 0 end), vim.diagnostic.get(0))
  vim.cmd("Ruleline decisions")
  check("and has the decisions of before", wait(function() return vim.api.nvim_buf_line_count(0) > 10 end), vim.api.nvim_buf_get_lines(0, 0, -1, true))
end

local function restricted()
  vim.lsp.enable("ruleline", false)
  wait(function() return #checks.servers(server) == 0 end)
  require("ruleline").setup({ cmd = { server, "--state-dir", state }, trusted = false })
  vim.cmd.buffer(vim.fn.bufnr(app))
  vim.cmd.edit()
  wait(function() return #vim.lsp.get_clients({ name = "ruleline", bufnr = 0 }) == 1 end)
  -- What was refused before the server began is no news: this one must be seen first.
  local seen = false
  vim.api.nvim_create_autocmd("User", { pattern = "RulelineDecision", callback = function() seen = true end })
  wait(function() return edit(REFUSED) == "deny" and vim.wait(500, function() return seen end, 20) end)
  check("restricted, refusals are seen all the same", seen and wait(function() return #refusals() > 0 end), vim.diagnostic.get(0))
  asked, messages = {}, {}
  vim.cmd("Ruleline decisions")
  vim.api.nvim_win_set_cursor(0, { 2, 0 })
  vim.api.nvim_feedkeys("r", "x", false)
  check("and can be read", wait(is_review), messages)
  vim.wait(500)
  local titles = actions()
  check("but not allowed", not vim.tbl_contains(titles, "Allow this once") and #vim.lsp.codelens.get(0) == 0 and #asked == 0, titles)
end

checks.run(function()
  write(root .. "/.ruleline/rules.toml", { "[[rule]]", 'id = "no-eval"', 'paths = ["**/*.py"]', 'forbid_calls = ["eval"]', 'why = "parse it"' })
  write(app, { "import os", "", "", "def run(x):", OLD })
  checks.commit_all(root)
  vim.notify = function(message) table.insert(messages, message) end
  vim.lsp.handlers["window/showMessage"] = function(_, message) table.insert(messages, message.message) end
  vim.ui.select = function(items, options, chosen)
    table.insert(asked, options.prompt)
    for index, item in ipairs(items) do
      if (options.format_item and options.format_item(item) or item.title or item) == choose then
        return chosen(item, index)
      end
    end
    chosen(nil, nil)
  end
  vim.opt.runtimepath:append(plugin)
  vim.o.hidden, vim.o.swapfile = true, false
  vim.cmd("filetype on")
  require("ruleline").setup({ cmd = { server, "--state-dir", state }, trusted = true })
  refusal()
  decisions()
  once()
  unsaved()
  killed()
  restricted()
  vim.lsp.enable("ruleline", false)
  wait(function() return #checks.servers(server) == 0 end)
  -- The texts that were reviewed are kept for a week.
  local left = vim.fn.glob(state .. "/{run,unsaved}/**/*.*", true, true)
  check("ended, it leaves nothing behind", #left == 0, left)
end)
