//! The socket between the hook and a language server that already knows the project: frames, messages, the endpoint a
//! server opens, and the blocking client of the hook.
//!
//! The socket saves work and decides nothing. An answer repeats the digests it was computed from, and whoever asked
//! verifies every claim against bytes of its own. Nothing here reads a rulebook or a source file, grants or runs
//! anything, or names an async runtime. On Windows no endpoint is opened and none is found: the hook works alone.

pub mod client;
pub mod endpoint;
pub mod frame;
pub mod message;

pub use client::{Alone, Asked, BUDGET, Client};
pub use endpoint::{Endpoint, EndpointError, Folder, FolderError, Record};
pub use frame::{CAP, Decoder, FrameError};
pub use message::{
    BookAnswer, BookRequest, Claim, Digest, JudgeRequest, Judged, Open, PROTOCOL, Pong, Refusal, Request, Response,
    Splice,
};
