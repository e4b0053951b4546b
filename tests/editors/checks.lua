-- What the scripts in Neovim share: checks that are counted, waiting, files, processes.
local M = {}
local passed, failed = 0, 0
local uv = vim.uv or vim.loop

local function say(text)
  io.stdout:write(text .. "\n")
  io.stdout:flush()
end

--- Prints "ok" or "FAIL" for a check, with what was found instead.
function M.check(name, ok, detail)
  if ok then
    passed = passed + 1
    say("ok   " .. name)
  else
    failed = failed + 1
    say("FAIL " .. name .. (detail ~= nil and "  " .. vim.inspect(detail):gsub("%s+", " ") or ""))
  end
end

--- Waits until a condition holds; whether it did.
function M.wait(condition)
  return (vim.wait(15000, condition, 20))
end

function M.write(path, lines)
  vim.fn.mkdir(vim.fs.dirname(path), "p")
  vim.fn.writefile(lines, path)
end

--- Makes a repository of a folder, with all that is in it as its first commit.
function M.commit_all(root)
  for _, arguments in ipairs({ { "init", "--quiet" }, { "add", "--all" }, { "commit", "--quiet", "--message", "first" } }) do
    local command = vim.list_extend({ "git", "-C", root, "-c", "user.name=t", "-c", "user.email=t@example.org" }, arguments)
    local said = vim.fn.system(command)
    assert(vim.v.shell_error == 0, said)
  end
end

local function read(path)
  local file = io.open(path)
  local text = file and file:read("*a") or ""
  return file and file:close() and text or ""
end

--- The servers that an editor, this one if none is named, has started and that still run.
function M.servers(server, pid)
  pid = pid or uv.os_getpid()
  local children = vim.split(read(("/proc/%d/task/%d/children"):format(pid, pid)), " ", { trimempty = true })
  return vim.tbl_filter(function(child)
    return vim.startswith(read(("/proc/%s/cmdline"):format(child)), server)
  end, children)
end

--- Runs a script and ends with "N passed, N failed".
function M.run(script)
  local ok, problem = xpcall(script, debug.traceback)
  if not ok then
    M.check("the script runs to its end", false, problem)
  end
  say(("%d passed, %d failed"):format(passed, failed))
  os.exit(failed == 0 and 0 or 1)
end

return M
