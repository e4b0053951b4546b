//! Editors of a later Debian release than this machine's, unpacked into the cache folder: versions that people use and
//! no other package brings. Nothing is installed; a program runs with the release's own C library.
//!
//! The packages come from where this machine's own come from, and are checked with Debian's keys by apt.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::process::{output, run, run_with_retries};
use crate::{tools, workspace};

const RELEASE: &str = "trixie";
const KEYS: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";
/// Neovim 0.10, Helix 25.01, and the libraries that they load.
const PACKAGES: [&str; 14] = [
    "neovim",
    "neovim-runtime",
    "hx",
    "libc6",
    "libgcc-s1",
    "libluajit-5.1-2",
    "libluajit-5.1-common",
    "libmsgpack-c2",
    "libtree-sitter0.22",
    "libunibilium4",
    "libuv1t64",
    "libvterm0",
    "lua-lpeg",
    "lua-luv",
];
const LIBRARIES: &str = "usr/lib/x86_64-linux-gnu";

/// The release, unpacked.
pub struct Debian {
    root: PathBuf,
}

impl Debian {
    /// Finds it in the cache, or fetches it.
    pub fn need() -> Result<Debian> {
        if !cfg!(all(target_os = "linux", target_arch = "x86_64")) || !Path::new(KEYS).is_file() {
            bail!("packages of Debian {RELEASE} are fetched on an x86_64 Debian; these tests run there");
        }
        let digest = tools::sha256(PACKAGES.join(" ").as_bytes());
        let folder = workspace::cache()?.join(format!("debian-{RELEASE}-{}", &digest[..12]));
        let release = Debian { root: folder.join("root") };
        if !folder.join("complete").is_file() {
            if folder.exists() {
                fs::remove_dir_all(&folder)?;
            }
            release.fetch(&folder)?;
            fs::write(folder.join("complete"), "")?;
        }
        Ok(release)
    }

    /// A program of it.
    pub fn program(&self, name: &str) -> Command {
        let mut program = Command::new(self.root.join("usr/lib64/ld-linux-x86-64.so.2"));
        program.arg("--library-path").arg(self.root.join(LIBRARIES)).arg(self.root.join("usr/bin").join(name));
        program.env("VIMRUNTIME", self.root.join("usr/share/nvim/runtime"));
        program.env("HELIX_RUNTIME", self.root.join("usr/lib/hx/runtime"));
        program
    }

    fn fetch(&self, folder: &Path) -> Result<()> {
        let (lists, packages) = (folder.join("lists"), folder.join("packages"));
        for each in [&lists, &packages, &self.root] {
            fs::create_dir_all(each)?;
        }
        let sources = folder.join("sources.list");
        fs::write(&sources, format!("deb [signed-by={KEYS}] {} {RELEASE} main\n", archive()?))?;
        let apt = |arguments: &[&str]| {
            let mut apt = Command::new("apt-get");
            for (key, value) in [
                ("Dir::State::Lists", lists.as_os_str()),
                ("Dir::Cache", packages.as_os_str()),
                ("Dir::Etc::SourceList", sources.as_os_str()),
                ("Dir::Etc::SourceParts", OsStr::new("/dev/null")),
                ("Dir::Etc::PreferencesParts", OsStr::new("/dev/null")),
                ("APT::Sandbox::User", OsStr::new("")),
            ] {
                let mut option = OsStr::new(key).to_owned();
                option.push("=");
                option.push(value);
                apt.arg("-o").arg(option);
            }
            apt.arg("--quiet=2").args(arguments).current_dir(&packages);
            apt
        };
        run_with_retries(&mut apt(&["update"]))?;
        run_with_retries(apt(&["download"]).args(PACKAGES))?;
        for package in fs::read_dir(&packages)? {
            let package = package?.path();
            if package.extension().is_some_and(|it| it == "deb") {
                run(Command::new("dpkg-deb").arg("--extract").arg(&package).arg(&self.root))?;
            }
        }
        fs::remove_dir_all(&lists)?;
        fs::remove_dir_all(&packages)?;
        Ok(())
    }
}

/// Where this machine gets Debian's packages from.
fn archive() -> Result<String> {
    let known = || {
        let format = ["--format", "$(ORIGIN) $(REPO_URI)", "Identifier: Packages"];
        let sources = output(Command::new("apt-get").arg("indextargets").args(format))?;
        let mut debian = sources.lines().filter_map(|line| line.strip_prefix("Debian "));
        anyhow::Ok(debian.find(|uri| uri.trim_end_matches('/').ends_with("/debian")).map(str::to_owned))
    };
    if let Some(archive) = known()? {
        return Ok(archive);
    }
    // A machine that has never asked knows nothing of what it would get.
    tools::update_debian()?;
    known()?.context("apt knows no archive of Debian")
}
