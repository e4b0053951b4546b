--- Ruleline in Neovim: starts the language server for the files of a project.
local M = {}

---@class ruleline.Options
---@field cmd? string[] The server and its arguments; default `{ "ruleline-server" }`, found on the PATH.
---@field filetypes? string[] Where it starts; default: everywhere, since rules name paths, not languages.
---@field trusted? boolean Whether you trust the projects you open; without it no repository's git data is read, and a
---buffer is compared with the file on disk.
---@field baseline? "head"|"disk"|"all" What a buffer is compared with in a trusted project; default `"head"`.
---@field hints? boolean Whether what a rule would say of lines that did not change is shown as hints; default true.

---@param options? ruleline.Options
function M.setup(options)
  options = options or {}
  if not vim.lsp.config then
    error("ruleline: Neovim 0.11 or later is needed")
  end
  vim.validate("cmd", options.cmd, "table", true)
  vim.validate("filetypes", options.filetypes, "table", true)
  vim.validate("trusted", options.trusted, "boolean", true)
  vim.validate("hints", options.hints, "boolean", true)
  vim.validate("baseline", options.baseline, function(value)
    return vim.list_contains({ "head", "disk", "all" }, value)
  end, true, "'head', 'disk' or 'all'")
  local said = vim.empty_dict()
  said.trusted, said.baseline, said.hints = options.trusted, options.baseline, options.hints
  local hooks = require("ruleline.hooks")
  local capabilities = vim.lsp.protocol.make_client_capabilities()
  capabilities.workspace.codeLens = { refreshSupport = true }
  capabilities.experimental = vim.tbl_extend("force", capabilities.experimental or {}, { rulelineStatus = true })
  vim.lsp.config("ruleline", {
    cmd = options.cmd,
    filetypes = options.filetypes,
    init_options = said,
    capabilities = capabilities,
    handlers = { ["ruleline/status"] = hooks.told, ["workspace/codeLens/refresh"] = hooks.refreshed },
  })
  hooks.setup()
  vim.lsp.enable("ruleline")
end

--- Where the hooks of this buffer's project stand, for a statusline.
---@param buffer? integer
function M.status(buffer)
  return require("ruleline.hooks").status(buffer)
end

return M
