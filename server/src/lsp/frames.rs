//! Mends messages on their way in, so that a text nobody can type wrong does not end the session.
//!
//! Half of a surrogate pair (an editor splits one when its cursor stands inside) and bytes that are no UTF-8 become
//! U+FFFD, which is as long in UTF-16; an empty frame is left out. Everything else passes as it came, also what makes
//! tower-lsp give up: where frames cannot be told apart, nothing can be mended.

use std::borrow::Cow;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};

/// Bytes asked for at once.
const CHUNK: usize = 64 << 10;
/// A head that is longer than this is none.
const LONGEST_HEAD: usize = 64 << 10;

/// A reader of frames that gives them mended.
pub struct Mended<R> {
    inner: R,
    frames: Frames,
    chunk: Box<[u8]>,
    given: usize,
    ended: bool,
}

impl<R> Mended<R> {
    /// Mends what comes from `inner`.
    pub fn new(inner: R) -> Mended<R> {
        Mended { inner, frames: Frames::default(), chunk: vec![0; CHUNK].into_boxed_slice(), given: 0, ended: false }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Mended<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        loop {
            let rest = &this.frames.outgoing[this.given..];
            if !rest.is_empty() {
                let now = rest.len().min(buffer.remaining());
                buffer.put_slice(&rest[..now]);
                this.given += now;
                return Poll::Ready(Ok(()));
            }
            this.frames.outgoing.clear();
            this.given = 0;
            if this.ended {
                return Poll::Ready(Ok(()));
            }
            let mut chunk = ReadBuf::new(&mut this.chunk);
            ready!(Pin::new(&mut this.inner).poll_read(context, &mut chunk))?;
            this.ended = chunk.filled().is_empty();
            if this.ended {
                this.frames.finish();
            } else {
                this.frames.take(chunk.filled());
            }
        }
    }
}

/// What arrived and what goes on.
#[derive(Default)]
struct Frames {
    incoming: Vec<u8>,
    outgoing: Vec<u8>,
    /// The length of the head and of the body of the frame that is arriving, once known.
    arriving: Option<(usize, usize)>,
    /// There are no frames: everything passes as it comes.
    broken: bool,
}

impl Frames {
    fn take(&mut self, bytes: &[u8]) {
        self.incoming.extend_from_slice(bytes);
        let mut start = 0;
        while !self.broken {
            let rest = &self.incoming[start..];
            if self.arriving.is_none() {
                match head(rest) {
                    Head::Arriving => break,
                    Head::Broken => {
                        self.broken = true;
                        break;
                    }
                    Head::Whole(head, body) => self.arriving = Some((head, body)),
                }
            }
            let Some((head, length)) = self.arriving else { break };
            let Some(body) = rest.get(head..).and_then(|rest| rest.get(..length)) else { break };
            if !body.is_empty() {
                let body = mended(body);
                self.outgoing.extend_from_slice(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes());
                self.outgoing.extend_from_slice(&body);
            }
            self.arriving = None;
            start += head + length;
        }
        self.incoming.drain(..start);
        if self.broken {
            self.finish();
        }
    }

    /// Lets go of what is no whole frame.
    fn finish(&mut self) {
        self.outgoing.append(&mut self.incoming);
    }
}

/// What begins with these bytes.
enum Head {
    /// A head that is not there to its end.
    Arriving,
    /// A head of so many bytes, with a body of so many.
    Whole(usize, usize),
    /// No head.
    Broken,
}

fn head(bytes: &[u8]) -> Head {
    const END: &[u8] = b"\r\n\r\n";
    let searched = &bytes[..bytes.len().min(LONGEST_HEAD)];
    let Some(end) = searched.windows(END.len()).position(|window| window == END) else {
        return if searched.len() < LONGEST_HEAD { Head::Arriving } else { Head::Broken };
    };
    let length = std::str::from_utf8(&bytes[..end]).ok().and_then(|head| {
        head.split("\r\n").find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.trim().eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
        })
    });
    length.map_or(Head::Broken, |length| Head::Whole(end + END.len(), length))
}

