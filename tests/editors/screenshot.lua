-- Draws what Neovim shows, cell by cell, as an SVG:
--   nvim -u NONE -i NONE --headless -l screenshot.lua PLUGIN SERVER SCRATCH HOOK OUT.svg
local plugin, server, scratch, out = _G.arg[1], _G.arg[2], _G.arg[3], _G.arg[5]
-- A screen without a terminal has 80 columns.
local COLUMNS, ROWS = 80, 11
local WIDTH, HEIGHT = 8.4, 18
local FOREGROUND, BACKGROUND = 0xd8dee9, 0x14161b

local function write(path, lines)
  vim.fn.mkdir(vim.fs.dirname(path), "p")
  vim.fn.writefile(lines, path)
end

local function color(number, default)
  return ("#%06x"):format(number or default)
end

local function escaped(text)
  return (text:gsub("[&<>]", { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;" }))
end

--- A wavy line below cells.
local function wave(x, y, cells, stroke)
  local path = { ("M%.1f %.1f"):format(x, y) }
  for step = 1, cells * 4 do
    path[#path + 1] = ("q%.2f %.1f %.2f 0"):format(WIDTH / 8, step % 2 == 1 and -2 or 2, WIDTH / 4)
  end
  return ('<path d="%s" fill="none" stroke="%s"/>'):format(table.concat(path), stroke)
end

--- The screen's cells as SVG, runs of one look in one element.
local function draw()
  -- The first look at a cell numbers all highlights anew; what is drawn after it has the right ones.
  vim.api.nvim__inspect_cell(1, 0, 0)
  vim.cmd("redraw!")
  local parts = {
    ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %d" font-family="ui-monospace, Menlo, Consolas, DejaVu Sans Mono, monospace" font-size="14">')
      :format(COLUMNS * WIDTH + 20, ROWS * HEIGHT + 20),
    ('<rect width="100%%" height="100%%" rx="6" fill="%s"/>'):format(color(BACKGROUND)),
  }
  for row = 0, ROWS - 1 do
    local column = 0
    while column < COLUMNS do
      local first = vim.api.nvim__inspect_cell(1, row, column)
      local look, text, start = first[2] or {}, "", column
      repeat
        local cell = vim.api.nvim__inspect_cell(1, row, column)
        if not vim.deep_equal(cell[2] or {}, look) then
          break
        end
        text = text .. cell[1]
        column = column + 1
      until column >= COLUMNS
      local x, y = 10 + start * WIDTH, 10 + row * HEIGHT
      local foreground, background = look.foreground, look.background
      if look.reverse then
        foreground, background = background or BACKGROUND, foreground or FOREGROUND
      end
      if background then
        parts[#parts + 1] = ('<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>')
          :format(x, y, (column - start) * WIDTH, HEIGHT, color(background))
      end
      local words = vim.trim(text)
      if words ~= "" then
        local indent = vim.fn.strchars(text:match("^%s*"))
        parts[#parts + 1] = ('<text x="%.1f" y="%d" fill="%s" textLength="%.1f" xml:space="preserve"%s>%s</text>'):format(
          x + indent * WIDTH, y + 13, color(foreground, FOREGROUND), vim.fn.strdisplaywidth(words) * WIDTH,
          look.bold and ' font-weight="bold"' or "", escaped(words)
        )
      end
      if look.undercurl or look.underline then
        parts[#parts + 1] = wave(x, y + 16, column - start, color(look.special, foreground or FOREGROUND))
      end
    end
  end
  parts[#parts + 1] = "</svg>"
  vim.fn.writefile(parts, out)
end

vim.o.columns, vim.o.lines = COLUMNS, ROWS
vim.o.termguicolors, vim.o.number, vim.o.signcolumn, vim.o.cmdheight = true, true, "yes", 1
vim.o.shortmess = vim.o.shortmess .. "FI"
vim.opt.runtimepath:append(plugin)
require("ruleline").setup({ cmd = { server } })
vim.diagnostic.config({ virtual_text = { current_line = false }, virtual_lines = false })
for _, severity in ipairs({ "Error", "Warn", "Info" }) do
  local highlight = vim.api.nvim_get_hl(0, { name = "DiagnosticUnderline" .. severity })
  vim.api.nvim_set_hl(0, "DiagnosticUnderline" .. severity, { undercurl = true, sp = highlight.sp })
end

local root = vim.fs.joinpath(vim.uv.fs_realpath(scratch), "project")
write(root .. "/.ruleline/rules.toml", {
  "[[rule]]", 'id = "no-eval"', 'paths = ["**/*.py"]', 'forbid_calls = ["eval"]', 'why = "use ast.literal_eval"', "",
  "[[rule]]", 'id = "no-shell"', 'paths = ["**/*.py"]', 'forbid_calls = ["os.system"]', 'on_fail = "ask"',
  'why = "pass a list"',
})
write(root .. "/report.py", { "import os", "", "", "def total(rows):", "    return sum(rows)" })
vim.cmd("filetype on | syntax on")
vim.cmd.edit(root .. "/report.py")
vim.wait(10000, function() return #vim.lsp.get_clients({ name = "ruleline" }) == 1 end, 20)
vim.api.nvim_buf_set_lines(0, 3, 5, true, {
  "def total(rows, formula):", "    return eval(formula)", "", "", "def publish(name):", '    os.system("scp " + name)',
})
local seen = vim.wait(10000, function() return #vim.diagnostic.get(0) >= 2 end, 20)
vim.api.nvim_win_set_cursor(0, { 1, 0 })
vim.wait(300)
draw()
os.exit(seen and 0 or 1)
