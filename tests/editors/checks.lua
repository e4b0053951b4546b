-- What the scripts in Neovim share: checks that are counted, waiting, files.
local M = {}
local passed, failed = 0, 0

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
