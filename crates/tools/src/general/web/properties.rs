//! What holds for whatever a server or a model sends.

use proptest::prelude::*;

use super::charset::decoded;
use super::html::readable;
use super::page_url::PageUrl;

proptest! {
    #[test]
    fn any_page_becomes_text(page in "(<[a-z/!]{0,4}|[<>\"'&;= a-z\n]{0,6}|hidden|href=|\\PC{0,3}){0,60}") {
        let url = PageUrl::parse("https://a.example/b/c").unwrap();
        let text = readable(&page, &url).text;
        prop_assert!(text.len() <= page.len() * 40 + 100);
    }

    #[test]
    fn an_address_is_its_own_spelling(text in "(https?://)?[a-z0-9.:@/?#%\\\\ \\[\\]ü-]{0,40}") {
        if let Ok(url) = PageUrl::parse(&text) {
            let spelled = url.to_string();
            prop_assert!(spelled.is_ascii() && !spelled.contains(char::is_whitespace));
            prop_assert_eq!(PageUrl::parse(&spelled).unwrap(), url);
        }
    }

    #[test]
    fn any_bytes_are_some_text(bytes: Vec<u8>, kind in "text/html(; charset=([a-z0-9-]{0,12}|utf-16|shift_jis|euc-jp|iso-2022-jp|gb18030|big5|euc-kr|koi8-r))?") {
        let (text, _) = decoded(&bytes, &kind);
        prop_assert!(text.chars().count() <= bytes.len());
    }
}
