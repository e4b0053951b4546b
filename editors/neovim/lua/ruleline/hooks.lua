--- Hooks of a project: what a person can do about them from any file of it.
local server = require("ruleline.server")

local M = {}

local FOLDER = "/.ruleline/hooks/"

M.COMMANDS = { review = "ruleline.reviewHooks", trust = "ruleline.trustHooks", untrust = "ruleline.untrustHooks" }

--- Runs what the lens or action of this kind offers for the hooks of the current buffer's root.
---@param kind "review"|"trust"|"untrust"
function M.run(kind)
  local name = vim.api.nvim_buf_get_name(0)
  local folder = vim.fs.find(".ruleline", { upward = true, limit = 1, path = vim.fs.dirname(name) })[1]
  local root = name:match("^(.*)" .. vim.pesc(FOLDER)) or (folder and vim.fs.dirname(folder))
  local client = server.client()
  if not root or not client then
    server.tell("no hooks here, or no server", vim.log.levels.WARN)
    return
  end
  -- Without the token of a review a trust only opens the review, which then has the action to trust what it shows.
  server.execute(client, M.COMMANDS[kind], { root = vim.uri_from_fname(root) })
end

return M
