//! The digest: one hash of all events, in order.

use std::sync::Arc;

/// Size of the buffer: sixteen chunks of BLAKE3, the number that the library hashes at once with the widest vector
/// instructions.
const BUFFER_BYTES: usize = 16 * 1024;

/// A running hash over all data that it has absorbed, in order. Equal digests mean equal data, except for collisions of the
/// hash, which are too improbable to occur in practice.
#[derive(Clone)]
pub struct Digest {
    hasher: blake3::Hasher,
    /// The first `filled` bytes of the buffer have been absorbed since the buffer was last full; the first `hashed` of them
    /// have also been passed to the hasher. If bytes are passed to the hasher before the buffer is full, new bytes are still
    /// stored after them, not at the start of the buffer. So the end of the buffer is always the end of a chunk of BLAKE3,
    /// and once the buffer has been full, the hasher again gets whole chunks.
    buffer: Box<[u8; BUFFER_BYTES]>,
    filled: usize,
    hashed: usize,
}

/// A value that a [`Digest`] can absorb. The digest absorbs every field that a replay must reproduce bit for bit.
pub trait Digestible {
    /// Absorbs `self`. Variable-length parts must be preceded by their length.
    fn digest(&self, digest: &mut Digest);
}

impl Default for Digest {
    fn default() -> Self {
        Self { hasher: blake3::Hasher::new(), buffer: Box::new([0; BUFFER_BYTES]), filled: 0, hashed: 0 }
    }
}

impl Digest {
    /// Absorbs raw bytes. Callers put a length before anything of variable size.
    #[inline]
    pub fn bytes(&mut self, bytes: &[u8]) {
        let end = self.filled + bytes.len();
        if end < BUFFER_BYTES {
            self.buffer[self.filled..end].copy_from_slice(bytes);
            self.filled = end;
        } else {
            self.hash(bytes);
        }
    }

    /// Absorbs integers, one after the other: the same bytes as calls of [`Self::word`], with a single check of the
    /// buffer's end. Each integer is stored directly in the buffer. The integers are not first collected in an array,
    /// because the CPU would have to wait if it read an array that it has only just written.
    #[inline(always)]
    pub fn words<const N: usize>(&mut self, values: [u64; N]) {
        let end = self.filled + 8 * N;
        if end < BUFFER_BYTES {
            // An assignment of arrays needs no call of a function. `copy_from_slice` of eight bytes needs two calls if the
            // compiler does not optimise across crates.
            let (places, _) = self.buffer[self.filled..end].as_chunks_mut::<8>();
            for (place, value) in places.iter_mut().zip(values) {
                *place = value.to_le_bytes();
            }
            self.filled = end;
        } else {
            self.hash(values.map(u64::to_le_bytes).as_flattened());
        }
    }

    /// Absorbs bytes that reach the end of the buffer. Whenever the buffer is full, its bytes that have not been hashed yet
    /// are hashed; the last of these bytes is the last byte of a chunk of BLAKE3. The remaining bytes are stored from the
    /// start of the buffer.
    #[cold]
    fn hash(&mut self, mut bytes: &[u8]) {
        while self.filled + bytes.len() >= BUFFER_BYTES {
            let (now, later) = bytes.split_at(BUFFER_BYTES - self.filled);
            self.buffer[self.filled..].copy_from_slice(now);
            self.hasher.update(&self.buffer[self.hashed..]);
            (self.filled, self.hashed) = (0, 0);
            bytes = later;
        }
        self.buffer[..bytes.len()].copy_from_slice(bytes);
        self.filled = bytes.len();
    }

    /// A copy of the hasher that has also hashed the buffered bytes.
    fn finished(&self) -> blake3::Hasher {
        let mut hasher = self.hasher.clone();
        hasher.update(&self.buffer[self.hashed..self.filled]);
        hasher
    }

    /// The first 64 bits of the digest so far, as [`Self::fingerprint`] returns them. [`Self::fingerprint`] passes the
    /// buffered bytes to a copy of the hasher; this method passes them to the digest's own hasher. So every byte is hashed
    /// only once, even if many intermediate fingerprints of a digest are computed.
    pub(super) fn intermediate_fingerprint(&mut self) -> u64 {
        self.hasher.update(&self.buffer[self.hashed..self.filled]);
        self.hashed = self.filled;
        first_bits(&self.hasher)
    }

    /// Absorbs a whole number.
    #[inline]
    pub fn word(&mut self, value: u64) {
        self.words([value]);
    }

    /// Absorbs the bits of a float, so that -0 and 0 differ, and NaNs with different bits differ.
    #[inline]
    pub fn float(&mut self, value: f64) {
        self.word(value.to_bits());
    }

    /// Absorbs the length of a text in bytes, then the text.
    pub fn text(&mut self, text: &str) {
        self.word(text.len() as u64);
        self.bytes(text.as_bytes());
    }

    /// Absorbs the number of floats, then the floats.
    pub fn floats(&mut self, values: &[f64]) {
        self.word(values.len() as u64);
        for &value in values {
            self.float(value);
        }
    }

    /// The first 64 bits of the digest so far.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        first_bits(&self.finished())
    }

    /// The digest so far, as 64 hexadecimal digits. Absorbing may go on afterwards.
    #[must_use]
    pub fn hex(&self) -> String {
        self.finished().finalize().to_hex().to_string()
    }
}

