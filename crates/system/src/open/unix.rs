//! Below a root with `openat2`, or with one `openat` for each component where the system has no such call; owner and
//! modes are looked at on what was opened, never on a path.

mod walk;

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::{Access, Durability, Look, OpenError, begin_open, beside, read_open};

/// A lock that is held while this lives.
#[derive(Debug)]
pub struct Lock {
    _file: OwnedFd,
}

/// A folder below which files are opened without following a link in any component.
#[derive(Debug)]
pub struct Root {
    dir: OwnedFd,
    path: PathBuf,
}

impl Root {
    /// Opens the folder itself; links on the way to it are followed.
    ///
    /// # Errors
    /// [`OpenError::Io`] when it is no folder that can be opened.
    pub fn open(path: &Path) -> Result<Root, OpenError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let dir = rustix::fs::open(path, flags, Mode::empty()).map_err(|errno| OpenError::io(path, errno))?;
        Ok(Root { dir, path: path.to_path_buf() })
    }

    /// The bytes of the regular file `relative`; none when there is no such file.
    ///
    /// # Errors
    /// [`OpenError`] for anything but a regular file of at most `cap` bytes reached without a link.
    pub fn read(&self, relative: &Path, cap: u64) -> Result<Option<Vec<u8>>, OpenError> {
        let path = self.path.join(relative);
        self.open_file(relative)?.map(|file| read_open(&file, &path, cap)).transpose()
    }

    /// The first bytes of the regular file `relative`, `most` of them; none when there is no such file.
    ///
    /// # Errors
    /// [`OpenError`] for anything but a regular file reached without a link.
    pub fn begin(&self, relative: &Path, most: usize) -> Result<Option<Vec<u8>>, OpenError> {
        let path = self.path.join(relative);
        self.open_file(relative)?.map(|file| begin_open(&file, &path, most)).transpose()
    }

    fn open_file(&self, relative: &Path) -> Result<Option<File>, OpenError> {
        match self.open_at(relative, OFlags::RDONLY, Mode::empty()) {
            Ok(fd) => Ok(Some(File::from(fd))),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Replaces the file `relative` at once: a new 0600 file is written and renamed onto it. Its folder exists.
    ///
    /// # Errors
    /// [`OpenError`] when the folder is reached over a link, or what stands there is no regular file of ours with one
    /// link, or writing fails; the old file then stands.
    pub fn replace(&self, relative: &Path, bytes: &[u8], durability: Durability) -> Result<(), OpenError> {
        let path = self.path.join(relative);
        let (folder, name) = self.parent_of(relative)?;
        if let Ok(found) = rustix::fs::statat(&folder, &name, AtFlags::SYMLINK_NOFOLLOW) {
            ours(&found, &path)?;
        }
        let new = PathBuf::from(beside(&name));
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        let written = rustix::fs::openat(&folder, &new, flags, mode).map_err(io::Error::from).and_then(|fd| {
            let mut file = File::from(fd);
            file.write_all(bytes)?;
            if durability == Durability::Synced {
                file.sync_all()?;
            }
            rustix::fs::renameat(&folder, &new, &folder, &name)?;
            if durability == Durability::Synced {
                rustix::fs::fsync(&folder)?;
            }
            Ok(())
        });
        written.map_err(|source| {
            let _ = rustix::fs::unlinkat(&folder, &new, AtFlags::empty());
            OpenError::io(&path, source)
        })
    }

    /// Makes the file `relative` with `bytes` unless something stands there already; says whether it was made.
    ///
    /// # Errors
    /// [`OpenError`] when its folder is reached over a link or writing fails.
    pub fn create(&self, relative: &Path, bytes: &[u8]) -> Result<bool, OpenError> {
        let path = self.path.join(relative);
        let (folder, name) = self.parent_of(relative)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::ROTH;
        match rustix::fs::openat(&folder, &name, flags, mode) {
            Ok(fd) => File::from(fd).write_all(bytes).map(|()| true).map_err(|source| OpenError::io(&path, source)),
            Err(Errno::EXIST) => Ok(false),
            Err(errno) => Err(OpenError::io(&path, errno)),
        }
    }

    /// Appends `bytes` to the file `relative` (made 0600) unless it holds `cap` bytes already; says whether it did.
    ///
    /// # Errors
    /// [`OpenError`] unless it is a regular file of ours with one link, reached without a link.
    pub fn append(&self, relative: &Path, bytes: &[u8], cap: u64) -> Result<bool, OpenError> {
        let path = self.path.join(relative);
        let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE;
        let fd = self.open_at(relative, flags, Mode::RUSR | Mode::WUSR)?;
        let found = rustix::fs::fstat(&fd).map_err(|errno| OpenError::io(&path, errno))?;
        ours(&found, &path)?;
        if found.st_size.cast_unsigned() >= cap {
            return Ok(false);
        }
        File::from(fd).write_all(bytes).map(|()| true).map_err(|source| OpenError::io(&path, source))
    }

    /// Waits for and holds the lock that the file `relative` (made 0600) stands for, until the result is dropped.
    ///
    /// # Errors
    /// As [`Root::append`], or the system has no locks here.
    pub fn lock(&self, relative: &Path) -> Result<Lock, OpenError> {
        let fd = self.lock_file(relative)?;
        let locked = rustix::fs::flock(&fd, rustix::fs::FlockOperation::LockExclusive);
        locked.map(|()| Lock { _file: fd }).map_err(|errno| OpenError::io(&self.path.join(relative), errno))
    }

    /// As [`Root::lock`], but waits for nobody; none when it is held elsewhere.
    ///
    /// # Errors
    /// As [`Root::lock`].
    pub fn try_lock(&self, relative: &Path) -> Result<Option<Lock>, OpenError> {
        let fd = self.lock_file(relative)?;
        match rustix::fs::flock(&fd, rustix::fs::FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Lock { _file: fd })),
            Err(Errno::WOULDBLOCK) => Ok(None),
            Err(errno) => Err(OpenError::io(&self.path.join(relative), errno)),
        }
    }

    /// Opens the file `relative` that is private to this user, and gives what it is; none when it is only to be read and
    /// not there. A new one is made 0600. Nothing is waited for, a lease of another process neither.
    ///
    /// # Errors
    /// [`OpenError`] unless it is a regular file of ours with one name, closed to others and reached without a link.
    pub fn open_private(&self, relative: &Path, access: Access) -> Result<Option<(File, Look)>, OpenError> {
        let path = self.path.join(relative);
        let flags = match access {
            Access::Read => OFlags::RDONLY,
            Access::Append => OFlags::RDWR | OFlags::APPEND | OFlags::CREATE,
            Access::Change => OFlags::RDWR | OFlags::CREATE,
        };
        let mode = if access == Access::Read { Mode::empty() } else { Mode::RUSR | Mode::WUSR };
        let fd = match self.open_at(relative, flags, mode) {
            Err(error) if access == Access::Read && error.is_not_found() => return Ok(None),
            opened => opened?,
        };
        let found = rustix::fs::fstat(&fd).map_err(|errno| OpenError::io(&path, errno))?;
        ours(&found, &path)?;
        let look = walk::seen(&found);
        match look.not_private() {
            Some(what) => Err(OpenError::NotOurs { path, what }),
            None => Ok(Some((File::from(fd), look))),
        }
    }

    fn lock_file(&self, relative: &Path) -> Result<OwnedFd, OpenError> {
        let path = self.path.join(relative);
        let fd = self.open_at(relative, OFlags::RDWR | OFlags::CREATE, Mode::RUSR | Mode::WUSR)?;
        let found = rustix::fs::fstat(&fd).map_err(|errno| OpenError::io(&path, errno))?;
        ours(&found, &path)?;
        Ok(fd)
    }

    /// Makes the folder `relative` (one level, 0755 under the umask) unless it is there.
    ///
    /// # Errors
    /// [`OpenError`] when something else stands there or it cannot be made.
    pub fn make_folder(&self, relative: &Path) -> Result<(), OpenError> {
        let path = self.path.join(relative);
        let (folder, name) = self.parent_of(relative)?;
        let mode = Mode::RWXU | Mode::RGRP | Mode::XGRP | Mode::ROTH | Mode::XOTH;
        match rustix::fs::mkdirat(&folder, &name, mode) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(OpenError::io(&path, errno)),
        }
        self.open_at(relative, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).map(drop)
    }

    fn parent_of(&self, relative: &Path) -> Result<(OwnedFd, PathBuf), OpenError> {
        let Some(name) = relative.file_name() else {
            return Err(OpenError::Link { path: self.path.join(relative) });
        };
        let parent = relative.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        match self.folder(parent)? {
            Some(folder) => Ok((folder.dir, PathBuf::from(name))),
            None => Err(OpenError::io(&self.path.join(relative), Errno::NOENT)),
        }
    }

    fn open_at(&self, relative: &Path, flags: OFlags, mode: Mode) -> Result<OwnedFd, OpenError> {
        let path = self.path.join(relative);
        let flags = flags | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = match beneath(self.dir.as_fd(), relative, flags, mode) {
            Err(Errno::NOSYS | Errno::PERM | Errno::INVAL) => step_by_step(self.dir.as_fd(), relative, flags, mode),
            other => other,
        };
        opened.map_err(|errno| match errno {
            Errno::LOOP | Errno::XDEV => OpenError::Link { path },
            Errno::NXIO => OpenError::NotRegular { path, what: "a FIFO or socket" },
            other => OpenError::io(&path, other),
        })
    }
}

