//! What holds for whatever a server or a model sends.

use proptest::prelude::*;

use super::answer::Answer;
use super::charset::decoded;
use super::html::readable;
use super::url::Url;

proptest! {
    #[test]
    fn any_page_becomes_text(page in "(<[a-z/!]{0,4}|[<>\"'&;= a-z\n]{0,6}|hidden|href=|\\PC{0,3}){0,60}") {
        let url = Url::parse("https://a.example/b/c").unwrap();
        let text = readable(&page, &url).text;
        prop_assert!(text.len() <= page.len() * 40 + 100);
    }

    #[test]
    fn an_address_is_its_own_spelling(text in "(https?://)?[a-z0-9.:@/?#%\\\\ \\[\\]ü-]{0,40}") {
        if let Ok(url) = Url::parse(&text) {
            let spelled = url.to_string();
            prop_assert!(spelled.is_ascii() && !spelled.contains(char::is_whitespace));
            prop_assert_eq!(Url::parse(&spelled).unwrap(), url);
        }
    }

    #[test]
    fn no_answer_is_larger_than_what_is_taken(head in "HTTP/1.1 200\r\n(Content-Length: [0-9]{1,20}\r\n|Transfer-Encoding: chunked\r\n)?\r\n", body: Vec<u8>) {
        let bytes = [head.as_bytes(), &body].concat();
        if let Ok(answer) = Answer::read(&mut bytes.as_slice(), 16) {
            prop_assert!(answer.body.len() <= 16);
        }
    }

    #[test]
    fn any_bytes_are_some_text(bytes: Vec<u8>, kind in "text/html(; charset=[a-z0-9-]{0,12})?") {
        let (text, _) = decoded(&bytes, &kind);
        prop_assert!(text.chars().count() <= bytes.len());
    }
}
