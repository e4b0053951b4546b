-- Project hooks, the plugin, the server and real hook processes in a real Neovim:
--   nvim -u NONE -i NONE --headless -l neovim_hooks.lua PLUGIN SERVER SCRATCH HOOK
-- Prints "ok" or "FAIL" for each check and "N passed, N failed" at the end.
local plugin, server, scratch, hook = _G.arg[1], _G.arg[2], _G.arg[3], _G.arg[4]
local checks = dofile(vim.fs.joinpath(vim.fs.dirname(debug.getinfo(1, "S").source:sub(2)), "checks.lua"))
local check, wait, write = checks.check, checks.wait, checks.write

local function run()
  local base = vim.uv.fs_realpath(scratch)
  local root, state = base .. "/project", base .. "/state"
  local manifest, script, mark = root .. "/.ruleline/hooks/hooks.yaml", root .. "/.ruleline/hooks/block.sh", base .. "/mark"
  write(manifest, { "hooks:", "  PreToolUse:", "    - script: block", "      matcher: Bash" })
  write(script, { "echo ran >> " .. mark, "echo 'not here' >&2", "exit 2" })
  vim.fn.mkdir(root .. "/.git", "p")

  --- What a real hook process answers to a shell call of a session.
  local function shell(session)
    local payload = vim.json.encode({
      session_id = session,
      hook_event_name = "PreToolUse",
      cwd = root,
      tool_name = "Bash",
      tool_input = { command = "ls" },
    })
    local ran = vim
      .system({ hook, "hook", "--agent", "claude", "--state-dir", state }, {
        stdin = payload,
        env = { RULELINE_TEST_HOME = base .. "/home" },
      })
      :wait()
    local answer = ran.stdout ~= "" and vim.json.decode(ran.stdout).hookSpecificOutput or {}
    return answer.permissionDecision or "silent"
  end
  local function marks()
    return vim.fn.filereadable(mark) == 1 and #vim.fn.readfile(mark) or 0
  end

  local asked, choose = {}, "Trust"
  vim.ui.select = function(items, options, chosen)
    table.insert(asked, options.prompt)
    for index, item in ipairs(items) do
      local title = options.format_item and options.format_item(item) or item.title or item
      if title == choose then
        return chosen(item, index)
      end
    end
    chosen(nil, nil)
  end
  local messages = {}
  vim.lsp.handlers["window/showMessage"] = function(_, message)
    table.insert(messages, message.message)
  end
  vim.opt.runtimepath:append(plugin)
  require("ruleline").setup({ cmd = { server, "--state-dir", state } })

  vim.cmd("filetype on")
  vim.cmd.edit(vim.fn.fnameescape(manifest))
  local buffer = vim.api.nvim_get_current_buf()
  local function said()
    local text = ""
    for _, diagnostic in ipairs(vim.diagnostic.get(buffer)) do
      text = text .. diagnostic.message .. "\n"
    end
    return text
  end
  local function says(part)
    return wait(function() return said():find(part, 1, true) ~= nil end)
  end
  local function lenses()
    return vim.tbl_map(function(lens) return lens.command and lens.command.title or "" end, vim.lsp.codelens.get(buffer))
  end
  local function lens(start)
    return wait(function()
      return vim.iter(lenses()):any(function(title) return vim.startswith(title, start) end)
    end)
  end
  local function act(title)
    vim.cmd.buffer(buffer)
    vim.api.nvim_win_set_cursor(0, { 1, 0 })
    vim.lsp.buf.code_action({ apply = true, filter = function(action) return vim.startswith(action.title, title) end })
  end

  check("hooks of a clone are said to be not reviewed", says("never reviewed"), said())
  check("on the first line", vim.diagnostic.get(buffer)[1].lnum == 0)
  check("lenses offer the review", lens("Review"), lenses())
  check("and trust", lens("Trust these 2 files ("), lenses())
  check("the statusline says so", wait(function() return require("ruleline").status(buffer) == "hooks not reviewed" end))
  check("a session runs nothing of them", shell("one") == "silent" and marks() == 0)

  -- Trust without a review only opens the review.
  act("Hooks: Trust")
  local opened = wait(function() return vim.api.nvim_buf_get_name(0):find("/reviews/", 1, true) ~= nil end)
  check("trusting unread hooks opens the review", opened, vim.api.nvim_buf_get_name(0))
  local review = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), "\n")
  check("which shows every file whole", review:find("not here", 1, true) ~= nil and review:find("script: block", 1, true) ~= nil, review)
  check("and cannot be changed", not vim.bo.modifiable)
  check("nobody was asked", #asked == 0, asked)
  vim.wait(300)

  act("Hooks: Trust")
  wait(function() return #asked == 1 end)
  check("after it a person is asked", #asked == 1 and asked[1]:find(root, 1, true) ~= nil, asked)
  check("trusted, nothing is said any more", wait(function() return said() == "" end), said())
  check("and untrusting is offered", lens("Untrust"), lenses())
  check("the statusline says so too", wait(function() return require("ruleline").status(buffer) == "hooks trusted" end))
  check("the session that runs goes on without", shell("one") == "silent" and marks() == 0)
  check("the next one runs the hook", shell("two") == "deny" and marks() == 1)

  -- An edit of a script.
  local good = vim.fn.readfile(script)
  vim.cmd.edit(vim.fn.fnameescape(script))
  vim.api.nvim_buf_set_lines(0, 1, 2, true, { "echo 'evil' >&2" })
  vim.cmd("silent write")
  check("a changed script is told on the manifest", says("changed since they were trusted (block.sh)"), said())
  check("the hook stops and the call asks", shell("two") == "ask" and marks() == 1)
  vim.api.nvim_buf_set_lines(0, 0, -1, true, good)
  vim.cmd("silent write")
  check("the very bytes are trusted again", wait(function() return said() == "" end), said())
  check("and run", shell("two") == "deny" and marks() == 2)

  choose = "Cancel"
  act("Hooks: Untrust")
  wait(function() return #asked == 2 end)
  check("untrusting asks as well, and can be cancelled", shell("two") == "deny" and marks() == 3)
  choose = "Untrust"
  act("Hooks: Untrust")
  check("untrusted, the manifest says so", says("untrusted"), said())
  check("and nothing runs any more", shell("two") == "silent" and shell("three") == "silent" and marks() == 3)

  vim.lsp.enable("ruleline", false)
  check("stopping ends the client", wait(function() return #vim.lsp.get_clients({ name = "ruleline" }) == 0 end))
end

checks.run(run)
