--- What a user chose in `setup`, checked once.
local M = {}

---@class ruleline.Options
---@field cmd? string[] The server and its arguments; default `{ "ruleline-server" }`, found on the PATH.
---@field filetypes? string[] Where it starts; default: everywhere, since rules name paths, not languages.
---@field trusted? boolean|fun(root: string?): boolean? Whether you trust the projects you open; without it no
---repository's git data is read, and a buffer is compared with the file on disk.
---@field baseline? "head"|"disk"|"all" What a buffer is compared with in a trusted project; default `"head"`.
---@field hints? boolean Whether what a rule would say of lines that did not change is shown as hints; default true.
---@field symbols? "all"|"agents"|"off" Who asks for symbols; default `"all"`.

local BASELINES = { head = true, disk = true, all = true }
local SYMBOLS = { all = true, agents = true, off = true }

local function is_list(value)
  if type(value) ~= "table" or #value == 0 then
    return false
  end
  for key, one in pairs(value) do
    if type(key) ~= "number" or type(one) ~= "string" then
      return false
    end
  end
  return true
end

local EXPECTED = {
  cmd = { "a list with the server and its arguments", is_list },
  filetypes = { "a list of file types", is_list },
  trusted = {
    "true, false or a function of a project's root",
    function(value)
      return type(value) == "boolean" or type(value) == "function"
    end,
  },
  baseline = {
    '"head", "disk" or "all"',
    function(value)
      return BASELINES[value] == true
    end,
  },
  hints = {
    "true or false",
    function(value)
      return type(value) == "boolean"
    end,
  },
  symbols = {
    '"all", "agents" or "off"',
    function(value)
      return SYMBOLS[value] == true
    end,
  },
}

---@type ruleline.Options
M.chosen = {}
--- Whether `setup` was called.
M.is_set_up = false

--- Whether a path says the same from every folder.
function M.is_absolute(path)
  return vim.startswith(path, "/") or path:find("^%a:[/\\]") ~= nil
end

--- Takes over what the user chose; an error names what is wrong.
---@param options? ruleline.Options
function M.choose(options)
  options = vim.tbl_extend("force", {}, options or {})
  for name, value in pairs(options) do
    local expected = EXPECTED[name]
    if not expected then
      local names = vim.tbl_keys(EXPECTED)
      table.sort(names)
      error(("ruleline: there is no option %s; the options are %s"):format(name, table.concat(names, ", ")), 0)
    end
    if not expected[2](value) then
      error(("ruleline: option %s: expected %s"):format(name, expected[1]), 0)
    end
  end
  if options.cmd then
    options.cmd = vim.deepcopy(options.cmd)
    options.cmd[1] = options.cmd[1]:gsub("^~/", (vim.env.HOME or "~"):gsub("%%", "%%%%") .. "/")
    if options.cmd[1]:find("[/\\]") and not M.is_absolute(options.cmd[1]) then
      error(("ruleline: option cmd: %s is another program in each folder; give its whole path"):format(options.cmd[1]), 0)
    end
  end
  M.chosen, M.is_set_up = options, true
end

--- What the server is told of them at its start.
---@param root? string
function M.said(root)
  local said = vim.empty_dict()
  said.baseline, said.hints, said.symbols = M.chosen.baseline, M.chosen.hints, M.chosen.symbols
  if type(M.chosen.trusted) == "function" then
    local trusted = M.chosen.trusted(root)
    if type(trusted) == "boolean" then
      said.trusted = trusted
    end
  else
    said.trusted = M.chosen.trusted
  end
  return said
end

return M
