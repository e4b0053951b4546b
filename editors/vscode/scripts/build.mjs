// Bundles the extension into dist: what is needed at activation, and the language client that is loaded when the server
// starts.
import { build } from "esbuild";

await build({
  entryPoints: ["src/extension.ts", "src/client.ts"],
  outdir: "dist",
  bundle: true,
  // The client is a bundle of its own.
  external: ["vscode", "./client.js"],
  format: "cjs",
  platform: "node",
  target: "node20",
  minify: true,
  legalComments: "inline",
  loader: { ".toml": "text", ".md": "text" },
  logLevel: "warning",
});
