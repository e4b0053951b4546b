--- `:Ruleline`: what a person can ask for by name.
local server = require("ruleline.server")
local status = require("ruleline.status")
local versions = require("ruleline.versions")

local M = {}

local WARN = vim.log.levels.WARN

--- The client of this buffer; says so where there is none.
local function client()
  local found = server.client()
  if not found then
    server.tell("no server runs; open a file of a project first, or see `:checkhealth ruleline`", WARN)
  end
  return found
end

local function show_status()
  local found = client()
  if found then
    server.execute(found, "ruleline.status", nil, function(answer)
      local lines = status.describe(type(answer) == "table" and answer or {})
      vim.api.nvim_echo({ { table.concat(lines, "\n") } }, true, {})
    end)
  end
end

local function open_log()
  vim.cmd("tabnew")
  vim.api.nvim_win_set_buf(0, vim.fn.bufadd(versions.log_path()))
  vim.bo.readonly, vim.bo.modifiable = true, false
  vim.cmd("normal! G")
end

local function reload()
  for _, each in ipairs(versions.clients()) do
    server.execute(each, "ruleline.reload", nil, function()
      server.tell("rulebooks, settings and hooks were read again")
    end)
  end
end

local function edit(path)
  vim.cmd("edit " .. vim.fn.fnameescape(path))
end

--- The rulebooks that hold for this buffer, the nearest first.
local function open_rules()
  local name, books = vim.api.nvim_buf_get_name(0), {}
  local above = vim.fs.find(".ruleline", { upward = true, limit = math.huge, path = vim.fs.dirname(name) })
  for _, folder in ipairs(above) do
    local book = folder .. "/rules.toml"
    if versions.uv.fs_stat(book) then
      table.insert(books, book)
    end
  end
  local told = server.client() and status.of_client(server.client().id) or {}
  for _, book in ipairs(type(told.rulebooks) == "table" and told.rulebooks or {}) do
    local is_new = type(book.path) == "string" and not vim.tbl_contains(books, book.path)
    if is_new and versions.uv.fs_stat(book.path) then
      table.insert(books, book.path)
    end
  end
  if #books == 0 then
    server.tell("there is no rulebook for this file; `ruleline init` writes one", WARN)
  elseif #books == 1 then
    edit(books[1])
  else
    vim.ui.select(books, { prompt = "Rulebook: " }, function(book)
      if book then
        edit(book)
      end
    end)
  end
end

local function hooks(kind)
  local hooks_of = require("ruleline.hooks")
  if hooks_of.COMMANDS[kind] then
    hooks_of.run(kind)
  else
    server.tell("hooks can be reviewed, trusted and untrusted: `:Ruleline hooks review`, `trust`, `untrust`", WARN)
  end
end

---@type table<string, {run: fun(argument: string?), takes?: string[]}>
local SUBCOMMANDS = {
  status = { run = show_status },
  log = { run = open_log },
  restart = {
    run = function()
      server.restart()
    end,
  },
  reload = { run = reload },
  rules = { run = open_rules },
  decisions = {
    run = function()
      require("ruleline.decisions").open()
    end,
  },
  hooks = { run = hooks, takes = { "review", "trust", "untrust" } },
}

local function names()
  local all = vim.tbl_keys(SUBCOMMANDS)
  table.sort(all)
  return all
end

local function starting_with(start, words)
  return vim.tbl_filter(function(word)
    return vim.startswith(word, start)
  end, words)
end

--- What can follow; `line` is the whole command up to the cursor.
local function complete(start, line)
  local before = vim.split(vim.trim(line:sub(1, #line - #start)), "%s+")
  if #before == 1 then
    return starting_with(start, names())
  end
  local subcommand = SUBCOMMANDS[before[2]]
  return #before == 2 and subcommand and starting_with(start, subcommand.takes or {}) or {}
end

function M.setup()
  vim.api.nvim_create_user_command("Ruleline", function(given)
    local name, argument = given.fargs[1] or "status", given.fargs[2]
    local subcommand = SUBCOMMANDS[name]
    local most = subcommand and subcommand.takes and 2 or 1
    if not subcommand or #given.fargs > most then
      server.tell(("`:Ruleline` knows %s"):format(table.concat(names(), ", ")), WARN)
      return
    end
    subcommand.run(argument)
  end, {
    nargs = "*",
    desc = "Ruleline: " .. table.concat(names(), ", "),
    complete = function(start, line, cursor)
      return complete(start, line:sub(1, cursor))
    end,
  })
end

return M
