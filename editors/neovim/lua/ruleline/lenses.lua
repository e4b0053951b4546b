--- Lenses over what Ruleline reads, the rulebook and the files of hooks, and over the texts it opens for reading.
local versions = require("ruleline.versions")

local M = {}

local function has_lenses(buffer)
  local name = vim.api.nvim_buf_get_name(buffer)
  return name:find("/.ruleline/", 1, true) ~= nil or require("ruleline.server").is_review(buffer)
end

local function refresh(buffer)
  if vim.api.nvim_buf_is_loaded(buffer) and has_lenses(buffer) and #versions.clients(buffer) > 0 then
    versions.refresh_lenses(buffer)
  end
end

--- The server says that the lenses are others now.
function M.refreshed()
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    refresh(buffer)
  end
  return vim.NIL
end

function M.setup()
  vim.api.nvim_create_autocmd({ "LspAttach", "BufEnter", "InsertLeave", "TextChanged" }, {
    group = vim.api.nvim_create_augroup("ruleline.lenses", {}),
    callback = function(event)
      refresh(event.buf)
    end,
  })
end

return M
