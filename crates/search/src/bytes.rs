//! Numbers as bytes and back, for a segment on disk.

/// Appends a number, seven bits a byte, the last byte without the upper bit.
pub(crate) fn put(bytes: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Reads such a number. What is not there reads as zero: a segment is checked as a whole before it is used.
#[inline]
pub(crate) fn take(bytes: &[u8], at: &mut usize) -> u32 {
    let (mut number, mut shift) = (0_u32, 0);
    loop {
        let byte = bytes.get(*at).copied().unwrap_or_default();
        *at += 1;
        number |= u32::from(byte & 0x7f).wrapping_shl(shift);
        if byte < 0x80 || shift >= 28 {
            return number;
        }
        shift += 7;
    }
}

/// Takes fixed parts off the front of some bytes.
#[derive(Debug)]
pub(crate) struct Parts<'a>(pub(crate) &'a [u8]);

impl<'a> Parts<'a> {
    pub(crate) fn bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (part, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(part)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.bytes(N)?.try_into().ok()
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::{put, take};

    proptest::proptest! {
        #[test]
        fn numbers_come_back(numbers: Vec<u32>) {
            let mut bytes = Vec::new();
            for number in &numbers {
                put(&mut bytes, *number);
            }
            let mut at = 0;
            for number in numbers {
                proptest::prop_assert_eq!(take(&bytes, &mut at), number);
            }
            proptest::prop_assert_eq!(at, bytes.len());
        }

        #[test]
        fn any_bytes_are_read_without_harm(bytes: Vec<u8>) {
            let mut at = 0;
            while at < bytes.len() {
                take(&bytes, &mut at);
            }
        }
    }
}
