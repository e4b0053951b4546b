--- What agents were answered: told by the server as it happens, shown in a window of its own, newest first.
local server = require("ruleline.server")
local status = require("ruleline.status")
local versions = require("ruleline.versions")

local M = {}

--- How many are kept, and asked of the server.
local MOST = 200
--- No file that is judged has more lines.
local MOST_LINES = 1e8
local NAME = "ruleline://decisions"
local HELP = "<CR> opens the file   r reviews a refusal   R asks again   q closes"
local WORDS = { deny = "refused", ask = "asked", allow = "allowed", none = "nothing said" }
local LOOKS = { deny = "DiagnosticError", ask = "DiagnosticWarn" }
local NAMESPACE = vim.api.nvim_create_namespace("ruleline.decisions")

---@class ruleline.Decision
---@field id string
---@field client integer The client that told it.
---@field time string In UTC, as RFC 3339 has it.
---@field agent string
---@field tool string
---@field decision string
---@field path? string
---@field root? string
---@field reason string
---@field findings {rule: string, line: integer?}[]
---@field reviewable boolean

---@type ruleline.Decision[] Newest first.
local kept = {}

--- Text in one line, whatever was sent in its place.
local function text(value)
  return type(value) == "string" and (value:gsub("%c", " ")) or ""
end

--- A decision as the rest of this file may rely on it; nil for what is none.
---@return ruleline.Decision?
local function read(sent, client)
  if type(sent) ~= "table" or type(sent.id) ~= "string" then
    return nil
  end
  local findings = {}
  for _, finding in ipairs(type(sent.findings) == "table" and sent.findings or {}) do
    if type(finding) == "table" and type(finding.rule) == "string" then
      local line = type(finding.line) == "number" and finding.line or 0
      local is_line = line >= 1 and line <= MOST_LINES and line % 1 == 0
      table.insert(findings, { rule = text(finding.rule), line = is_line and line or nil })
    end
  end
  return {
    id = sent.id,
    client = client,
    time = text(sent.time),
    agent = text(sent.agent),
    tool = text(sent.tool),
    decision = text(sent.decision),
    path = type(sent.path) == "string" and sent.path or nil,
    root = type(sent.root) == "string" and sent.root or nil,
    reason = text(sent.reason),
    findings = findings,
    reviewable = sent.reviewable == true,
  }
end

--- Keeps decisions, each once, the newest ones.
local function keep(decisions)
  local known = {}
  for _, decision in ipairs(decisions) do
    known[decision.id] = true
  end
  for _, decision in ipairs(kept) do
    if not known[decision.id] then
      table.insert(decisions, decision)
    end
  end
  table.sort(decisions, function(one, other)
    return one.time > other.time or (one.time == other.time and one.id > other.id)
  end)
  while #decisions > MOST do
    table.remove(decisions)
  end
  kept = decisions
end

--- The time of day here, of a time in UTC.
local function clock(time)
  local year, month, day, hour, minute, second = time:match("^(%d+)-(%d+)-(%d+)T(%d+):(%d+):(%d+)")
  if not year then
    return "--:--:--"
  end
  local at = os.time({ year = year, month = month, day = day, hour = hour, min = minute, sec = second, isdst = false })
  local away = os.date("!*t", at)
  away.isdst = false
  return os.date("%H:%M:%S", at + os.difftime(at, os.time(away))) --[[@as string]]
end

