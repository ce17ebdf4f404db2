//! How programs are told where the proxy is.

use std::ffi::OsString;

/// The environment variables that announce a proxy on this port of the loopback address, in both of the cases that
/// programs read.
///
/// Names are left to the proxy to resolve (`socks5h`), since inside there is nobody to ask. No host is exempt: a program
/// that went around the proxy would reach nothing.
pub fn proxy_variables(port: u16) -> Vec<(OsString, OsString)> {
    let http = format!("http://127.0.0.1:{port}");
    let socks = format!("socks5h://127.0.0.1:{port}");
    let values = [("HTTP_PROXY", &*http), ("HTTPS_PROXY", &*http), ("ALL_PROXY", &*socks), ("NO_PROXY", "")];
    let both = |(name, value): (&str, &str)| {
        [(name.to_owned(), value), (name.to_ascii_lowercase(), value)].map(owned)
    };
    values.into_iter().flat_map(both).collect()
}

fn owned((name, value): (String, &str)) -> (OsString, OsString) {
    (name.into(), value.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_find_the_proxy_in_both_cases() {
        let found = proxy_variables(3128);
        for (name, value) in [
            ("HTTP_PROXY", "http://127.0.0.1:3128"),
            ("https_proxy", "http://127.0.0.1:3128"),
            ("ALL_PROXY", "socks5h://127.0.0.1:3128"),
            ("all_proxy", "socks5h://127.0.0.1:3128"),
            ("no_proxy", ""),
        ] {
            assert!(found.contains(&(name.into(), value.into())), "{name} {found:?}");
        }
        assert_eq!(found.len(), 8);
    }
}
