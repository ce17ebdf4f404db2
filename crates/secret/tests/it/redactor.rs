//! Secrets in texts.

use crate::{redacted, redactor};

#[test]
fn a_name_stands_in_its_place() {
    let check = |secrets: &[(&str, &str)], text: &str, expect: &str| {
        assert_eq!(redacted(secrets, text), expect, "{secrets:?} {text:?}");
    };
    let one = &[("KEY", "hunter22!")];
    check(one, "", "");
    check(one, "nothing", "nothing");
    check(one, "hunter22!", "[secret KEY]");
    check(one, "xhunter22!y", "x[secret KEY]y");
    check(one, "HUNTER22! Hunter22!", "[secret KEY] [secret KEY]");
    check(one, "hunter22!hunter22!", "[secret KEY][secret KEY]");
    check(one, "hunter2", "hunter2");
}

#[test]
fn secrets_inside_and_over_each_other_leave_nothing() {
    let check = |secrets: &[(&str, &str)], text: &str, expect: &str| {
        assert_eq!(redacted(secrets, text), expect, "{secrets:?} {text:?}");
    };
    // One inside another, at its beginning, its end and in the middle.
    check(&[("A", "abcdefgh"), ("B", "cdef")], "abcdefgh cdef", "[secret A] [secret B]");
    check(&[("A", "abcdefgh"), ("B", "abcd")], "abcdefgh abcdX", "[secret A] [secret B]X");
    check(&[("A", "abcdefgh"), ("B", "efgh")], "abcdefgh Xefgh", "[secret A] X[secret B]");
    // The end of one is the beginning of the other.
    check(&[("A", "12345678"), ("B", "5678abcd")], "12345678abcd", "[secret A]");
    check(&[("B", "5678abcd"), ("A", "12345678")], "12345678abcd", "[secret A]");
    // The same value twice.
    check(&[("A", "abcdefgh"), ("B", "abcdefgh")], "abcdefgh", "[secret A]");
    // One is what the other looks like in base64.
    check(&[("A", "hunter22"), ("B", "aHVudGVyMjI=")], "aHVudGVyMjI= hunter22", "[secret B] [secret A]");
}

#[test]
fn what_stands_in_its_place_is_no_secret() {
    let check = |value: &str, text: &str, expect: &str| {
        assert_eq!(redacted(&[("KEY", value)], text), expect, "{value:?}");
    };
    check("secret", "the secret", "the [redacted]");
    check("]]]]", "a]]]]b", "a<secret KEY>b");
    check("[secret KEY]", "x[secret KEY]y", "x<secret KEY>y");
}

#[test]
fn keys_of_several_lines_are_found_whole_line_by_line_and_in_part() {
    let key = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n\
               MzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SC6dVMvDuictGeurT8jNbvJZHtCSuYEvu\n-----END PRIVATE KEY-----\n";
    let secrets = &[("KEY", key)];
    assert_eq!(redacted(secrets, format!("a {key} b")), "a [secret KEY]\n b");
    assert_eq!(redacted(secrets, key.replace('\n', "\r\n")), "[secret KEY]\r\n");
    assert_eq!(redacted(secrets, key.replace('\n', "\n    ")), "[secret KEY]\n    ");
    assert_eq!(redacted(secrets, key.replace('\n', "\\n")), "[secret KEY]");
    assert_eq!(redacted(secrets, key.replace('\n', "")), "[secret KEY]");
    let line = "MzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SC6dVMvDuictGeurT8jNbvJZHtCSuYEvu";
    assert_eq!(redacted(secrets, format!("2: {line}.")), "2: [secret KEY].");
}

#[test]
fn short_values_are_found_as_they_are() {
    assert_eq!(redacted(&[("PIN", "4711")], "PIN=4711, 47110"), "PIN=[secret PIN], [secret PIN]0");
    assert_eq!(redacted(&[("PIN", "4711")], "34373131"), "[secret PIN]");
}

#[test]
fn bytes_that_are_no_text_are_left_alone() {
    let redactor = redactor(&[("KEY", "hunter22")]);
    let text = [&[0xff, 0xfe, 0][..], b"hunter22", &[0xc3, 0x28]].concat();
    assert_eq!(*redactor.bytes(&text), *[&[0xff, 0xfe, 0][..], b"[secret KEY]", &[0xc3, 0x28]].concat());
}

#[test]
fn nothing_is_shown_of_what_is_looked_for() {
    let redactor = redactor(&[("KEY", "hunter22")]);
    let mut stream = redactor.stream();
    let _ = stream.push(b"hunter2");
    assert_eq!(format!("{redactor:?} {stream:?}"), "Redactor(…) RedactedStream(…)");
}
