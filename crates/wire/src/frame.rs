//! One message on the stream: a big-endian u32 length, then that many bytes.
//!
//! Knows nothing of what the bytes mean. Total over hostile input: an announced length costs no memory, only bytes
//! that arrived do, and no frame is longer than [`CAP`].

/// The longest payload, in bytes, in both directions.
pub const CAP: usize = 8 * 1024 * 1024;

const HEADER: usize = 4;

/// Why there is no frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// The payload is, or says it is, longer than [`CAP`].
    #[error("a frame of {length} bytes is over the limit of {CAP}")]
    TooLong {
        /// Its length in bytes.
        length: usize,
    },
}

/// The frame of `payload`.
///
/// # Errors
/// The payload is longer than [`CAP`].
pub fn encode(payload: &[u8]) -> Result<Vec<u8>, FrameError> {
    let length = within_cap(payload.len())?;
    let mut frame = Vec::with_capacity(HEADER + length);
    frame.extend_from_slice(&u32::try_from(length).expect("the cap fits in 32 bits").to_be_bytes());
    frame.extend_from_slice(payload);
    Ok(frame)
}

fn within_cap(length: usize) -> Result<usize, FrameError> {
    if length > CAP { Err(FrameError::TooLong { length }) } else { Ok(length) }
}

/// Collects one frame from a stream that arrives in pieces of any size. Bytes after the frame are ignored: there is
/// one message in each direction of a connection.
#[derive(Debug, Default)]
pub struct Decoder {
    received: Vec<u8>,
}

impl Decoder {
    /// Takes the next piece; gives the payload once it is whole.
    ///
    /// # Errors
    /// The announced length is over [`CAP`]; nothing of the payload is kept then.
    pub fn feed(&mut self, piece: &[u8]) -> Result<Option<&[u8]>, FrameError> {
        let missing = HEADER.saturating_sub(self.received.len());
        let (header, body) = piece.split_at(missing.min(piece.len()));
        self.received.extend_from_slice(header);
        let Some(announced) = self.received.first_chunk::<HEADER>() else {
            return Ok(None);
        };
        let end = HEADER + within_cap(u32::from_be_bytes(*announced) as usize)?;
        let wanted = end.saturating_sub(self.received.len());
        self.received.extend_from_slice(&body[..wanted.min(body.len())]);
        Ok((self.received.len() == end).then(|| &self.received[HEADER..]))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_frame_survives_any_chunking(
            payload in prop::collection::vec(any::<u8>(), 0..300),
            sizes in prop::collection::vec(1usize..40, 1..20),
            trailing in prop::collection::vec(any::<u8>(), 0..9),
        ) {
            let mut stream = encode(&payload).unwrap();
            let whole = stream.len();
            stream.extend_from_slice(&trailing);
            let mut decoder = Decoder::default();
            let mut fed = 0;
            for size in sizes.iter().cycle() {
                let piece = &stream[fed..(fed + size).min(stream.len())];
                fed += piece.len();
                let got = decoder.feed(piece).unwrap();
                prop_assert_eq!(got.is_some(), fed >= whole);
                if let Some(got) = got {
                    prop_assert_eq!(got, &payload[..]);
                    break;
                }
            }
        }

        #[test]
        fn hostile_bytes_give_a_payload_an_error_or_nothing(pieces in prop::collection::vec(
            prop::collection::vec(any::<u8>(), 0..64), 0..16)
        ) {
            let mut decoder = Decoder::default();
            let sent: usize = pieces.iter().map(Vec::len).sum();
            for piece in &pieces {
                if decoder.feed(piece).is_err() {
                    break;
                }
            }
            prop_assert!(decoder.received.len() <= sent, "memory follows the bytes that came, not the length they announce");
        }
    }

    #[test]
    fn the_cap_holds_both_ways() {
        let over = vec![0; CAP + 1];
        assert_eq!(encode(&over), Err(FrameError::TooLong { length: CAP + 1 }));
        assert_eq!(encode(&over[..CAP]).unwrap().len(), CAP + 4);
        let announced = u32::try_from(CAP + 1).unwrap().to_be_bytes();
        assert_eq!(Decoder::default().feed(&announced), Err(FrameError::TooLong { length: CAP + 1 }));
        assert_eq!(
            Decoder::default().feed(&u32::MAX.to_be_bytes()),
            Err(FrameError::TooLong { length: u32::MAX as usize })
        );
    }

    #[test]
    fn an_empty_payload_is_a_frame() {
        assert_eq!(Decoder::default().feed(&[0, 0, 0, 0]), Ok(Some(&[][..])));
    }
}
