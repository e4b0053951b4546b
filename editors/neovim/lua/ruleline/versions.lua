--- What differs between the versions of Neovim that the plugin runs in (0.9 and later), in one place.
local M = {}

local HAS_METHODS = vim.fn.has("nvim-0.11") == 1

M.uv = vim.uv or vim.loop

--- Whether Neovim starts servers by itself (`vim.lsp.config` and `vim.lsp.enable`).
function M.is_native()
  return vim.lsp.config ~= nil and vim.lsp.enable ~= nil
end

--- The clients of Ruleline.
---@param buffer? integer Only those attached to it.
function M.clients(buffer)
  local get = vim.lsp.get_clients or vim.lsp.get_active_clients
  return get({ name = "ruleline", bufnr = buffer })
end

--- Calls a client's function, which is a method since 0.11.
function M.call(client, name, ...)
  if HAS_METHODS then
    return client[name](client, ...)
  end
  return client[name](...)
end

--- Asks for a buffer's lenses anew and shows them.
function M.refresh_lenses(buffer)
  if vim.lsp.codelens.enable then
    vim.lsp.codelens.enable(true, { bufnr = buffer })
  elseif vim.fn.has("nvim-0.10") == 1 then
    vim.lsp.codelens.refresh({ bufnr = buffer })
  elseif buffer == vim.api.nvim_get_current_buf() then
    vim.lsp.codelens.refresh()
  end
end

--- The file that Neovim writes what servers say on stderr to.
function M.log_path()
  local log = vim.lsp.log or require("vim.lsp.log")
  return log.get_filename()
end

--- How `:checkhealth` is written to.
function M.health()
  local health = vim.health
  return {
    start = health.start or health.report_start,
    ok = health.ok or health.report_ok,
    info = health.info or health.report_info,
    warn = health.warn or health.report_warn,
    error = health.error or health.report_error,
  }
end

return M
