--- `:checkhealth ruleline`: whether the programs are found, what runs, and who else could choose the server.
local options = require("ruleline.options")
local server = require("ruleline.server")
local status = require("ruleline.status")
local versions = require("ruleline.versions")

local M = {}

--- Plugins that read settings from a project.
local READERS = {
  ["neoconf"] = "neoconf.nvim",
  ["nlspsettings"] = "nlsp-settings.nvim",
  ["config-local"] = "nvim-config-local",
  ["exrc"] = "exrc.nvim",
  ["direnv"] = "direnv.nvim",
}

--- What a program prints first for `--version`.
local function version_of(program)
  local said = vim.fn.systemlist({ program, "--version" })
  return vim.v.shell_error == 0 and said[1] and said[1]:match("%d+%.%d+%.%d+%S*") or nil
end

local function check_editor(health)
  local here = vim.version()
  local number = ("%d.%d.%d"):format(here.major, here.minor, here.patch)
  if vim.fn.has("nvim-0.9") == 0 then
    health.error(("Neovim %s: 0.9 or later is needed"):format(number))
  elseif versions.is_native() then
    health.ok(("Neovim %s starts the server by itself (vim.lsp.enable)"):format(number))
  else
    health.ok(("Neovim %s: the plugin starts the server (vim.lsp.start)"):format(number))
  end
  if not options.is_set_up then
    health.warn("setup() was not called", { 'Put `require("ruleline").setup()` into init.lua' })
  end
end

local function check_programs(health)
  local program, problem = server.find()
  local number = program and version_of(program)
  if not program then
    health.error(problem)
  elseif number then
    health.ok(("server: %s, version %s"):format(program, number))
  else
    health.error(("server: %s --version says nothing"):format(program))
  end
  local hook = vim.fn.exepath("ruleline")
  local its_number = hook ~= "" and version_of(hook)
  if hook == "" then
    health.warn("ruleline, which agents call, is not on the PATH", { "Agents are judged only where their hook is found" })
  elseif its_number ~= number then
    health.warn(("hook: %s, version %s, which is not the server's"):format(hook, its_number or "unknown"))
  else
    health.ok(("hook: %s, version %s"):format(hook, its_number))
  end
end

local function check_client(health, client)
  local buffers = vim.tbl_count(client.attached_buffers or {})
  health.ok(("client %d: root %s, %d buffers"):format(client.id, client.config.root_dir or "none", buffers))
  local answer = versions.call(client, "request_sync", "workspace/executeCommand", { command = "ruleline.status", arguments = {} }, 2000, 0)
  if not answer or answer.err then
    health.error(answer and answer.err.message or "the server does not answer; `:Ruleline restart` starts it again")
    return
  end
  local state = answer.result
  for _, line in ipairs(status.describe(state)) do
    health.info(line)
  end
  for _, book in ipairs(type(state.rulebooks) == "table" and state.rulebooks or {}) do
    if type(book.problems) == "number" and book.problems > 0 then
      health.error(("rulebook %s has problems; open it (`:Ruleline rules`)"):format(tostring(book.path)))
    end
  end
  if type(state.rulebooks) ~= "table" or #state.rulebooks == 0 then
    health.warn("no rulebook was found", { "`ruleline init` in the project writes one" })
  end
  for _, hooks in ipairs(type(state.hooks) == "table" and state.hooks or {}) do
    if hooks.state ~= "trusted" and type(hooks.message) == "string" then
      health.warn(hooks.message, { "`:Ruleline hooks review` shows every file" })
    end
  end
  if type(state.log) == "table" and state.log.state == "broken" then
    health.error("the log of decisions: " .. tostring(state.log.message))
  end
end

local function check_clients(health)
  local clients = versions.clients()
  if #clients == 0 then
    health.info("no server runs; it starts with the first file of a project")
  end
  for _, client in ipairs(clients) do
    check_client(health, client)
  end
end

local TRUSTED = {
  ["nil"] = "trusted is not set: git data is not read, and a buffer is compared with the file on disk",
  ["true"] = "trusted: git data of the projects that you open is read",
  ["false"] = "trusted = false: restricted; nothing can be trusted from the editor",
  ["function"] = "trusted: your function says it for each project",
}

local function check_trust(health)
  local trusted = options.chosen.trusted
  health.info(TRUSTED[type(trusted) == "function" and "function" or tostring(trusted)])
  local is_safe = true
  if vim.o.exrc then
    is_safe = false
    health.warn("'exrc' is on: a project's .nvim.lua, .nvimrc or .exrc that you allow can replace the server", {
      "Read such a file before you allow it, or leave 'exrc' off",
    })
  end
  for module, name in pairs(READERS) do
    if package.loaded[module] then
      is_safe = false
      health.warn(("%s reads settings from projects: one of them can replace the server"):format(name))
    end
  end
  for _, folder in ipairs(vim.split(vim.env.PATH or "", package.config:sub(1, 1) == "\\" and ";" or ":", { plain = true })) do
    if not options.is_absolute(folder) then
      is_safe = false
      health.warn(("the PATH has a relative folder (%q): the server is not looked for in it, other programs are"):format(folder))
    end
  end
  if is_safe then
    health.ok("nothing in a project chooses which server runs")
  end
end

function M.check()
  local health = versions.health()
  health.start("ruleline: programs")
  check_editor(health)
  check_programs(health)
  health.start("ruleline: servers")
  check_clients(health)
  health.start("ruleline: trust")
  check_trust(health)
end

return M