/// The first 64 bits of a hash.
fn first_bits(hasher: &blake3::Hasher) -> u64 {
    let mut first = [0; 8];
    hasher.finalize_xof().fill(&mut first);
    u64::from_be_bytes(first)
}

/// Absorbs nothing; for a protocol with a single kind of timer.
impl Digestible for () {
    fn digest(&self, _: &mut Digest) {}
}

impl Digestible for u64 {
    fn digest(&self, digest: &mut Digest) {
        digest.word(*self);
    }
}

impl Digestible for usize {
    fn digest(&self, digest: &mut Digest) {
        digest.word(*self as u64);
    }
}

impl Digestible for bool {
    fn digest(&self, digest: &mut Digest) {
        digest.word(u64::from(*self));
    }
}

/// Absorbs the number of values, then the values.
impl Digestible for Vec<f64> {
    fn digest(&self, digest: &mut Digest) {
        digest.floats(self);
    }
}

/// Absorbs the shared value.
impl<T: Digestible + ?Sized> Digestible for Arc<T> {
    fn digest(&self, digest: &mut Digest) {
        (**self).digest(digest);
    }
}

impl Digestible for f64 {
    fn digest(&self, digest: &mut Digest) {
        digest.float(*self);
    }
}

impl std::fmt::Debug for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Digest({})", &self.hex()[..16])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffering_does_not_change_the_digest() {
        let data: Vec<u8> = (0..50_000u32).map(|i| (i % 251) as u8).collect();
        let mut whole = Digest::default();
        whole.bytes(&data);
        let mut pieces = Digest::default();
        for piece in data.chunks(7) {
            pieces.bytes(piece);
        }
        assert_eq!(whole.hex(), pieces.hex());
        assert_eq!(format!("{:016x}", whole.fingerprint()), whole.hex()[..16]);
        assert_eq!(whole.hex(), blake3::hash(&data).to_hex().to_string());
    }

    #[test]
    fn intermediate_fingerprints_change_nothing() {
        let data: Vec<u8> = (0..120_000u32).map(|i| (i % 251) as u8).collect();
        let (mut plain, mut watched) = (Digest::default(), Digest::default());
        for (index, piece) in data.chunks(1_009).enumerate() {
            plain.bytes(piece);
            watched.bytes(piece);
            // An intermediate fingerprint is computed at first after every piece, and later after every 31st piece only, so
            // that the buffer becomes full between two fingerprints.
            if index < 20 || index % 31 == 0 {
                assert_eq!(watched.intermediate_fingerprint(), plain.fingerprint(), "piece {index}");
            }
            assert_eq!(watched.fingerprint(), plain.fingerprint(), "piece {index}");
        }
        assert_eq!(watched.hex(), blake3::hash(&data).to_hex().to_string());
    }

    /// The bytes that are hashed for every kind of value: whole numbers and the bits of floats in little-endian order. A
    /// value of variable length is preceded by its length.
    #[test]
    fn values_are_hashed_as_documented() {
        let hashed = |value: &dyn Digestible| {
            let mut digest = Digest::default();
            value.digest(&mut digest);
            digest.hex()
        };
        let of = |bytes: &[u8]| blake3::hash(bytes).to_hex().to_string();
        let words = |words: &[u64]| {
            of(words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>().as_slice())
        };
        assert_eq!(hashed(&0x0102_0304_0506_0708_u64), of(&[8, 7, 6, 5, 4, 3, 2, 1]));
        assert_eq!(hashed(&7_usize), words(&[7]));
        assert_eq!((hashed(&true), hashed(&false)), (words(&[1]), words(&[0])));
        assert_eq!(hashed(&1.5), words(&[1.5_f64.to_bits()]));
        assert_eq!(hashed(&vec![1.5, -0.0]), words(&[2, 1.5_f64.to_bits(), 1 << 63]));
        assert_eq!(hashed(&Arc::new(7_u64)), words(&[7]));
        assert_eq!(hashed(&()), of(&[]));
        let mut digest = Digest::default();
        digest.words([1, 2, 3]);
        digest.text("ab");
        let mut bytes: Vec<u8> = [1_u64, 2, 3, 2].iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.extend(b"ab");
        assert_eq!(digest.hex(), of(&bytes));
    }

    /// The last byte of the words is the last byte of the buffer, or the byte before it, or the byte after it. In one more
    /// case the words begin at the last byte of the buffer.
    #[test]
    fn words_are_hashed_across_the_end_of_the_buffer() {
        for before in [BUFFER_BYTES - 25, BUFFER_BYTES - 24, BUFFER_BYTES - 23, BUFFER_BYTES - 1] {
            let mut bytes = vec![3; before];
            let mut digest = Digest::default();
            digest.bytes(&bytes);
            digest.words([1, 2, u64::MAX]);
            bytes.extend([1, 2, u64::MAX].iter().flat_map(|word: &u64| word.to_le_bytes()));
            assert_eq!(digest.hex(), blake3::hash(&bytes).to_hex().to_string(), "{before} bytes before");
        }
    }

    #[test]
    fn order_and_sign_of_zero_matter() {
        let hex = |values: &[f64]| {
            let mut digest = Digest::default();
            digest.floats(values);
            digest.hex()
        };
        assert_ne!(hex(&[1.0, 2.0]), hex(&[2.0, 1.0]));
        assert_ne!(hex(&[0.0]), hex(&[-0.0]));
    }
}
