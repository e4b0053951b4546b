-- How servers begin and end, in Neovims that this one starts as a terminal would:
--   nvim -u NONE -i NONE --headless -l neovim_life.lua PLUGIN SERVER SCRATCH HOOK
-- Prints "ok" or "FAIL" for each check and "N passed, N failed" at the end.
local plugin, server, scratch = _G.arg[1], _G.arg[2], _G.arg[3]
local checks = dofile(vim.fs.joinpath(vim.fs.dirname(debug.getinfo(1, "S").source:sub(2)), "checks.lua"))
local check, wait, write = checks.check, checks.wait, checks.write

local base = vim.uv.fs_realpath(scratch)
local root, state = base .. "/project", base .. "/state"
local app, plain, other = root .. "/app.py", root .. "/NOTES", base .. "/other/b.py"

--- Another Neovim with the plugin, and what one can ask of it.
local function editor(trusted)
  local argv = { vim.v.progpath, "-u", "NONE", "-i", "NONE", "--headless", "--embed" }
  local channel = vim.fn.jobstart(argv, { rpc = true })
  local E = { pid = vim.fn.jobpid(channel) }
  function E.lua(code, ...) return vim.rpcrequest(channel, "nvim_exec_lua", code, { ... }) end
  function E.servers() return checks.servers(server, E.pid) end
  function E.attached(path) return E.lua("return #vim.lsp.get_clients({ bufnr = vim.fn.bufnr(...), name = 'ruleline' })", path) == 1 end
  function E.codes(path) return E.lua("return vim.tbl_map(function(it) return it.code end, vim.diagnostic.get(vim.fn.bufnr(...)))", path) end
  function E.said() return E.lua("return SAID") end
  function E.close() pcall(vim.rpcrequest, channel, "nvim_command", "qa!") end
  E.lua(
    [[local plugin, server, state, trusted = ...
      SAID = {}
      vim.notify = function(message) table.insert(SAID, message) end
      vim.opt.runtimepath:append(plugin)
      -- An editor that is killed leaves no swap file to be asked about.
      vim.o.swapfile = false
      vim.cmd("filetype on")
      SETUP = function() require("ruleline").setup({ cmd = { server, "--state-dir", state }, trusted = trusted }) end]],
    plugin, server, state, trusted
  )
  return E
end

local function sockets()
  return vim.fn.glob(state .. "/run/**/*.sock", true, true)
end

--- The records of what servers' editors hold unsaved.
local function unsaved()
  return vim.fn.glob(state .. "/unsaved/*", true, true)
end

local function gone(pid) return vim.uv.kill(pid, 0) ~= 0 end

