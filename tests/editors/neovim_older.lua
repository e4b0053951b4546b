-- The plugin where Neovim does not start servers by itself, in a real Neovim 0.10 and with no more of its functions than
-- Neovim 0.9 has:
--   nvim -u NONE -i NONE --headless -l neovim_older.lua PLUGIN SERVER SCRATCH HOOK
-- Prints "ok" or "FAIL" for each check and "N passed, N failed" at the end.
local plugin, server, scratch = _G.arg[1], _G.arg[2], _G.arg[3]
local checks = dofile(vim.fs.dirname(debug.getinfo(1, "S").source:sub(2)) .. "/checks.lua")
local check, wait, write = checks.check, checks.wait, checks.write

--- What came after 0.9.
local LATER = {
  ["vim"] = { "uv", "system", "iter", "list_contains", "islist", "ringbuf", "snippet", "text", "glob", "lpeg", "re", "net" },
  ["vim.fs"] = { "root", "joinpath", "rm", "relpath", "abspath" },
  ["vim.lsp"] = { "get_clients", "config", "enable", "is_enabled", "log" },
  ["vim.lsp.codelens"] = { "enable" },
  ["vim.fn"] = {},
}

--- A table that shows all of another but what came later.
local function as_before(original, name)
  local hidden = {}
  for _, later in ipairs(LATER[name]) do
    hidden[later] = true
  end
  return setmetatable({}, {
    __index = function(_, key)
      if hidden[key] then
        return nil
      elseif name == "vim.fn" and key == "has" then
        return function(feature)
          return feature:find("^nvim%-0%.1%d") and 0 or vim.fn.has(feature)
        end
      end
      local inner = name .. "." .. tostring(key)
      return LATER[inner] and as_before(original[key], inner) or original[key]
    end,
    __newindex = original,
  })
end

--- Loads the plugin's modules into an environment that has no more.
local function hide_what_came_later()
  local environment = setmetatable({ vim = as_before(vim, "vim") }, { __index = _G })
  table.insert(package.loaders, 1, function(module)
    if vim.startswith(module, "ruleline") then
      local path = plugin .. "/lua/" .. module:gsub("%.", "/")
      local chunk = loadfile(path .. ".lua") or assert(loadfile(path .. "/init.lua"))
      return setfenv(chunk, environment)
    end
  end)
end