--- Where it happened: the path below the root, and the first line that a rule names.
local function place(decision)
  if not decision.path then
    return ""
  end
  local root = decision.root and decision.root:gsub("/*$", "/") or nil
  local is_below = root and vim.startswith(decision.path, root)
  local path = is_below and decision.path:sub(#root + 1) or decision.path
  local line = decision.findings[1] and decision.findings[1].line
  return text(path) .. (line and ":" .. line or "")
end

local function rules(decision)
  local names, seen = {}, {}
  for _, finding in ipairs(decision.findings) do
    if not seen[finding.rule] then
      seen[finding.rule] = true
      table.insert(names, finding.rule)
    end
  end
  return table.concat(names, " ")
end

--- One row per decision, its columns padded; and the column at which each row's decision begins.
local function rows()
  local cells, widths = {}, {}
  for index, decision in ipairs(kept) do
    cells[index] = {
      clock(decision.time),
      decision.agent,
      WORDS[decision.decision] or decision.decision,
      decision.tool,
      place(decision),
      rules(decision),
      decision.reason,
    }
    for column, cell in ipairs(cells[index]) do
      widths[column] = math.max(widths[column] or 0, vim.fn.strdisplaywidth(cell))
    end
  end
  local lines, starts = {}, {}
  for index, row in ipairs(cells) do
    local line = ""
    for column, cell in ipairs(row) do
      starts[index] = column == 3 and #line or starts[index]
      line = line .. cell .. (" "):rep(column < #row and widths[column] - vim.fn.strdisplaywidth(cell) + 2 or 0)
    end
    lines[index] = (line:gsub("%s+$", ""))
  end
  return lines, starts
end

local function find_buffer()
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_get_name(buffer) == NAME then
      return buffer
    end
  end
end

--- The decision in the row of the window's cursor.
local function under_cursor(window)
  return kept[vim.api.nvim_win_get_cursor(window)[1] - 1]
end

--- Writes the rows anew; a cursor stays on its decision.
local function draw()
  local buffer = find_buffer()
  if not buffer then
    return
  end
  local windows = vim.fn.win_findbuf(buffer)
  local lines, starts = rows()
  table.insert(lines, 1, #kept > 0 and HELP or "No agent's call was judged in the projects that are open.")
  vim.bo[buffer].modifiable = true
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, lines)
  vim.bo[buffer].modifiable, vim.bo[buffer].modified = false, false
  vim.api.nvim_buf_clear_namespace(buffer, NAMESPACE, 0, -1)
  vim.api.nvim_buf_set_extmark(buffer, NAMESPACE, 0, 0, { end_col = #lines[1], hl_group = "Comment" })
  for index, decision in ipairs(kept) do
    local word, look = WORDS[decision.decision] or decision.decision, LOOKS[decision.decision]
    if look then
      local start = starts[index]
      vim.api.nvim_buf_set_extmark(buffer, NAMESPACE, index, start, { end_col = start + #word, hl_group = look })
    end
  end
  for _, window in ipairs(windows) do
    local id = vim.w[window].ruleline_decision
    for index, decision in ipairs(kept) do
      if decision.id == id then
        vim.api.nvim_win_set_cursor(window, { index + 1, 0 })
      end
    end
  end
end

--- The server tells of a decision.
function M.told(_, sent, context)
  local decision = read(sent, context.client_id)
  if not decision then
    return
  end
  if decision.decision == "deny" then
    status.refused(context.client_id, decision)
  end
  keep({ decision })
  draw()
  vim.api.nvim_exec_autocmds("User", { pattern = "RulelineDecision", modeline = false, data = sent })
end

--- Asks every server for its decisions.
function M.ask()
  for _, client in ipairs(versions.clients()) do
    server.execute(client, "ruleline.decisions", { limit = MOST }, function(answer)
      local decisions = {}
      for _, sent in ipairs(type(answer) == "table" and answer or {}) do
        table.insert(decisions, read(sent, client.id))
      end
      keep(decisions)
      draw()
    end)
  end
end

--- Leaves for a window in which a file may be opened: the one before, else another, else a new one.
local function leave()
  local here = vim.api.nvim_get_current_win()
  vim.cmd("wincmd p")
  if vim.api.nvim_get_current_win() ~= here and vim.bo.buftype == "" then
    return
  end
  for _, window in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    if window ~= here and vim.bo[vim.api.nvim_win_get_buf(window)].buftype == "" then
      vim.api.nvim_set_current_win(window)
      return
    end
  end
  vim.cmd("aboveleft new")
end

--- Opens the file of the row under the cursor, at the line that was refused.
function M.open_file()
  local decision = under_cursor(0)
  if not decision then
    return
  end
  local path = decision.path
  -- A name that is no plain path could be one that a plugin fetches.
  local is_plain = path ~= nil and require("ruleline.options").is_absolute(path) and not path:find("%c")
  local found = is_plain and versions.uv.fs_stat(path) or nil
  if not found or found.type ~= "file" then
    server.tell(path and text(path) .. " is no file (any more)" or "this call was about no file", vim.log.levels.WARN)
    return
  end
  leave()
  local buffer = vim.fn.bufadd(path)
  vim.bo[buffer].buflisted = true
  vim.api.nvim_win_set_buf(0, buffer)
  local line = decision.findings[1] and decision.findings[1].line or 1
  vim.api.nvim_win_set_cursor(0, { math.min(line, vim.api.nvim_buf_line_count(buffer)), 0 })
  -- On the text, where a diagnostic and its actions are.
  vim.cmd("normal! ^zv")
end

--- Opens the refused lines of the row under the cursor for reading; what may be done then is offered there.
function M.review()
  local decision = under_cursor(0)
  if not decision then
    return
  end
  local client = vim.lsp.get_client_by_id(decision.client)
  if not client then
    server.tell("the server that told of this has ended; R asks again", vim.log.levels.WARN)
    return
  end
  leave()
  server.execute(client, "ruleline.reviewRefusal", { id = decision.id })
end

--- Opens the window and asks for what there is.
function M.open()
  local buffer = find_buffer()
  if not buffer then
    buffer = vim.api.nvim_create_buf(false, true)
    vim.api.nvim_buf_set_name(buffer, NAME)
    vim.bo[buffer].filetype = "ruleline-decisions"
    local keys = { ["<CR>"] = M.open_file, r = M.review, R = M.ask, q = "<Cmd>close<CR>" }
    for key, action in pairs(keys) do
      vim.keymap.set("n", key, action, { buffer = buffer, nowait = true, silent = true })
    end
    vim.api.nvim_create_autocmd("CursorMoved", {
      buffer = buffer,
      callback = function()
        local decision = under_cursor(0)
        vim.w.ruleline_decision = decision and decision.id or nil
      end,
    })
  end
  local window = vim.fn.win_findbuf(buffer)[1]
  if window then
    vim.api.nvim_set_current_win(window)
  else
    vim.cmd("botright 12split")
    vim.api.nvim_win_set_buf(0, buffer)
    vim.wo.wrap, vim.wo.number, vim.wo.relativenumber, vim.wo.cursorline = false, false, false, true
    vim.wo.winfixheight = true
  end
  draw()
  if #versions.clients() == 0 then
    server.tell("no server runs; open a file of a project first", vim.log.levels.WARN)
  end
  M.ask()
end

return M
