//! A program that everybody uses, told about the proxy as scripts are.

use std::process::Command;

use metier_proxy::proxy_variables;

use crate::town::Bench;

/// Runs curl; `None` where there is none, which is said.
fn curl(bench: &Bench, arguments: &[&str]) -> Option<(i32, String)> {
    let mut command = Command::new("curl");
    command.env_clear().envs(proxy_variables(bench.place.port()));
    let run = command.args(["--silent", "--show-error", "--max-time", "10"]).args(arguments).output();
    let Ok(output) = run else {
        metier_testkit::not_tried("curl", "curl is not on this machine");
        return None;
    };
    let text = [output.stdout, output.stderr].concat();
    Some((output.status.code().unwrap_or(-1), String::from_utf8_lossy(&text).into_owned()))
}

fn check(arguments: &[&str], expect: Result<&str, &str>) {
    let bench = Bench::new(&["allowed.example", "inner.example"]);
    let Some((code, text)) = curl(&bench, arguments) else { return };
    let (Ok(part) | Err(part)) = expect;
    assert_eq!((code == 0, text.contains(part)), (expect.is_ok(), true), "{arguments:?}: {code} {text}");
}

#[test]
fn curl_reaches_what_is_allowed_and_is_told_what_is_not() {
    check(&["http://allowed.example/a?b=c"], Ok("GET /a?b=c HTTP/1.1"));
    check(&["http://allowed.example/", "--data", "x=1"], Ok("x=1"));
    check(
        &["http://allowed.example/", "-H", "Transfer-Encoding: chunked", "--data", "x=1"],
        Ok("3\r\nx=1\r\n0\r\n"),
    );
    check(&["http://other.example/"], Ok("allow it with the rule `skill:pdf/host:other.example`"));
    check(&["--location", "http://allowed.example/to/other.example"], Ok("is refused: no rule names it"));
    check(&["--location", "http://allowed.example/to/inner.example"], Ok("10.0.0.5, a private address"));
    check(&["--proxytunnel", "http://allowed.example/"], Ok("site=allowed"));
    check(&["https://other.example/"], Err("403"));
    check(&["https://127.0.0.1/"], Err("403"));
    check(&["http://user:secret@allowed.example/"], Ok("site=allowed"));
    // Two requests in one run: the first answer says that its connection ends.
    check(&["http://allowed.example/1", "http://allowed.example/2"], Ok("GET /2 HTTP/1.1"));
}

#[test]
fn curl_over_socks() {
    for (arguments, expect) in [
        (["http://allowed.example/"], Ok("site=allowed")),
        (["http://other.example/"], Err("SOCKS5")),
        (["http://169.254.169.254/"], Err("SOCKS5")),
    ] {
        let bench = Bench::new(&["allowed.example"]);
        let proxy = format!("socks5h://{}", bench.place);
        let Some((code, text)) = curl(&bench, &["--proxy", &proxy, arguments[0]]) else { return };
        let (Ok(part) | Err(part)) = expect;
        assert!((code == 0) == expect.is_ok(), "{arguments:?}: {code} {text}");
        assert!(text.contains(part) || text.contains("socks"), "{arguments:?}: {code} {text}");
    }
}
