//! `cargo xtask dist`: the release archives under `target/dist`.
//!
//! On Linux the hook is a static musl program without position independence: starting the C library is the largest part
//! of a hook's time. The server is built for the host.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::node::Node;
use crate::process::{cargo, output, run};
use crate::{tools, vscode, workspace};

const PROFILE: &str = "dist";
const MUSL: &str = "x86_64-unknown-linux-musl";
/// Without position independence the kernel has nothing to relocate.
pub const STATIC_FLAGS: &str = "-C relocation-model=static";

/// What lies beside the programs in the archive.
const PAPERS: [&str; 7] =
    ["README.md", "ARCHITECTURE.md", "docs", "schemas", "LICENSE-APACHE", "LICENSE-MIT", "editors/neovim"];

/// Builds the release archives.
#[derive(Args)]
pub struct Dist {}

impl Dist {
    #[allow(clippy::unused_self, reason = "every command is run alike")]
    pub fn run(self) -> Result<ExitCode> {
        let server = server()?;
        let archive = pack(&[hook()?, server.clone()])?;
        let size = fs::metadata(&archive)?.len();
        println!("{} ({} kB)", archive.display(), size / 1000);
        println!("{}", extension(&server)?.display());
        Ok(ExitCode::SUCCESS)
    }
}

/// Builds the hook as it is shipped; returns the program.
pub fn hook() -> Result<PathBuf> {
    let mut build = cargo(&["build", "--locked", "--profile", PROFILE, "--package", "ruleline", "--bin", "ruleline"]);
    build.arg("--no-default-features");
    let triple = static_target()?;
    if let Some(triple) = triple {
        build.args(["--target", triple]).env("RUSTFLAGS", STATIC_FLAGS);
    }
    run(&mut build)?;
    Ok(workspace::program("ruleline", PROFILE, triple))
}

/// The target of static programs on this machine, with what it needs installed; none where there is no such target.
pub fn static_target() -> Result<Option<&'static str>> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Ok(None);
    }
    tools::need_target(MUSL)?;
    tools::need_program("musl-gcc", "musl-tools")?;
    Ok(Some(MUSL))
}

/// Builds the server as it is shipped; returns the program.
pub fn server() -> Result<PathBuf> {
    run(&mut cargo(&["build", "--locked", "--profile", PROFILE, "--package", "ruleline", "--bin", "ruleline-server"]))?;
    Ok(workspace::program("ruleline-server", PROFILE, None))
}

/// Packs programs and papers into one archive, with its SHA-256 in a file beside it.
fn pack(programs: &[PathBuf]) -> Result<PathBuf> {
    let name = format!("ruleline-{}-{}", workspace::VERSION, host()?);
    let folder = workspace::target().join("dist/archives");
    let content = folder.join(&name);
    if content.exists() {
        fs::remove_dir_all(&content)?;
    }
    fs::create_dir_all(&content)?;
    for program in programs {
        copy(program, &content.join(program.file_name().expect("a program has a name")))?;
    }
    for paper in PAPERS {
        copy(&workspace::root().join(paper), &content.join(paper))?;
    }
    let archive = folder.join(format!("{name}.tar.gz"));
    run(Command::new("tar").arg("-czf").arg(&archive).arg("-C").arg(&folder).arg(&name))?;
    let digest = tools::sha256(&fs::read(&archive)?);
    fs::write(folder.join(format!("{name}.tar.gz.sha256")), format!("{digest}  {name}.tar.gz\n"))?;
    Ok(archive)
}

/// Packs the VS Code extension with the server.
fn extension(server: &Path) -> Result<PathBuf> {
    let target = match (std::env::consts::OS, std::env::consts::ARCH) {
        ("linux", "x86_64") => "linux-x64",
        (os, arch) => bail!("the VS Code extension is packed on x86_64 Linux, and this is {os} on {arch}"),
    };
    let package = workspace::target().join(format!("dist/archives/ruleline-{}-{target}.vsix", workspace::VERSION));
    vscode::pack(&Node::need()?, server, Some(target), &package)?;
    Ok(package)
}

fn host() -> Result<String> {
    output(Command::new("rustc").args(["--print", "host-tuple"]))
}

/// Copies a file, or a folder with all that is in it.
fn copy(from: &Path, to: &Path) -> Result<()> {
    if from.is_dir() {
        fs::create_dir_all(to)?;
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            copy(&entry.path(), &to.join(entry.file_name()))?;
        }
        return Ok(());
    }
    fs::create_dir_all(to.parent().expect("it lies in the archive's folder"))?;
    fs::copy(from, to).with_context(|| format!("cannot copy {}", from.display()))?;
    Ok(())
}
