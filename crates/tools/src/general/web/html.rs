//! A page as text that can be read: headings, paragraphs, lists, links, code. Nothing of it is run, and what a reader of the
//! page would not see is left out, so that nobody can speak to a model behind a person's back.

use std::iter::Peekable;

use super::PageUrl;
use super::seen::{Entered, Seen};
use super::tag::{Tag, Token, tokens};

/// Elements that are left out with all they hold: no reader sees it, or not as text.
const LEFT_OUT: &[&str] = &[
    "script", "style", "noscript", "template", "iframe", "svg", "canvas", "object", "embed", "head",
    "select", "dialog", "math", "video", "audio", "datalist", "progress", "meter", "noframes", "noembed",
];

/// Elements that never hold anything.
pub(super) const VOID: &[&str] =
    &["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"];

/// Elements that stand for themselves, with a line break around them.
const BLOCKS: &[&str] = &[
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "dd",
    "details",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "header",
    "html",
    "main",
    "nav",
    "section",
    "summary",
    "table",
    "tbody",
    "thead",
    "tr",
];

/// How deep lists are indented; deeper ones stay there.
const MAX_LIST_DEPTH: usize = 8;

/// A page as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::general) struct Readable {
    pub(in crate::general) text: String,
    /// How many pieces of text were left out because a reader of the page would not see them.
    pub(in crate::general) hidden: usize,
}

/// The text of a page, with links seen from its own address.
pub(in crate::general) fn readable(page: &str, url: &PageUrl) -> Readable {
    let mut text = Text::new(url);
    let mut seen = Seen::new(page);
    let mut tokens = tokens(page).peekable();
    while let Some(token) = tokens.next() {
        match token {
            Token::Text(piece) if seen.is_visible() => text.write(&piece),
            Token::Text(piece) => seen.hidden += usize::from(!piece.trim().is_empty()),
            Token::Open(tag) if tag.name == "title" && text.is_blank() => {
                text.open("h1");
                if let Some(Token::Text(title)) = tokens.next_if(|token| matches!(token, Token::Text(_))) {
                    text.write(&title);
                }
                text.close("h1");
            }
            // The head is passed over piece by piece, for the sake of the title in it.
            Token::Open(tag) if tag.name == "head" => {}
            Token::Open(tag) if LEFT_OUT.contains(&tag.name.as_str()) => {
                if !VOID.contains(&tag.name.as_str()) {
                    skip(&mut tokens, &tag.name);
                }
            }
            Token::Open(tag) => match seen.enter(&tag) {
                Entered::Shown if seen.is_visible() || tag.name != "img" => text.open_tag(&tag),
                Entered::Shown => {}
                Entered::Hidden if VOID.contains(&tag.name.as_str()) => {}
                Entered::Hidden => seen.hidden += usize::from(skip(&mut tokens, &tag.name)),
            },
            Token::Close(name) => {
                seen.leave(&name);
                text.close(&name);
            }
        }
    }
    Readable { text: text.finish(), hidden: seen.hidden }
}

/// Elements that need no closing tag: the next of their kind ends them.
pub(super) const ENDED_BY_NEXT: &[&str] = &["p", "li", "dt", "dd", "tr", "td", "th", "option"];

/// Goes on behind the end of an element. Whether there was any text in it.
fn skip(tokens: &mut Peekable<impl Iterator<Item = Token>>, name: &str) -> bool {
    let mut depth = 1_usize;
    let mut has_text = false;
    while depth > 0 {
        let ends = |token: &Token| matches!(token, Token::Open(tag) if tag.name == name);
        if ENDED_BY_NEXT.contains(&name) && tokens.peek().is_some_and(ends) {
            return has_text;
        }
        match tokens.next() {
            None => return has_text,
            Some(Token::Open(tag)) if tag.name == name => depth += 1,
            Some(Token::Close(closed)) if closed == name => depth -= 1,
            Some(Token::Text(text)) => has_text |= !text.trim().is_empty(),
            Some(_) => {}
        }
    }
    has_text
}

/// Text without control characters, and with ordinary spaces for non-breaking ones.
fn plain(text: &str) -> String {
    let kept = text.chars().filter(|c| !c.is_control() || c.is_ascii_whitespace());
    kept.map(|c| if c == '\u{a0}' { ' ' } else { c }).collect()
}

/// The text as it grows.
struct Text<'a> {
    url: &'a PageUrl,
    out: String,
    /// Blanks and line breaks that come before the next word.
    gap: Gap,
    lists: Vec<Option<usize>>,
    /// Whether white space counts.
    preformatted: usize,
    /// Where each open link begins in the text, and where it leads.
    links: Vec<(usize, Option<String>)>,
    cells: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    None,
    Blank,
    Line,
    Paragraph,
}

