//! Where well-known callables of the standard library and a few others take a parameter by its place.
//!
//! Only what a rule is likely to put a condition on: where a value can be passed without its keyword, a condition on
//! the keyword alone would miss it.

/// How a callable takes a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    /// As its n-th argument, from 0, or by keyword.
    At(usize),
    /// By keyword alone.
    KeywordOnly,
    /// The callable is not known.
    Unknown,
}

const POPEN: &[&str] = &[
    "args",
    "bufsize",
    "executable",
    "stdin",
    "stdout",
    "stderr",
    "preexec_fn",
    "close_fds",
    "shell",
    "cwd",
    "env",
    "universal_newlines",
    "startupinfo",
    "creationflags",
    "restore_signals",
    "start_new_session",
    "pass_fds",
];
const OPEN: &[&str] = &["file", "mode", "buffering", "encoding", "errors", "newline", "closefd", "opener"];
const PATH_OPEN: &[&str] = &["mode", "buffering", "encoding", "errors", "newline"];

/// Names with their parameters in order.
const SIGNATURES: &[(&str, &[&str])] = &[
    ("subprocess.Popen", POPEN),
    ("subprocess.call", POPEN),
    ("subprocess.check_call", POPEN),
    ("subprocess.check_output", POPEN),
    ("subprocess.run", POPEN),
    ("open", OPEN),
    ("io.open", OPEN),
    ("codecs.open", &["filename", "mode", "encoding", "errors", "buffering"]),
    ("pathlib.Path.open", PATH_OPEN),
    ("os.open", &["path", "flags", "mode"]),
    ("os.fdopen", &["fd", "mode", "buffering", "encoding", "errors", "newline", "closefd", "opener"]),
    ("os.popen", &["cmd", "mode", "buffering"]),
    ("os.makedirs", &["name", "mode", "exist_ok"]),
    ("os.mkdir", &["path", "mode"]),
    ("os.chmod", &["path", "mode"]),
    ("shutil.rmtree", &["path", "ignore_errors", "onerror"]),
    ("tempfile.NamedTemporaryFile", &["mode", "buffering", "encoding", "newline", "suffix", "prefix", "dir", "delete"]),
    ("tempfile.mktemp", &["suffix", "prefix", "dir"]),
    ("tarfile.open", &["name", "mode", "fileobj", "bufsize"]),
    ("zipfile.ZipFile", &["file", "mode", "compression", "allowZip64"]),
    ("yaml.load", &["stream", "Loader"]),
    ("yaml.load_all", &["stream", "Loader"]),
    ("pickle.load", &["file"]),
    ("pickle.loads", &["data"]),
    ("pickle.dump", &["obj", "file", "protocol"]),
    ("pickle.dumps", &["obj", "protocol"]),
    ("marshal.load", &["file"]),
    ("eval", &["source", "globals", "locals"]),
    ("exec", &["source", "globals", "locals"]),
    ("compile", &["source", "filename", "mode", "flags", "dont_inherit", "optimize"]),
    ("hashlib.new", &["name", "data"]),
    ("hashlib.md5", &["string"]),
    ("hashlib.sha1", &["string"]),
    ("logging.basicConfig", &[]),
    ("requests.get", &["url", "params"]),
    ("requests.post", &["url", "data", "json"]),
    ("requests.put", &["url", "data"]),
    ("requests.patch", &["url", "data"]),
    ("requests.delete", &["url"]),
    ("requests.head", &["url"]),
    ("requests.options", &["url"]),
    ("requests.request", &["method", "url"]),
    ("ssl.wrap_socket", &["sock", "keyfile", "certfile", "server_side", "cert_reqs"]),
    ("asyncio.run", &["main"]),
    ("asyncio.create_subprocess_shell", &["cmd", "stdin", "stdout", "stderr", "limit"]),
];

/// How the callable of this name takes a parameter.
pub(crate) fn takes(name: &str, parameter: &str) -> Takes {
    match SIGNATURES.iter().find(|(known, _)| *known == name) {
        Some((_, parameters)) => {
            parameters.iter().position(|it| *it == parameter).map_or(Takes::KeywordOnly, Takes::At)
        }
        None => Takes::Unknown,
    }
}
