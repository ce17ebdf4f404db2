//! Bytes as digits: base64, base32, hexadecimal, decimal.

use super::Form;

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// Digits that hold bits of the secret and bits of what stands beside it: every digit that could be there.
#[derive(Default)]
pub(crate) struct Edges {
    pub(crate) front: Vec<u8>,
    pub(crate) back: Vec<u8>,
}

/// Base64 in both alphabets.
pub(super) fn base64(bytes: &[u8]) -> Vec<Form> {
    [STANDARD.as_slice(), URL_SAFE].into_iter().flat_map(|digits| shifted(bytes, digits)).collect()
}

/// Base32; lower case is found with it.
pub(super) fn base32(bytes: &[u8]) -> Vec<Form> {
    shifted(bytes, BASE32)
}

/// Bytes as digits of 5 or 6 bits, once for every way in which they can lie in a longer text.
///
/// Digits and bytes come out even after 3 bytes (of 6 bits) or 5 (of 5), so there are as many ways. The digits that lie
/// wholly inside the secret are the same whatever stands around it; those half inside are edges.
fn shifted(bytes: &[u8], digits: &[u8]) -> Vec<Form> {
    let width = digits.len().trailing_zeros() as usize;
    let mask = digits.len() - 1;
    let ways = if width == 6 { 3 } else { 5 };
    let mut forms = Vec::with_capacity(ways);
    for before in 0..ways {
        // How many bits of the first byte belong to a digit that also holds bits of what stands before.
        let shared = (width - before * 8 % width) % width;
        let mut form = Form::whole(Vec::with_capacity(bytes.len() * 8 / width + 1));
        let (mut held, mut count, mut skip) = (0_usize, 0_usize, shared);
        for &byte in bytes {
            held = (held << 8) | usize::from(byte);
            count += 8;
            if skip > 0 && count >= skip {
                count -= skip;
                let known = held >> count;
                form.edges.front = (0..1_usize << (width - skip))
                    .filter_map(|other| digits.get(((other << skip) | known) & mask).copied())
                    .collect();
                held &= (1 << count) - 1;
                skip = 0;
            }
            while count >= width {
                count -= width;
                form.bytes.extend(digits.get((held >> count) & mask));
                held &= (1 << count) - 1;
            }
        }
        if count > 0 {
            let free = width - count;
            form.edges.back = (0..1_usize << free)
                .filter_map(|other| digits.get(((held << free) | other) & mask).copied())
                .collect();
        }
        forms.push(form);
    }
    forms
}

/// Hexadecimal, run together and with what tools put between.
pub(super) fn hex(bytes: &[u8]) -> Vec<String> {
    let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    // `xxd` and `hexdump` write pairs of bytes.
    let pairs: Vec<String> = digits.chunks(2).map(<[String]>::concat).collect();
    vec![
        digits.concat(),
        digits.join(" "),
        digits.join(":"),
        pairs.join(" "),
        digits.join("\\x"),
        digits.join(", 0x"),
        digits.join(",0x"),
        digits.join("-"),
    ]
}

/// Decimal numbers, as a buffer in JSON or a list of bytes in a debugger.
pub(super) fn decimal(bytes: &[u8]) -> Vec<String> {
    let numbers: Vec<String> = bytes.iter().map(u8::to_string).collect();
    vec![numbers.join(","), numbers.join(", "), numbers.join(" ")]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A second, obvious encoder without padding.
    fn encode(bytes: &[u8], digits: &[u8]) -> String {
        let width = digits.len().trailing_zeros() as usize;
        let mut bits = bytes.iter().map(|byte| format!("{byte:08b}")).collect::<Vec<_>>().concat();
        while !bits.len().is_multiple_of(width) {
            bits.push('0');
        }
        bits.as_bytes()
            .chunks(width)
            .map(|chunk| {
                let at = usize::from_str_radix(std::str::from_utf8(chunk).unwrap(), 2).unwrap();
                char::from(digits[at])
            })
            .collect()
    }

    #[test]
    fn the_second_encoder_is_right() {
        assert_eq!(encode(b"foobar", STANDARD), "Zm9vYmFy");
        assert_eq!(encode(b"fooba", STANDARD), "Zm9vYmE");
        assert_eq!(encode(b"foob", BASE32), "MZXW6YQ");
    }

    #[test]
    fn wherever_a_secret_lies_its_digits_and_edges_are_known() {
        let secret = b"s3cr?t~value\xff\xfe";
        for digits in [STANDARD.as_slice(), URL_SAFE, BASE32] {
            let forms = shifted(secret, digits);
            for length in 0..12 {
                for around in [b"\0", b"\xff", b"k"] {
                    let (before, after) = (around.repeat(length), around.repeat(7));
                    let text = encode(&[&before[..], secret, &after[..]].concat(), digits);
                    let form = &forms[length % forms.len()];
                    let inner = std::str::from_utf8(&form.bytes).unwrap();
                    let at = text.find(inner).unwrap_or_else(|| panic!("{inner} is not in {text}"));
                    let text = text.as_bytes();
                    let front = &form.edges.front;
                    assert!(front.is_empty() || front.contains(&text[at - 1]), "{length} {front:?}");
                    let back = &form.edges.back;
                    assert!(back.is_empty() || back.contains(&text[at + inner.len()]), "{length} {back:?}");
                }
            }
        }
    }

    #[test]
    fn tools_write_hexadecimal_and_decimal_in_their_own_ways() {
        let forms = hex(b"\x01\xab\x02");
        for expect in ["01ab02", "01 ab 02", "01ab 02", "01:ab:02", "01\\xab\\x02", "01, 0xab, 0x02"] {
            assert!(forms.iter().any(|form| form == expect), "{expect}");
        }
        assert_eq!(decimal(b"\x01\xab"), ["1,171", "1, 171", "1 171"]);
    }
}
