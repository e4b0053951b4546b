--- What the server tells of itself, and how it is said in a few words: for a statusline, for `:Ruleline status`.
local versions = require("ruleline.versions")

local M = {}

local HOOKS = {
  notReviewed = "hooks not reviewed",
  changed = "hooks changed",
  trusted = "hooks trusted",
  refused = "hooks unreadable",
  lost = "hook grants unreadable",
}
--- How long the last refusal stands in the statusline, in milliseconds.
local REFUSAL_STANDS = 10 * 60 * 1000

---@type table<integer, table> What each client told last.
local told = {}
---@type table<integer, {agent: string, rule: string?, at: integer}>
local refusals = {}

local function list(value)
  return type(value) == "table" and value or {}
end

--- `1 rule`, `2 rules`.
local function counted(number, noun)
  return ("%d %s%s"):format(number, noun, number == 1 and "" or "s")
end

--- Text as a statusline may hold it. A percent sign would make it a program there.
local function inert(text)
  return (text:gsub("[%%%c]", "?"))
end

function M.told(_, status, context)
  told[context.client_id] = list(status)
  vim.cmd("redrawstatus!")
end

--- A client is gone.
function M.forget(client)
  told[client], refusals[client] = nil, nil
  vim.cmd("redrawstatus!")
end

--- An agent's call was refused.
function M.refused(client, decision)
  local finding = decision.findings[1]
  refusals[client] = { agent = decision.agent, rule = finding and finding.rule, at = versions.uv.now() }
  vim.cmd("redrawstatus!")
end

--- What the client told last; nil when it told nothing.
function M.of_client(client)
  return told[client]
end

--- The hooks of the root that a file lies in, the innermost one.
local function hooks_of(status, name)
  local nearest
  for _, hooks in ipairs(list(status.hooks)) do
    local is_inside = type(hooks.root) == "string" and vim.startswith(name, hooks.root .. "/")
    if is_inside and (not nearest or #hooks.root > #nearest.root) then
      nearest = hooks
    end
  end
  return nearest
end

--- Where the hooks of the buffer's root stand; empty when there are none.
function M.hooks(buffer)
  local name = vim.api.nvim_buf_get_name(buffer or 0)
  for _, status in pairs(told) do
    local hooks = hooks_of(status, name)
    if hooks then
      return HOOKS[hooks.state] or ""
    end
  end
  return ""
end

--- Rules, hooks and the last refusal in one short line; empty where no server is attached.
function M.line(buffer)
  buffer = (buffer == nil or buffer == 0) and vim.api.nvim_get_current_buf() or buffer
  local client = versions.clients(buffer)[1]
  if not client then
    return ""
  end
  local status, words = told[client.id] or {}, {}
  if type(status.rules) == "number" then
    table.insert(words, counted(status.rules, "rule"))
  end
  for _, book in ipairs(list(status.rulebooks)) do
    if type(book.problems) == "number" and book.problems > 0 then
      table.insert(words, "rulebook with problems")
      break
    end
  end
  local hooks = M.hooks(buffer)
  if hooks ~= "" then
    table.insert(words, hooks)
  end
  if status.restricted == true then
    table.insert(words, "restricted")
  end
  if list(status.log).state == "broken" then
    table.insert(words, "log broken")
  end
  local refusal = refusals[client.id]
  if refusal and versions.uv.now() - refusal.at < REFUSAL_STANDS then
    table.insert(words, refusal.agent .. " refused" .. (refusal.rule and " by " .. refusal.rule or ""))
  end
  return inert("ruleline" .. (#words > 0 and ": " .. table.concat(words, ", ") or ""))
end

--- A status in full, line by line.
---@param status table What the server answered.
---@return string[]
function M.describe(status)
  local lines = {}
  local function say(form, ...)
    table.insert(lines, (form:format(...):gsub("%c", " ")))
  end
  say("ruleline-server %s%s", tostring(status.version or "of unknown version"), status.restricted == true and ", restricted" or "")
  for _, root in ipairs(list(status.roots)) do
    say("project   %s", tostring(root))
  end
  for _, book in ipairs(list(status.rulebooks)) do
    local problems = type(book.problems) == "number" and book.problems or 0
    local rules = type(book.rules) == "number" and book.rules or 0
    say("rulebook  %s: %s%s", tostring(book.path), counted(rules, "rule"), problems > 0 and ", " .. counted(problems, "problem") or "")
  end
  if #list(status.rulebooks) == 0 then
    say("rulebook  none; `ruleline init` writes one")
  end
  for _, hooks in ipairs(list(status.hooks)) do
    local digest = type(hooks.digest) == "string" and " (" .. hooks.digest:sub(1, 12) .. ")" or ""
    say("hooks     %s: %s%s", tostring(hooks.root), HOOKS[hooks.state] or tostring(hooks.state), digest)
  end
  local decisions = list(status.decisions)
  if type(decisions.judged) == "number" then
    say("agents    %d judged, %d refused, %d asked", decisions.judged, decisions.refused or 0, decisions.asked or 0)
  end
  local log = list(status.log)
  if type(log.state) == "string" then
    say("log       %s%s", log.state, type(log.message) == "string" and ": " .. log.message or "")
  end
  return lines
end

return M
