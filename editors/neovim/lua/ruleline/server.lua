--- The server: how it is found, for which buffers it starts, and that it starts again when it ends by itself.
local options = require("ruleline.options")
local versions = require("ruleline.versions")

local M = {}

local MARKERS = { ".ruleline", ".git" }
--- The name of a text that the server makes for a person to read.
local REVIEW = "/reviews/%x%x%x%x%x%x%x%x%x%x%x%x%.txt$"
--- A server that ended this often within this time, in milliseconds, is left alone.
local MOST_ENDS, ENDS_WITHIN = 5, 3 * 60 * 1000
--- How long a server may take to end when it is asked to, in milliseconds.
local PATIENCE = 3000
--- Somebody ended it: SIGINT, SIGTERM, and the codes it has then.
local ASKED = { [2] = true, [15] = true, [130] = true, [143] = true }

---@type integer[] When servers ended by themselves.
local ends = {}
---@type table<integer, true> The clients that were told to end.
local ending = {}
local is_leaving = false
---@type table<string, true> The texts that servers opened for a person to read; each belongs to the one that opened it.
local reviews = {}

local function tell(message, level)
  vim.notify("ruleline: " .. message, level or vim.log.levels.INFO)
end
M.tell = tell

local function real(path)
  return versions.uv.fs_realpath(path) or path
end

--- Whether a path is a folder or lies in it, links resolved.
local function is_below(path, folder)
  path, folder = real(path), real(folder)
  return path == folder or vim.startswith(path, (folder:gsub("/*$", "/")))
end

--- The program to run. A bare name is looked up in the folders of the PATH, but never in one that is relative, nor in
--- one of the project: what a clone brings along must not become the server.
---@param root? string
---@return string? program
---@return string? problem
function M.find(root)
  local name = (options.chosen.cmd or { "ruleline-server" })[1]
  if options.is_absolute(name) then
    if vim.fn.executable(name) == 1 then
      return name
    end
    return nil, name .. " is not a program that can be run"
  end
  local separator = package.config:sub(1, 1) == "\\" and ";" or ":"
  local left_out = {}
  for _, folder in ipairs(vim.split(vim.env.PATH or "", separator, { plain = true })) do
    local program = folder .. "/" .. name
    if not options.is_absolute(folder) or (root and is_below(folder, root)) then
      if vim.fn.executable(program) == 1 then
        table.insert(left_out, program)
      end
    elseif vim.fn.executable(program) == 1 then
      return program
    end
  end
  if #left_out > 0 then
    return nil, ("%s lies in the project, or in a relative folder of the PATH, and is not run; if it is yours, name "
      .. "its whole path in `cmd` of setup()"):format(table.concat(left_out, ", "))
  end
  return nil, name .. " is not on the PATH; put it there, or name its whole path in `cmd` of setup()"
end

--- Whether a buffer holds a text that a server opened for reading.
function M.is_review(buffer)
  return reviews[vim.api.nvim_buf_get_name(buffer)] ~= nil
end

--- The command line for a project.
local function command_line(root)
  local program, problem = M.find(root)
  if not program then
    return nil, problem
  end
  local line = vim.deepcopy(options.chosen.cmd or { "ruleline-server" })
  line[1] = program
  return line
end

--- The nearest folder above a buffer's file with a marker in it.
---@param buffer integer
---@return string?
function M.root(buffer)
  local name = vim.api.nvim_buf_get_name(buffer)
  local found = vim.fs.find(MARKERS, { upward = true, limit = 1, path = vim.fs.dirname(name) })[1]
  return found and vim.fs.dirname(found)
end

--- Calls `start` with a buffer's root, if there is anything to start for it.
---@param buffer integer
---@param start fun(root: string?)
function M.with_root(buffer, start)
  local name = vim.api.nvim_buf_get_name(buffer)
  -- A buffer without a file has nothing that a rule could name.
  if vim.bo[buffer].buftype ~= "" or not options.is_absolute(name) or reviews[name] then
    return
  end
  local root = M.root(buffer)
  local _, problem = M.find(root)
  if problem then
    vim.notify_once("ruleline: " .. problem, vim.log.levels.WARN)
    return
  end
  start(root)
end

--- The client of a buffer, or else any.
---@param buffer? integer
function M.client(buffer)
  return versions.clients(buffer or vim.api.nvim_get_current_buf())[1] or versions.clients()[1]
end

--- Has the server run one of its commands. What it answers is handed on; an error is shown.
---@param client table
---@param command string
---@param argument? table
---@param answered? fun(answer: any)
---@param failed? fun(message: string)
function M.execute(client, command, argument, answered, failed)
  local parameters = { command = command, arguments = argument and { argument } or {} }
  local sent = versions.call(client, "request", "workspace/executeCommand", parameters, function(problem, answer)
    if problem then
      (failed or function(message)
        tell(message, vim.log.levels.WARN)
      end)(problem.message or vim.inspect(problem))
    elseif answered then
      answered(answer)
    end
  end)
  if not sent then
    tell("the server has ended; `:Ruleline restart` starts it again", vim.log.levels.WARN)
  end
end

--- Opens a document as the server asks. One that it made for a person to read is attached to it, since only this server
--- knows what may be done after reading it.
local function show_document(problem, parameters, context, ...)
  local uri = parameters and parameters.uri or ""
  local is_review = vim.startswith(uri, "file:") and uri:find(REVIEW) ~= nil
  if is_review then
    reviews[vim.uri_to_fname(uri)] = true
  end
  local answer = vim.lsp.handlers["window/showDocument"](problem, parameters, context, ...)
  if is_review then
    local buffer = vim.uri_to_bufnr(uri)
    vim.bo[buffer].modifiable, vim.bo[buffer].readonly, vim.bo[buffer].swapfile = false, true, false
    vim.lsp.buf_attach_client(buffer, context.client_id)
  end
  return answer
