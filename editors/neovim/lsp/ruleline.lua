-- The server as Neovim starts it. `require("ruleline").setup` adds what the user chose and enables it.
return {
  cmd = { "ruleline-server" },
  root_markers = { ".ruleline", ".git" },
}
