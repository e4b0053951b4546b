--- Ruleline in Neovim: starts the language server for the files of a project, and shows what agents are refused.
local M = {}

---@param options? ruleline.Options
function M.setup(options)
  if vim.fn.has("nvim-0.9") == 0 then
    error("ruleline: Neovim 0.9 or later is needed", 0)
  end
  require("ruleline.options").choose(options)
  require("ruleline.lenses").setup()
  require("ruleline.command").setup()
  require("ruleline.server").enable()
end

--- Where the hooks of this buffer's project stand; empty where there are none.
---@param buffer? integer
function M.status(buffer)
  return require("ruleline.status").hooks(buffer)
end

--- Rules, hooks and the last refusal in one line for a statusline; empty where no server is attached.
---@param buffer? integer
function M.statusline(buffer)
  return require("ruleline.status").line(buffer)
end

return M
