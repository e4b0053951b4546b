-- The server as Neovim 0.11 and later start it. `require("ruleline").setup` says what the user chose and enables it.
return require("ruleline.server").native_config()