local function living()
  local E = editor(true)
  E.lua("vim.cmd.edit(...)", app)
  E.lua("SETUP()")
  check("a file that was open before setup is attached", wait(function() return E.attached(app) end), E.said())
  E.lua("vim.cmd.edit(...)", plain)
  check("a file of no type as well", wait(function() return E.attached(plain) end), E.said())
  check("by one server", #E.servers() == 1, E.servers())
  E.lua("vim.cmd.edit(...)", other)
  check("another project has its own", wait(function() return #E.servers() == 2 end), E.servers())
  E.lua("vim.api.nvim_buf_set_lines(vim.fn.bufnr(...), 0, -1, true, { 'a secret' })", plain)
  check("the buffer is judged", wait(function() return vim.deep_equal(E.codes(plain), { "no-secret" }) end), E.codes(plain))

  -- Killed without warning.
  local before = E.servers()
  vim.uv.kill(tonumber(before[1]), 9)
  vim.uv.kill(tonumber(before[2]), 9)
  local back = wait(function()
    local now = E.servers()
    return #now == 2 and not vim.tbl_contains(before, now[1]) and E.attached(app) and E.attached(plain) and E.attached(other)
  end)
  check("killed, both start again with all their buffers", back, { E.servers(), E.said() })
  check("the editor said so", table.concat(E.said()):find("ended by itself (signal 9)", 1, true) ~= nil, E.said())
  check("and the buffer is judged as before", wait(function() return vim.deep_equal(E.codes(plain), { "no-secret" }) end), E.codes(plain))
  check("the statusline is there again", wait(function()
    return E.lua("return require('ruleline').statusline(vim.fn.bufnr(...))", plain):find("ruleline", 1, true) == 1
  end))

  -- Asked to.
  before = E.servers()
  E.lua("vim.cmd('Ruleline restart')")
  check("`:Ruleline restart` starts new ones", wait(function()
    local now = E.servers()
    -- Both attached: Neovim's own `enable(…, false)` below passes over a client that still initialises.
    return #now == 2 and not vim.tbl_contains(before, now[1]) and E.attached(app) and E.attached(plain) and E.attached(other)
  end), E.servers())
  check("each with a socket", wait(function() return #sockets() == 2 end), sockets())

  -- Stopped for good by a person.
  E.lua("vim.lsp.enable('ruleline', false)")
  check("disabled, they end", wait(function() return #E.servers() == 0 end), E.servers())
  E.lua("vim.cmd.edit(...)", root .. "/MORE")
  vim.wait(700)
  check("and do not come back, for a file of no type either", #E.servers() == 0, E.servers())
  E.lua("vim.lsp.enable('ruleline')")
  check("until they are enabled", wait(function() return #E.servers() > 0 end))
  E.close()
  check("closed, the editor is gone", wait(function() return gone(E.pid) end))
end

local function dying()
  local E = editor(true)
  E.lua("SETUP()")
  E.lua("vim.cmd.edit(...)", app)
  wait(function() return E.attached(app) end)
  local ends = 0
  while ends < 5 and wait(function() return #E.servers() == 1 and E.attached(app) end) do
    local pid = E.servers()[1]
    vim.uv.kill(tonumber(pid), 9)
    ends = ends + 1
    wait(function() return E.servers()[1] ~= pid end)
  end
  check("a server that ends five times is left alone", wait(function() return table.concat(E.said()):find("left alone", 1, true) ~= nil end), E.said())
  vim.wait(700)
  check("and not started", #E.servers() == 0, E.servers())
  E.lua("vim.cmd('Ruleline restart')")
  check("until a person says so", wait(function() return E.attached(app) end), E.servers())
  E.close()
end

local function closing()
  for how, close in pairs({
    [":qa!"] = function(E) E.close() end,
    ["a kill"] = function(E) vim.uv.kill(E.pid, 9) end,
  }) do
    local E = editor(true)
    E.lua("SETUP()")
    E.lua("vim.cmd.edit(...)", app)
    wait(function() return E.attached(app) and #sockets() == 1 end)
    E.lua("vim.api.nvim_buf_set_lines(vim.fn.bufnr(...), 0, -1, true, { 'a = 2' })", app)
    wait(function() return #unsaved() == 1 end)
    local pids = E.servers()
    check("a server, its socket and what is not saved are there before " .. how, #pids == 1 and #sockets() == 1 and #unsaved() == 1,
      { pids, sockets(), unsaved() })
    close(E)
    check("after it no process is left", wait(function() return gone(tonumber(pids[1])) end), pids)
    check("and no socket, and nothing unsaved", wait(function() return #sockets() == 0 and #unsaved() == 0 end), { sockets(), unsaved() })
  end
end

local function restricted()
  local E, manifest, mark = editor(false), root .. "/.ruleline/hooks/hooks.yaml", base .. "/mark"
  write(manifest, { "hooks:", "  PreToolUse:", "    - script: block" })
  write(root .. "/.ruleline/hooks/block.sh", { "touch " .. mark })
  E.lua("SETUP()")
  E.lua("vim.cmd.edit(...)", manifest)
  wait(function() return #E.codes(manifest) > 0 end)
  E.lua("ASKED = 0; vim.ui.select = function(_, _, chosen) ASKED = ASKED + 1; chosen(nil) end")
  E.lua("vim.cmd('Ruleline hooks trust')")
  check("restricted, trusting is refused", wait(function() return table.concat(E.said()):find("trust", 1, true) ~= nil end), E.said())
  check("nobody is asked and nothing runs", E.lua("return ASKED") == 0 and vim.fn.filereadable(mark) == 0)
  local lenses = E.lua(
    "return vim.tbl_map(function(it) return it.command and it.command.title or '' end, vim.lsp.codelens.get(vim.fn.bufnr(...)))", manifest)
  check("only reading is offered", not vim.iter(lenses):any(function(title) return vim.startswith(title, "Trust") end), lenses)
  E.lua("vim.cmd('Ruleline hooks review')")
  check("which works", wait(function() return E.lua("return vim.api.nvim_buf_get_name(0)"):find("/reviews/", 1, true) ~= nil end), E.said())
  check("by the same server", #E.servers() == 1, E.servers())
  E.close()
end

checks.run(function()
  write(root .. "/.ruleline/rules.toml", { "[[rule]]", 'id = "no-secret"', 'paths = ["*"]', "forbid = ['secret']", 'why = "no"' })
  vim.fn.mkdir(base .. "/other/.git", "p")
  vim.fn.mkdir(root .. "/.git", "p")
  write(app, { "a = 1" })
  write(plain, { "nothing" })
  write(other, { "b = 1" })
  living()
  dying()
  closing()
  restricted()
end)
