-- The server as Neovim starts it. `require("ruleline").setup` adds what the user chose and enables it.
local MARKERS = { [".ruleline"] = true, [".git"] = true }

return {
  cmd = { "ruleline-server" },
  -- The nearest folder with a marker. A buffer without a file has nothing that a rule could name.
  root_dir = function(buffer, start)
    if vim.api.nvim_buf_get_name(buffer) ~= "" then
      start(vim.fs.root(buffer, function(name)
        return MARKERS[name] ~= nil
      end))
    end
  end,
}