/// Opens `path` without waiting for whoever would feed or drain it; links are followed.
pub(super) fn open_followed(path: &Path) -> Result<File, OpenError> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(fd) => Ok(File::from(fd)),
        Err(Errno::NXIO) => Err(OpenError::NotRegular { path: path.to_path_buf(), what: "a FIFO or socket" }),
        Err(errno) => Err(OpenError::io(path, errno)),
    }
}

/// The size in bytes of a regular file, an error for anything else.
pub(super) fn regular_size(file: &File, path: &Path) -> Result<u64, OpenError> {
    let found = rustix::fs::fstat(file).map_err(|errno| OpenError::io(path, errno))?;
    regular(&found, path)?;
    Ok(found.st_size.cast_unsigned())
}

/// Reads the file into the room that is there, and on while it goes on, up to `most` bytes.
pub(super) fn read_into(file: &File, bytes: &mut Vec<u8>, most: u64) -> io::Result<()> {
    while bytes.len() < bytes.capacity() {
        match rustix::io::read(file, rustix::buffer::spare_capacity(bytes)) {
            Ok(0) => return Ok(()),
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    // It grew meanwhile.
    file.take(most.saturating_sub(bytes.len() as u64)).read_to_end(bytes).map(drop)
}

pub(super) fn read_some_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<usize> {
    file.read_at(bytes, at)
}

pub(super) fn write_some_at(file: &File, bytes: &[u8], at: u64) -> io::Result<usize> {
    file.write_at(bytes, at)
}

pub(super) fn largest_file() -> u64 {
    rustix::process::getrlimit(rustix::process::Resource::Fsize).current.unwrap_or(u64::MAX)
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn beneath(dir: std::os::fd::BorrowedFd<'_>, relative: &Path, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
    use rustix::fs::ResolveFlags;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    rustix::fs::openat2(dir, relative, flags, mode, resolve)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn beneath(_: std::os::fd::BorrowedFd<'_>, _: &Path, _: OFlags, _: Mode) -> Result<OwnedFd, Errno> {
    Err(Errno::NOSYS)
}

fn step_by_step(
    dir: std::os::fd::BorrowedFd<'_>,
    relative: &Path,
    flags: OFlags,
    mode: Mode,
) -> Result<OwnedFd, Errno> {
    let mut names = Vec::new();
    for component in relative.components() {
        match component {
            Component::Normal(name) => names.push(name),
            Component::CurDir => {}
            _ => return Err(Errno::XDEV),
        }
    }
    let Some((last, above)) = names.split_last() else {
        return rustix::fs::openat(dir, ".", flags, mode);
    };
    let folder_flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut held: Option<OwnedFd> = None;
    for name in above {
        let at = held.as_ref().map_or(dir, AsFd::as_fd);
        let next = match rustix::fs::openat(at, *name, folder_flags, Mode::empty()) {
            // Opening a link as a folder gives ENOTDIR where the kernel looks at O_DIRECTORY first.
            Err(Errno::NOTDIR) if is_link(at, name) => return Err(Errno::LOOP),
            other => other?,
        };
        held = Some(next);
    }
    rustix::fs::openat(held.as_ref().map_or(dir, AsFd::as_fd), *last, flags, mode)
}

fn is_link(dir: std::os::fd::BorrowedFd<'_>, name: &std::ffi::OsStr) -> bool {
    rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Symlink)
}

fn regular(found: &rustix::fs::Stat, path: &Path) -> Result<(), OpenError> {
    let what = match FileType::from_raw_mode(found.st_mode) {
        FileType::RegularFile => return Ok(()),
        FileType::Directory => "a folder",
        FileType::Symlink => "a link",
        FileType::Fifo => "a FIFO",
        FileType::Socket => "a socket",
        _ => "a device",
    };
    Err(OpenError::NotRegular { path: path.to_path_buf(), what })
}

fn ours(found: &rustix::fs::Stat, path: &Path) -> Result<(), OpenError> {
    regular(found, path)?;
    let refuse = |what| Err(OpenError::NotOurs { path: path.to_path_buf(), what });
    if found.st_uid != rustix::process::getuid().as_raw() {
        return refuse("belongs to another user");
    }
    // None at all: it was replaced just now.
    if found.st_nlink > 1 {
        return refuse("has more than one name (hard link)");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{MetadataExt as _, symlink};

    use super::*;
    use crate::open::{read_below, read_judged};

    fn prepared() -> (tempfile::TempDir, PathBuf) {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path().to_path_buf();
        fs::create_dir_all(base.join("root/dir")).unwrap();
        fs::write(base.join("secret"), "secret").unwrap();
        fs::write(base.join("root/dir/file"), "text").unwrap();
        symlink(base.join("secret"), base.join("root/link")).unwrap();
        symlink("dir", base.join("root/linked")).unwrap();
        symlink(&base, base.join("root/out")).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, base.join("root/fifo"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)
            .unwrap();
        (temp, base)
    }

    #[test]
    fn s04_reading_below_a_root_never_follows_a_link() {
        let (_keep, base) = prepared();
        let root = Root::open(&base.join("root")).unwrap();
        for (path, expected) in [
            ("dir/file", "text"),
            ("./dir/file", "text"),
            ("dir/none", "none"),
            ("none/file", "none"),
            ("link", "Link"),
            ("linked/file", "Link"),
            ("out/secret", "Link"),
            ("../secret", "Link"),
            ("dir/../../secret", "Link"),
            ("/etc/passwd", "Link"),
            ("dir", "NotRegular"),
            ("fifo", "NotRegular"),
        ] {
            let got = match root.read(Path::new(path), 100) {
                Ok(Some(bytes)) => String::from_utf8(bytes).unwrap(),
                Ok(None) => "none".to_owned(),
                Err(error) => format!("{error:?}").split([' ', '{', '(']).next().unwrap().to_owned(),
            };
            assert_eq!(got, expected, "{path}");
        }
    }

    #[test]
    fn s04_the_step_by_step_walk_refuses_what_the_kernel_refuses() {
        let (_keep, base) = prepared();
        let root = Root::open(&base.join("root")).unwrap();
        let open = |path: &str| {
            step_by_step(root.dir.as_fd(), Path::new(path), OFlags::RDONLY | OFlags::NOFOLLOW, Mode::empty())
        };
        for path in ["link", "linked/file", "out/secret", "../secret", "dir/../../secret", "/etc/passwd"] {
            assert!(matches!(open(path), Err(Errno::LOOP | Errno::XDEV)), "{path}");
        }
        assert!(open("./dir/file").is_ok());
    }

    #[test]
    fn s27_size_is_capped() {
        let (_keep, base) = prepared();
        assert!(matches!(
            read_below(&base.join("root"), Path::new("dir/file"), 3),
            Err(OpenError::TooLarge { cap: 3, .. })
        ));
        assert_eq!(read_below(&base.join("nowhere"), Path::new("file"), 3).unwrap(), None);
    }

    #[test]
    fn s04_writing_touches_only_a_plain_file_of_ours() {
        let (_keep, base) = prepared();
        let root = Root::open(&base.join("root")).unwrap();
        fs::hard_link(base.join("secret"), base.join("root/hard")).unwrap();
        for path in ["link", "linked/new", "out/new", "hard", "fifo", "../new"] {
            assert!(root.append(Path::new(path), b"x", 100).is_err(), "append {path}");
            assert!(root.replace(Path::new(path), b"x", Durability::Usual).is_err(), "replace {path}");
        }
        assert_eq!(fs::read_to_string(base.join("secret")).unwrap(), "secret");
        assert!(!base.join("new").exists() && !base.join("root/dir/new").exists());

        assert!(root.append(Path::new("log"), b"one\n", 5).unwrap());
        assert!(root.append(Path::new("log"), b"two\n", 5).unwrap());
        assert!(!root.append(Path::new("log"), b"three\n", 5).unwrap(), "the cap is reached");
        assert_eq!(fs::read_to_string(base.join("root/log")).unwrap(), "one\ntwo\n");
        assert_eq!(fs::metadata(base.join("root/log")).unwrap().mode() & 0o777, 0o600);
    }

    #[test]
    fn replacing_is_whole_and_creating_touches_nothing_that_is_there() {
        let (_keep, base) = prepared();
        let root = Root::open(&base.join("root")).unwrap();
        root.replace(Path::new("dir/file"), b"new", Durability::Synced).unwrap();
        assert_eq!(fs::read_to_string(base.join("root/dir/file")).unwrap(), "new");
        assert_eq!(fs::read_dir(base.join("root/dir")).unwrap().count(), 1);
        assert!(!root.create(Path::new("dir/file"), b"other").unwrap());
        assert!(!root.create(Path::new("link"), b"other").unwrap());
        assert!(root.create(Path::new("dir/made"), b"made").unwrap());
        assert_eq!(fs::read_to_string(base.join("root/dir/file")).unwrap(), "new");
        root.make_folder(Path::new("folder")).unwrap();
        root.make_folder(Path::new("folder")).unwrap();
        assert!(root.make_folder(Path::new("out")).is_err());
    }

    #[test]
    fn s16_a_judged_file_may_be_a_link_but_never_blocks() {
        let (_keep, base) = prepared();
        assert_eq!(read_judged(&base.join("root/link")).unwrap().as_deref(), Some("secret"));
        assert_eq!(read_judged(&base.join("none")).unwrap(), None);
        assert_eq!(read_judged(&base.join("secret/below")).unwrap(), None);
        for path in ["root/fifo", "root/dir"] {
            assert!(matches!(read_judged(&base.join(path)), Err(OpenError::NotRegular { .. })), "{path}");
        }
        fs::write(base.join("bad"), b"a\xffb").unwrap();
        assert_eq!(read_judged(&base.join("bad")).unwrap().as_deref(), Some("a\u{fffd}b"));
    }
}