end

--- A server ended: unless somebody wanted that, it is started again.
local function ended(code, signal, id)
  local was_asked = ending[id] or is_leaving or ASKED[signal] or ASKED[code] or (code == 0 and signal == 0)
  ending[id] = nil
  require("ruleline.status").forget(id)
  if was_asked then
    return
  end
  local now = versions.uv.now()
  ends = vim.tbl_filter(function(at)
    return now - at < ENDS_WITHIN
  end, ends)
  table.insert(ends, now)
  local how = signal ~= 0 and ("signal " .. signal) or ("code " .. code)
  if #ends >= MOST_ENDS then
    tell(
      ("the server ended %d times in 3 minutes (%s) and is left alone; `:Ruleline log` has its last words, "
        .. "`:Ruleline restart` starts it again"):format(#ends, how),
      vim.log.levels.ERROR
    )
    return
  end
  tell(("the server ended by itself (%s) and is started again"):format(how), vim.log.levels.WARN)
  vim.defer_fn(M.attach_all, 200)
end

--- All of what a client is made from but its program and root.
---@return table
local function client_config()
  local capabilities = vim.lsp.protocol.make_client_capabilities()
  capabilities.workspace.codeLens = { refreshSupport = true }
  capabilities.experimental = vim.tbl_extend("force", capabilities.experimental or {}, {
    rulelineStatus = true,
    rulelineDecisions = true,
  })
  return {
    name = "ruleline",
    filetypes = options.chosen.filetypes,
    capabilities = capabilities,
    before_init = function(parameters, config)
      local given = type(parameters.initializationOptions) == "table" and parameters.initializationOptions or {}
      parameters.initializationOptions = vim.tbl_extend("force", vim.empty_dict(), given, options.said(config.root_dir))
    end,
    handlers = {
      ["ruleline/status"] = require("ruleline.status").told,
      ["ruleline/decision"] = require("ruleline.decisions").told,
      ["workspace/codeLens/refresh"] = require("ruleline.lenses").refreshed,
      ["window/showDocument"] = show_document,
    },
    on_exit = function(code, signal, id)
      vim.schedule(function()
        ended(code, signal, id)
      end)
    end,
  }
end

--- The configuration for `vim.lsp.enable`.
---@return vim.lsp.Config
function M.native_config()
  local config = client_config()
  config.root_dir = M.with_root
  config.cmd = function(dispatchers, client)
    local line, problem = command_line(client and client.root_dir)
    if not line then
      error("ruleline: " .. problem, 0)
    end
    return vim.lsp.rpc.start(line, dispatchers)
  end
  return config
end

--- Starts the server for a buffer, or attaches the one that runs for its root.
---@param buffer integer
function M.attach(buffer)
  local config = versions.is_native() and vim.deepcopy(vim.lsp.config.ruleline) or client_config()
  if config.filetypes and not vim.tbl_contains(config.filetypes, vim.bo[buffer].filetype) then
    return
  end
  M.with_root(buffer, function(root)
    config.root_dir = root
    config.cmd = versions.is_native() and config.cmd or command_line(root)
    vim.lsp.start(config, { bufnr = buffer, reuse_client = config.reuse_client })
  end)
end

--- Attaches every buffer that is loaded.
function M.attach_all()
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buffer) and #versions.clients(buffer) == 0 then
      M.attach(buffer)
    end
  end
end

--- Ends every server; then `done`.
local function stop_all(done)
  for _, client in ipairs(versions.clients()) do
    ending[client.id] = true
    versions.call(client, "stop")
  end
  local left, timer = PATIENCE / 50, versions.uv.new_timer()
  timer:start(0, 50, vim.schedule_wrap(function()
    if timer:is_closing() then
      return
    end
    left = left - 1
    local running = versions.clients()
    if #running > 0 and left > 0 then
      return
    end
    timer:stop()
    timer:close()
    for _, client in ipairs(running) do
      versions.call(client, "stop", true)
    end
    done()
  end))
end

--- Ends every server and starts it again for the buffers that are open.
function M.restart()
  ends = {}
  stop_all(M.attach_all)
end

--- Starts the server for the files that are open and for those that will be.
function M.enable()
  local group = vim.api.nvim_create_augroup("ruleline.server", {})
  vim.api.nvim_create_autocmd("VimLeavePre", {
    group = group,
    callback = function()
      is_leaving = true
    end,
  })
  local native = versions.is_native()
  if native then
    vim.lsp.config("ruleline", {})
    vim.lsp.enable("ruleline")
  end
  -- Neovim starts servers for file types; rules name paths, and a file may have no type.
  vim.api.nvim_create_autocmd({ "BufReadPost", "BufNewFile", "FileType", "BufFilePost" }, {
    group = group,
    callback = function(event)
      vim.schedule(function()
        local buffer = event.buf
        if vim.api.nvim_buf_is_valid(buffer) and vim.api.nvim_buf_is_loaded(buffer) then
          local by_neovim = native and vim.bo[buffer].filetype ~= ""
          if not by_neovim and (not native or vim.lsp.is_enabled == nil or vim.lsp.is_enabled("ruleline")) then
            M.attach(buffer)
          end
        end
      end)
    end,
  })
  if not native and vim.v.vim_did_enter == 1 then
    M.attach_all()
  end
end

return M