impl<'a> Text<'a> {
    fn new(url: &'a PageUrl) -> Self {
        Self {
            url,
            out: String::new(),
            gap: Gap::None,
            lists: Vec::new(),
            preformatted: 0,
            links: Vec::new(),
            cells: 0,
        }
    }

    fn is_blank(&self) -> bool {
        self.out.trim().is_empty()
    }

    fn want(&mut self, gap: Gap) {
        self.gap = self.gap.max(gap);
    }

    fn settle(&mut self) {
        let gap = std::mem::replace(&mut self.gap, Gap::None);
        if self.out.is_empty() {
            return;
        }
        match gap {
            Gap::None => {}
            Gap::Blank => {
                if !self.out.ends_with([' ', '\n']) {
                    self.out.push(' ');
                }
            }
            Gap::Line | Gap::Paragraph => {
                self.out.truncate(self.out.trim_end_matches(' ').len());
                let wanted = if gap == Gap::Line { "\n" } else { "\n\n" };
                while !self.out.ends_with(wanted) {
                    self.out.push('\n');
                }
            }
        }
    }

    /// A piece that stands as it is.
    fn put(&mut self, piece: &str) {
        self.settle();
        self.out.push_str(piece);
    }

    fn write(&mut self, piece: &str) {
        let piece = plain(piece);
        if self.preformatted > 0 {
            self.put(&piece);
            return;
        }
        if piece.starts_with(char::is_whitespace) {
            self.want(Gap::Blank);
        }
        let mut words = piece.split_whitespace().peekable();
        while let Some(word) = words.next() {
            self.put(word);
            if words.peek().is_some() || piece.ends_with(char::is_whitespace) {
                self.want(Gap::Blank);
            }
        }
    }

    fn open_tag(&mut self, tag: &Tag) {
        match tag.name.as_str() {
            "a" => {
                self.settle();
                let link = tag.attribute("href").filter(|href| !href.starts_with('#'));
                let link = link.and_then(|href| self.url.join(&href).ok()).map(|url| url.to_string());
                // A link in a link is a mistake, and closing a million of them one by one would take for ever.
                self.links.clear();
                self.links.push((self.out.len(), link));
            }
            "img" => {
                if let Some(words) = tag.attribute("alt").filter(|words| !words.trim().is_empty()) {
                    self.want(Gap::Blank);
                    let words = plain(&words);
                    self.put(&format!("[image: {}]", words.split_whitespace().collect::<Vec<_>>().join(" ")));
                    self.want(Gap::Blank);
                }
            }
            name => self.open(name),
        }
    }