local function run()
  check("this Neovim is an older one", vim.lsp.enable == nil and vim.fn.has("nvim-0.11") == 0, tostring(vim.version()))
  local root = vim.loop.fs_realpath(scratch) .. "/project ä"
  local app, rulebook, plain = root .. "/src/app.py", root .. "/.ruleline/rules.toml", root .. "/NOTES"
  write(rulebook, { "[[rule]]", 'id = "no-eval"', 'paths = ["**/*.py"]', 'forbid_calls = ["eval"]', 'why = "parse"', "",
    "[[rule]]", 'id = "no-secret"', 'paths = ["NOTES"]', "forbid = ['secret']", 'why = "no"' })
  write(app, { "def f(name):", "\treturn name" })
  write(plain, { "nothing" })
  checks.commit_all(root)

  local messages = {}
  vim.lsp.handlers["window/showMessage"] = function(_, message) table.insert(messages, message.message) end
  vim.notify = function(message) table.insert(messages, message) end
  hide_what_came_later()
  vim.opt.runtimepath:append(plugin)
  require("ruleline").setup({
    cmd = { server },
    trusted = function(of) return of == root end,
  })
  vim.cmd("filetype on")
  vim.cmd("edit " .. vim.fn.fnameescape(app))
  local buffer = vim.api.nvim_get_current_buf()
  local function clients() return vim.lsp.get_clients({ name = "ruleline" }) end
  local function attached(to) return #vim.lsp.get_clients({ name = "ruleline", bufnr = to }) == 1 end
  local function diagnostics(of) return vim.diagnostic.get(of or buffer) end

  check("the server is attached", wait(function() return attached(buffer) end), messages)
  check("its root is the project", clients()[1].config.root_dir == root, clients()[1].config.root_dir)
  local bad = '\tx = "😀é\t😀"; y = eval(name)  # 😀'
  vim.api.nvim_buf_set_lines(buffer, 1, 2, true, { bad, "\treturn y" })
  check("one diagnostic", wait(function() return #diagnostics() == 1 end), diagnostics())
  local first, column = diagnostics()[1] or {}, bad:find("eval", 1, true) - 1
  check("on the call, in bytes", first.lnum == 1 and first.col == column, first)
  check("and nothing more of the line", bad:sub(column + 1, first.end_col):find("^eval") ~= nil and first.end_col < #bad, first)
  check("it is an error", first.severity == vim.diagnostic.severity.ERROR, first)

  local function act(title)
    vim.api.nvim_win_set_cursor(0, { 2, column })
    vim.lsp.buf.code_action({ apply = true, filter = function(action) return vim.startswith(action.title, title) end })
  end
  act("Explain")
  check("it is explained", wait(function() return table.concat(messages):find("rules.toml", 1, true) ~= nil end), messages)
  act("Go to rule")
  check("going to the rule opens the rulebook", wait(function() return vim.api.nvim_buf_get_name(0) == rulebook end))
  vim.cmd("buffer " .. buffer)
  vim.api.nvim_buf_set_lines(buffer, 1, 2, true, { "\ty = name" })
  check("mended, it is clear", wait(function() return #diagnostics() == 0 end), diagnostics())

  -- A file of no type; one server for both.
  vim.cmd("edit " .. vim.fn.fnameescape(plain))
  local notes = vim.api.nvim_get_current_buf()
  check("a file of no type is attached as well", wait(function() return attached(notes) end), vim.bo.filetype)
  check("to the same server", #clients() == 1 and #checks.servers(server) == 1, checks.servers(server))
  vim.api.nvim_buf_set_lines(notes, 0, -1, true, { "a secret" })
  check("and judged", wait(function() return #diagnostics(notes) == 1 end), diagnostics(notes))

  -- The commands.
  messages = {}
  local echoed
  vim.api.nvim_echo = function(chunks) echoed = chunks[1][1] end
  vim.cmd("Ruleline status")
  check("`:Ruleline status` answers", wait(function() return echoed ~= nil and echoed:find("2 rules", 1, true) ~= nil end), { echoed, messages })
  vim.cmd("Ruleline decisions")
  check("the decisions have a window", vim.bo.filetype == "ruleline-decisions", vim.bo.filetype)
  vim.cmd("close")
  vim.cmd("silent checkhealth ruleline")
  local health = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), "\n")
  check("`:checkhealth` names the server", health:find(server, 1, true) ~= nil and not health:find("Failed to run", 1, true), health)
  check("and that the plugin starts it", health:find("vim.lsp.start", 1, true) ~= nil, health)
  vim.cmd("bwipeout!")

  -- Killed, and started again.
  local old = checks.servers(server)[1]
  vim.loop.kill(tonumber(old), 9)
  check("killed, it starts again", wait(function()
    local now = checks.servers(server)
    return #now == 1 and now[1] ~= old and attached(buffer) and attached(notes)
  end), { old, checks.servers(server), messages })
  check("and judges as before", wait(function() return #diagnostics(notes) == 1 end), diagnostics(notes))
  local second = checks.servers(server)[1]
  vim.cmd("Ruleline restart")
  check("`:Ruleline restart` is a new one", wait(function()
    local now = checks.servers(server)
    return #now == 1 and now[1] ~= second and attached(buffer)
  end), checks.servers(server))

  for _, client in ipairs(clients()) do
    client.stop()
  end
  check("stopped, no process is left", wait(function() return #checks.servers(server) == 0 end), checks.servers(server))
  vim.wait(700)
  check("and none comes back", #checks.servers(server) == 0, checks.servers(server))
end

checks.run(run)