fn mended(body: &[u8]) -> Cow<'_, [u8]> {
    let text = String::from_utf8_lossy(body);
    let lone = lone_surrogates(&text);
    match text {
        Cow::Borrowed(_) if lone.is_empty() => Cow::Borrowed(body),
        text => {
            let mut bytes = text.into_owned().into_bytes();
            for at in lone {
                bytes[at..at + 6].copy_from_slice(br"\ufffd");
            }
            Cow::Owned(bytes)
        }
    }
}

/// Where escapes of half a surrogate pair stand.
fn lone_surrogates(text: &str) -> Vec<usize> {
    let mut lone = Vec::new();
    let mut at = 0;
    while let Some(found) = text[at..].find('\\') {
        at += found;
        at += match surrogate(text, at) {
            Some(Half::First) if matches!(surrogate(text, at + 6), Some(Half::Second)) => 12,
            Some(_) => {
                lone.push(at);
                6
            }
            // A backslash and the one character after it, which may be a backslash too.
            None => 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8),
        };
    }
    lone
}

enum Half {
    First,
    Second,
}

fn surrogate(text: &str, at: usize) -> Option<Half> {
    let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
    match u16::from_str_radix(digits, 16).ok()? {
        0xd800..=0xdbff => Some(Half::First),
        0xdc00..=0xdfff => Some(Half::Second),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(body: &[u8]) -> Vec<u8> {
        [format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes(), body].concat()
    }

    fn through(bytes: &[u8], chunk: usize) -> Vec<u8> {
        let mut frames = Frames::default();
        bytes.chunks(chunk).for_each(|chunk| frames.take(chunk));
        frames.finish();
        frames.outgoing
    }

    #[test]
    fn halves_of_pairs_and_bad_bytes_are_replaced() {
        for (body, expected) in [
            (&br#"{"a":"x"}"#[..], &br#"{"a":"x"}"#[..]),
            (br#""\ud83d\ude00 \\ud83d""#, br#""\ud83d\ude00 \\ud83d""#),
            (br#""\ud83d""#, br#""\ufffd""#),
            (br#""\uDE00\ud83d\ud83d\uDE00\\\ud83d\n\u00e9""#, br#""\ufffd\ufffd\ud83d\uDE00\\\ufffd\n\u00e9""#),
            (b"\"a\xffb\\", b"\"a\xef\xbf\xbdb\\"),
            (br"\u12", br"\u12"),
        ] {
            assert_eq!(mended(body), expected, "{}", String::from_utf8_lossy(body));
        }
    }

    #[test]
    fn frames_pass_in_any_chunks() {
        let other_head = b"Content-Type: x\r\ncontent-length:  3\r\n\r\n\"a\"";
        let bytes =
            [&frame(br#"{"b":"\ud800"}"#), &frame(b""), &other_head[..], &frame(b"[1]"), b"Content-Le"].concat();
        let expected = [&frame(br#"{"b":"\ufffd"}"#), &frame(br#""a""#), &frame(b"[1]"), &b"Content-Le"[..]].concat();
        for chunk in 1..=bytes.len() {
            assert_eq!(through(&bytes, chunk), expected, "in chunks of {chunk}");
        }
    }

    #[test]
    fn what_is_no_frame_passes_as_it_is() {
        for bytes in
            [&b"hello\r\n\r\n{}"[..], b"Content-Length: -1\r\n\r\n{}", b"Content-Length: 99999999999999999999\r\n\r\n"]
        {
            for chunk in [1, 7, 100] {
                assert_eq!(through(bytes, chunk), bytes);
            }
        }
        let endless = vec![b'x'; 3 * LONGEST_HEAD];
        assert_eq!(through(&endless, 1000), endless);
        let huge = b"Content-Length: 18446744073709551615\r\n\r\n{}";
        assert_eq!(through(huge, 5), huge);
    }
}
