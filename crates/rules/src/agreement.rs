//! How far two texts agree from their starts and from their ends, in bytes.
//!
//! Knows nothing of lines or characters: whoever cuts a text here looks for a place where it may be cut.

/// How many bytes are compared at once: few enough that the compiler does so without a call.
const PIECE: usize = 32;

/// How many bytes agree at the start.
pub fn at_start(one: &[u8], other: &[u8]) -> usize {
    let (pieces, _) = one.as_chunks::<PIECE>();
    let (others, _) = other.as_chunks::<PIECE>();
    let whole = PIECE * pieces.iter().zip(others).take_while(|(piece, other)| piece == other).count();
    whole + one[whole..].iter().zip(&other[whole..]).take_while(|(left, right)| left == right).count()
}

/// How many bytes agree at the end.
pub fn at_end(one: &[u8], other: &[u8]) -> usize {
    let (_, pieces) = one.as_rchunks::<PIECE>();
    let (_, others) = other.as_rchunks::<PIECE>();
    let pairs = pieces.iter().rev().zip(others.iter().rev());
    let whole = PIECE * pairs.take_while(|(piece, other)| piece == other).count();
    let (one, other) = (&one[..one.len() - whole], &other[..other.len() - whole]);
    whole + one.iter().rev().zip(other.iter().rev()).take_while(|(left, right)| left == right).count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn as_far_as_a_look_at_each_byte_says(
            start in "[ab]{0,100}", (left, right) in ("[xy]{0,40}", "[xy]{0,40}"), end in "[ab]{0,100}"
        ) {
            let (one, other) = (format!("{start}{left}{end}"), format!("{start}{right}{end}"));
            let (one, other) = (one.as_bytes(), other.as_bytes());
            let start = one.iter().zip(other).take_while(|(left, right)| left == right).count();
            let end = one.iter().rev().zip(other.iter().rev()).take_while(|(left, right)| left == right).count();
            prop_assert_eq!((at_start(one, other), at_end(one, other)), (start, end));
        }
    }
}
