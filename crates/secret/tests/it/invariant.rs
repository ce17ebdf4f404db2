//! What holds for every secret, every text and every way in which the text arrives. The fuzz target holds the same.

use metier_secret::{Redactor, Secret, SecretName};

/// A value as careless programs write it: twelve ways, by encoders that only have to be obvious.
pub(crate) fn written(value: &str) -> Vec<(&'static str, Vec<u8>)> {
    let bytes = value.as_bytes();
    let percent = |keeps: &dyn Fn(u8) -> bool| -> Vec<u8> {
        bytes
            .iter()
            .flat_map(|&byte| if keeps(byte) { vec![byte] } else { format!("%{byte:02X}").into_bytes() })
            .collect()
    };
    let json = |text: &str| {
        let quoted = serde_json::to_string(text).unwrap();
        quoted[1..quoted.len() - 1].to_owned()
    };
    let hex = bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
    let utf16: Vec<u8> = value.encode_utf16().flat_map(u16::to_le_bytes).collect();
    vec![
        ("plain", bytes.to_vec()),
        ("percent", percent(&|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte))),
        ("percent, every byte", percent(&|_| false)),
        ("base64", digits(bytes)),
        ("base64 of user:value", digits(&[b"ab:", bytes].concat())),
        ("base64 inside", digits(&[b"abcd:", bytes, b"\n"].concat())),
        ("base64 inside, shifted", digits(&[b"abcde:=", bytes, b" and more"].concat())),
        ("JSON", json(value).into_bytes()),
        ("hex", hex.clone().into_bytes()),
        ("HEX", hex.to_uppercase().into_bytes()),
        ("reversed", value.chars().rev().collect::<String>().into_bytes()),
        ("UTF-16", utf16),
    ]
}

/// Base64 bit by bit, without padding.
fn digits(bytes: &[u8]) -> Vec<u8> {
    let alphabet: Vec<u8> = (b'A'..=b'Z').chain(b'a'..=b'z').chain(b'0'..=b'9').chain([b'+', b'/']).collect();
    let mut bits = bytes.iter().map(|byte| format!("{byte:08b}")).collect::<Vec<_>>().concat();
    while !bits.len().is_multiple_of(6) {
        bits.push('0');
    }
    bits.as_bytes()
        .chunks(6)
        .map(|chunk| alphabet[usize::from_str_radix(std::str::from_utf8(chunk).unwrap(), 2).unwrap()])
        .collect()
}

/// The stream's answer, the text coming in pieces that end at `cuts`.
pub(crate) fn in_pieces(redactor: &Redactor, text: &[u8], cuts: &[usize]) -> Vec<u8> {
    let mut stream = redactor.stream();
    let mut shown = Vec::new();
    let mut at = 0;
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (text.len() + 1)).collect();
    cuts.sort_unstable();
    for cut in cuts.into_iter().chain([text.len()]) {
        shown.extend_from_slice(&stream.push(&text[at..cut]));
        at = cut;
    }
    shown.extend(stream.finish());
    shown
}

/// Whatever is around a secret and however it arrives, none of the ways of writing it is shown.
pub(crate) fn holds(values: &[String], around: [&[u8]; 2], cuts: &[usize]) {
    let mut secrets: Vec<(SecretName, Secret)> = Vec::new();
    for value in values {
        if let Ok(secret) = Secret::new(value.clone()) {
            secrets.push((format!("S{}", secrets.len()).parse().unwrap(), secret));
        }
    }
    let redactor = Redactor::new(secrets.iter().map(|(name, secret)| (name, secret))).unwrap();
    for (_, secret) in &secrets {
        let value = secret.expose();
        for (way, written) in written(value) {
            let text = [around[0], &written, around[1]].concat();
            let whole = redactor.bytes(&text).into_owned();
            assert_eq!(
                whole,
                in_pieces(&redactor, &text, cuts),
                "{way} of {value:?}: pieces differ in {text:?}"
            );
            // Short values are found as they are; from eight bytes on also in disguise. In UTF-16 a letter far from ASCII
            // can hold the byte of a line end, at which a text may be broken.
            let is_promised =
                way == "plain" || value.trim().len() >= 8 && (way != "UTF-16" || value.is_ascii());
            let core = core(&written);
            let is_promised = is_promised && (way == "plain" || left(core) >= 6);
            if is_promised && core.len() >= 4 {
                assert!(!holds_bytes(&whole, core), "{way} of {value:?} is shown: {whole:?}");
            }
            assert!(
                whole.len() <= text.len() * 8,
                "{way} of {value:?}: {} bytes became {}",
                text.len(),
                whole.len()
            );
        }
    }
    // Redacting twice changes nothing.
    let text = around.concat();
    let once = redactor.bytes(&text).into_owned();
    assert_eq!(redactor.bytes(&once), once, "{values:?} {text:?}");
}

/// Without blanks around it.
fn core(bytes: &[u8]) -> &[u8] {
    bytes.trim_ascii()
}

/// How much of a shape is looked for. What stands before a line end in its first four bytes is not, since every line that
/// ends with the first letters of a secret would be held back for it; of what is then left, fewer than six bytes are no shape.
fn left(core: &[u8]) -> usize {
    let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
    let mut rest = core;
    while let Some(at) = rest.iter().take(4).position(is_end) {
        rest = rest[at..].trim_ascii();
    }
    rest.iter().filter(|byte| !is_end(byte)).count()
}

fn holds_bytes(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}