    fn open(&mut self, name: &str) {
        match name {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.want(Gap::Paragraph);
                let level = name.as_bytes().get(1).map_or(1, |digit| usize::from(digit - b'0'));
                self.put(&format!("{} ", "#".repeat(level)));
            }
            "p" => self.want(Gap::Paragraph),
            "br" => self.want(Gap::Line),
            "hr" => {
                self.want(Gap::Paragraph);
                self.put("---");
                self.want(Gap::Paragraph);
            }
            "ul" | "ol" => {
                self.want(if self.lists.is_empty() { Gap::Paragraph } else { Gap::Line });
                self.lists.push((name == "ol").then_some(0));
            }
            "li" => {
                self.want(Gap::Line);
                let indent = "  ".repeat(self.lists.len().saturating_sub(1).min(MAX_LIST_DEPTH));
                let mark = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number += 1;
                        format!("{number}.")
                    }
                    _ => "-".to_owned(),
                };
                self.put(&format!("{indent}{mark} "));
            }
            "pre" => {
                self.want(Gap::Paragraph);
                self.put("```\n");
                self.preformatted += 1;
            }
            "code" | "kbd" | "samp" if self.preformatted == 0 => self.put("`"),
            "tr" => {
                self.want(Gap::Line);
                self.cells = 0;
            }
            "td" | "th" => {
                if self.cells > 0 {
                    self.put(" | ");
                }
                self.cells += 1;
            }
            "blockquote" => {
                self.want(Gap::Paragraph);
                self.put("> ");
            }
            name if BLOCKS.contains(&name) => self.want(Gap::Line),
            _ => {}
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "p" | "blockquote" => self.want(Gap::Paragraph),
            "ul" | "ol" => {
                self.lists.pop();
                self.want(if self.lists.is_empty() { Gap::Paragraph } else { Gap::Line });
            }
            "pre" if self.preformatted > 0 => {
                self.preformatted -= 1;
                self.want(Gap::Line);
                self.put("```");
                self.want(Gap::Paragraph);
            }
            "code" | "kbd" | "samp" if self.preformatted == 0 => {
                let gap = std::mem::replace(&mut self.gap, Gap::None);
                self.out.push('`');
                self.gap = gap;
            }
            "a" => self.close_link(),
            name if name == "li" || BLOCKS.contains(&name) => self.want(Gap::Line),
            _ => {}
        }
    }

    fn close_link(&mut self) {
        let Some((start, link)) = self.links.pop() else { return };
        let words = self.out.get(start..).unwrap_or_default().trim();
        let Some(link) = link.filter(|_| !words.is_empty() && !words.contains('\n') && !words.contains("]("))
        else {
            return;
        };
        let before = self.out.get(start..).map_or(0, |inner| inner.len() - inner.trim_start().len());
        let shown = format!("[{}]({link})", words.replace(['[', ']'], ""));
        self.out.truncate(start + before);
        self.out.push_str(&shown);
    }

    fn finish(mut self) -> String {
        if self.preformatted > 0 {
            self.preformatted = 0;
            self.want(Gap::Line);
            self.put("```");
        }
        self.out.trim().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(page: &str, expect: &str) {
        let url = PageUrl::parse("https://example.org/docs/a").unwrap();
        assert_eq!(readable(page, &url).text, expect, "{page}");
    }

    #[test]
    fn a_page_becomes_text() {
        check(
            "<h1>A  title</h1><p>One\n two <b>three</b>.</p><p>Four",
            "# A title\n\nOne two three.\n\nFour",
        );
        check(
            "<ul><li>a<li>b<ul><li>c</ul></ul><ol><li>d</li><li>e</li></ol>",
            "- a\n- b\n  - c\n\n1. d\n2. e",
        );
        check("x <a href=\"../b?c=1#d\"> the <i>link</i> </a>.", "x [the link](https://example.org/b?c=1) .");
        check("<a href='javascript:alert(1)'>x</a> <a href='#y'>z</a>", "x z");
        check("<pre>  a\n    b &lt;c&gt;\n</pre>d <code>e f</code>g", "```\n  a\n    b <c>\n```\n\nd `e f`g");
        check("<table><tr><th>a</th><th>b</th></tr><tr><td>1<td>2</table>", "a | b\n1 | 2");
        check("a<br>b<hr>c <img src=x alt=' a  cat '>", "a\nb\n\n---\n\nc [image: a cat]");
        check("<blockquote>said</blockquote>", "> said");
        check("a &amp;lt; &#60;b&#62; &unknown;&nbsp;&nbsp;x &Auml;&yacute;", "a &lt; <b> &unknown; x Äý");
        check("a&#27;[2Jb&#0;c&#x85;d <img alt='x&#27;[2Jy'>", "a[2Jb\u{fffd}c…d [image: x[2Jy]");
    }

    #[test]
    fn what_nobody_sees_is_left_out() {
        check("a<script>alert('<p>x</p>')</script>b<style>p{}</style><!-- c -->", "ab");
        check("a <div style='display: none'>hidden <div>x</div></div> b", "a b");
        check("a <span hidden>hidden</span><p aria-hidden=true>x</p> b", "a b");
        check("<head><title>T &amp; U</title><meta charset=utf-8></head><body>b", "# T & U\n\nb");
        check("<svg><title>x</title><text>y</text></svg>z", "z");
        check("a <input hidden> b", "a b");
        check("<p hidden>x<p>y", "y");
        check("<body style='visibility: hidden'>x", "x");
    }

    #[test]
    fn text_that_a_style_hides_is_left_out_and_counted() {
        let url = PageUrl::parse("https://a.example/").unwrap();
        for hidden in [
            "<p style='opacity:0'>HIDDEN</p>",
            "<p style='position:absolute;left:-9999px'>HIDDEN</p>",
            "<p style='font-size:0'>HIDDEN</p>",
            "<p style='font-size:1px'>HIDDEN <b>HIDDEN</b></p>",
            "<p style='visibility:hidden'>HIDDEN</p>",
            "<p style='color:white'>HIDDEN</p>",
            "<p style='color:#FFF'>HIDDEN</p>",
            "<p style='color:rgb(255, 255, 255)'>HIDDEN</p>",
            "<p style='color:hsl(0,0%,100%)'>HIDDEN</p>",
            "<p style='color:#fefefe'>HIDDEN</p>",
            "<p style='color:transparent'>HIDDEN</p>",
            "<font color=white>HIDDEN</font>",
            "<div style='background:#123456'><p style='color:#123456'>HIDDEN</p></div>",
            "<div style='background-color:black;color:#000'>HIDDEN</div>",
            "<table bgcolor=#112233><tr><td><font color=#112233>HIDDEN</font></td></tr></table>",
            "<p style='text-indent:-9999px'>HIDDEN</p>",
            "<p style='width:0;height:0;overflow:hidden'>HIDDEN</p>",
            "<p style='clip:rect(0,0,0,0);position:absolute'>HIDDEN</p>",
            "<p style='transform:scale(0)'>HIDDEN</p>",
            "<style>.q{display:none}</style><p class='a q'>HIDDEN</p>",
            "<style>#q{opacity:0}</style><p id=q>HIDDEN</p>",
            "<style>.w{color:#fff}</style><p class=w>HIDDEN</p>",
            "<style>.b{background:#000}.b p{color:#000}</style><div class=b><p>HIDDEN</p></div>",
            "<p class=late>HIDDEN</p><style>.late{left:-9999px}</style>",
            "<p aria-hidden='true'>HIDDEN</p>",
            "<p hidden=until-found>HIDDEN</p>",
            "<img width=1 height=1 alt='HIDDEN'>",
            "<img style='display:none' alt='HIDDEN'>",
            "<p style='color:white'>HIDDEN<img src=x alt=HIDDEN></p>",
            "<p style='display:none' style='display:block'>HIDDEN</p>",
            "<p/style=display&colon;none>HIDDEN</p>",
            "<p style='display&#58;none'>HIDDEN</p>",
            "<p title='<!--' hidden>HIDDEN</p>",
        ] {
            let page = format!("<p>before</p>{hidden}<p>after</p>");
            let found = readable(&page, &url);
            assert_eq!(found.text, "before\n\nafter", "{hidden}");
            assert!(found.hidden > 0 || hidden.starts_with("<img"), "{hidden}");
        }
        for shown in [
            "<p style='color:red'>shown</p>",
            "<div style='background:#000'><p style='color:#fff'>shown</p></div>",
            "<div style='background:url(x.png);color:#fff'>shown</div>",
            "<ul style='font-size:0'><li style='font-size:16px'>shown</li></ul>",
            "<div style='visibility:hidden'><p style='visibility:visible'>shown</p></div>",
            "<style>.q{display:none}</style><p class=r>shown</p>",
            "<style>@media print{.q{display:none}}</style><p class=q>shown</p>",
            "<style>body{background:#111;color:#eee}</style><body><p style='color:#fff'>shown</p>",
            "<body bgcolor=black text=white>shown",
            "<p style='color:white'></p>shown",
            "<p style='opacity:0.9'>shown</p>",
            "<!--><p>shown</p><!-- -->",
            "<!-- --!><p>shown</p>",
        ] {
            let found = readable(shown, &url);
            assert!(found.text.contains("shown"), "{shown}: {found:?}");
            assert_eq!(found.hidden, 0, "{shown}");
        }
    }

    #[test]
    fn sheets_that_are_made_to_take_long_do_not() {
        let url = PageUrl::parse("https://a.example/").unwrap();
        let begun = std::time::Instant::now();
        let rules = ".a .a .a .a{display:block}".repeat(20_000);
        let page = format!("<style>{rules}</style>{}x", "<b class=a>".repeat(50_000));
        readable(&page, &url);
        let page = format!("<style>{}</style>", "@media screen{".repeat(30_000));
        readable(&page, &url);
        assert!(begun.elapsed() < std::time::Duration::from_secs(20), "{:?}", begun.elapsed());
    }

    /// Each of these once took time with the square of its length, or could.
    #[test]
    fn hostile_pages_take_no_longer_than_others() {
        let url = PageUrl::parse("https://a.example/").unwrap();
        for piece in [
            "<a '",
            "<a href=x>",
            "</a>",
            "<p hidden>",
            "<!--",
            "<script>",
            "&",
            "<",
            "<ul>",
            "<title>",
            "<pre>",
            "[x](",
        ] {
            let begun = std::time::Instant::now();
            readable(&piece.repeat((1 << 20) / piece.len()), &url);
            assert!(
                begun.elapsed() < std::time::Duration::from_secs(10),
                "{piece} took {:?}",
                begun.elapsed()
            );
        }
    }

    #[test]
    fn broken_pages_do_no_harm() {
        check("</a></ul></pre></p>x", "x");
        check("<pre>never closed", "```\nnever closed\n```");
        check("<a href=b>never closed", "never closed");
        check("<div hidden>never closed", "");
        check("<a href=b>x<a href=c>y</a></a>", "x[y](https://example.org/docs/c)");
        let deep = "<ul><li>".repeat(1000);
        assert!(readable(&deep, &PageUrl::parse("https://a.example/").unwrap()).text.len() < 40_000);
    }
}
