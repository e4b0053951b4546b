--- Project hooks in Neovim: lenses over hooks.yaml, the review in a buffer nobody can change, and where hooks stand.
local M = {}

local FOLDER = "/.ruleline/hooks/"
local COMMANDS = { review = "ruleline.reviewHooks", trust = "ruleline.trustHooks", untrust = "ruleline.untrustHooks" }
local WORDS = {
  notReviewed = "hooks not reviewed",
  changed = "hooks changed",
  trusted = "hooks trusted",
  refused = "hooks unreadable",
  lost = "hook grants unreadable",
}

---@type table<string, table[]> Where the hooks of each root stand, by client.
local standing = {}

local function is_of_hooks(buffer)
  return vim.api.nvim_buf_get_name(buffer):find(FOLDER, 1, true) ~= nil
end

local function refresh(buffer)
  if vim.api.nvim_buf_is_loaded(buffer) and vim.endswith(vim.api.nvim_buf_get_name(buffer), FOLDER .. "hooks.yaml") then
    vim.lsp.codelens.refresh({ bufnr = buffer })
  end
end

--- What the server tells of where hooks stand.
function M.told(_, status, context)
  standing[tostring(context.client_id)] = status.hooks
  vim.cmd.redrawstatus({ bang = true })
end

--- The server says that the lenses are others now.
function M.refreshed()
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    refresh(buffer)
  end
  return vim.NIL
end

--- Where the hooks of the buffer's root stand, for a statusline; empty when there are none.
function M.status(buffer)
  local name = vim.api.nvim_buf_get_name(buffer or 0)
  for _, hooks in pairs(standing) do
    for _, one in ipairs(hooks) do
      if vim.startswith(name, one.root .. "/") then
        return WORDS[one.state] or ""
      end
    end
  end
  return ""
end

--- Runs what the lens or action of this kind offers for the hooks of the current buffer's root.
---@param kind "review"|"trust"|"untrust"
function M.run(kind)
  local command = COMMANDS[kind]
  if not command then
    vim.notify("ruleline: hooks can be reviewed, trusted and untrusted: review, trust, untrust", vim.log.levels.ERROR)
    return
  end
  local name = vim.api.nvim_buf_get_name(0)
  local root = name:match("^(.*)" .. vim.pesc(FOLDER)) or vim.fs.root(0, ".ruleline")
  local client = vim.lsp.get_clients({ name = "ruleline" })[1]
  if not root or not client then
    vim.notify("ruleline: no hooks here, or no server", vim.log.levels.WARN)
    return
  end
  -- Without the token of a review a trust only opens the review; the action on hooks.yaml has it then.
  client:exec_cmd({ title = kind, command = command, arguments = { { root = vim.uri_from_fname(root) } } })
end

function M.setup()
  local group = vim.api.nvim_create_augroup("ruleline.hooks", {})
  vim.api.nvim_create_autocmd({ "LspAttach", "BufEnter", "InsertLeave", "TextChanged" }, {
    group = group,
    callback = function(event)
      if is_of_hooks(event.buf) and #vim.lsp.get_clients({ bufnr = event.buf, name = "ruleline" }) > 0 then
        refresh(event.buf)
      end
    end,
  })
  vim.api.nvim_create_autocmd("BufReadPost", {
    group = group,
    pattern = "*/reviews/????????????.txt",
    callback = function(event)
      vim.bo[event.buf].modifiable, vim.bo[event.buf].readonly, vim.bo[event.buf].swapfile = false, true, false
    end,
  })
  vim.api.nvim_create_user_command("RulelineHooks", function(given)
    M.run(given.args)
  end, {
    nargs = 1,
    desc = "Review, trust or untrust the hooks of this project",
    complete = function()
      return vim.tbl_keys(COMMANDS)
    end,
  })
end

return M
