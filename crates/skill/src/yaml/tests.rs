//! Both parsers on the same texts.

use super::*;
use proptest::prelude::*;

fn shown(node: &Node<'_>) -> String {
    serde_json::to_string(node).unwrap()
}

fn check(text: &str, json: &str) {
    let tree = parse(text, 0).unwrap().unwrap();
    assert_eq!(shown(&tree), json, "{text:?}");
}

/// The fast path may decline, but what it accepts is exactly what the full parser makes of it.
fn agree(text: &str) -> bool {
    let Some(fast) = parse_plainly(text, 7) else { return false };
    match parse_fully(text, 7) {
        Ok(Some(full)) => assert_eq!(fast, full, "{text:?}"),
        other => panic!("the fast path accepts what the full parser does not: {text:?}: {other:?}"),
    }
    true
}

#[test]
fn scalars_keep_their_text_and_json_keeps_it_too() {
    check("version: 1.10\n", r#"{"version":"1.10"}"#);
    check(
        "a: 1\nb: 1.5\nc: true\nd: yes\ne: ~\nf:\n",
        r#"{"a":1,"b":1.5,"c":true,"d":"yes","e":null,"f":null}"#,
    );
    check("a: 0x1F\nb: '1'\nc: 007\n", r#"{"a":"0x1F","b":"1","c":"007"}"#);
}

#[test]
fn plain_frontmatter_takes_the_fast_path() {
    for text in [
        "name: pdf\ndescription: Read PDFs. Use when asked.\n",
        "name: pdf\n\n# a comment\ndescription: \"Read: PDFs\"\nlicense: 'MIT'",
        "metadata:\n  author: me\n  version: 1.0\n  deep:\n    x: y\nlast:\n",
        "tags:\n  - a b\n  - \"c\"\nmore:\n- x\n- y\nname: z\n",
        "description: >\n  folded\n  text\n\n  second\n\nname: x\n",
        "description: >-\n  folded\n  text\n",
        "a: |\n  literal\n    deeper  \n\n  end\nb: |-\n  x\n\n\n",
        "tools: [Read, Write, \"Bash\"]\n",
        "description: Prüfe Größe — 日本語 🎯\nurl: https://example.com/a#b\n",
        "a: b\n  c d  \n    'e'\n - f\ng: h\n",
        "description:\n  Text below\n  its key, a:b\nname: x\n",
        "m:\n  d:\n    Deep text\n     goes on\n  e: f\n",
        "name: pdf\r\ndescription: a\r\n  b\r\n\r\nd: |\r\n  x\r\n\r\n  y\r\n",
        "a: -x\nb: 10:30\nc: x:y\nd: a#b\n",
        "description: 'Long: text  \n  with a #sign, a \"quote\"\n    and an end.'  \nname: x\n",
        "m:\n  d: \"it's\n    on two lines\"\n  e: f\nn: \"below\r\n  a: 'b'\"\r\n",
    ] {
        assert!(agree(text), "declined: {text:?}");
    }
}

#[test]
fn what_is_not_plain_is_declined() {
    for text in [
        "a: 'b\n\n  c'\n",
        "a: '\n  b'\n",
        "a: 'b\n  '\n",
        "a: 'b\n  c' d\n",
        "a: 'b\n  it''s'\n",
        "a: 'b\nc'\n",
        "a: \"b\\\n  c\"\n",
        "a: 'b\n",
        "a: b: c\n",
        "a: &x b\n",
        "a: *x\n",
        "a: !x b\n",
        "a: b # c\n",
        "a: \"b\\n\"\n",
        "a: 'it''s'\n",
        "a: b\n\n  c\n",
        "a: b\n# c\n  d\n",
        "a: b\n  c: d\n",
        "a: b\n  c #d\n",
        "a: 'b'\n  c\n",
        "- a\n",
        "a:\n  - b\n    c\n",
        "a:\n  two words: b\n",
        "a: b\rc: d\n",
        "\ta: b\n",
        "- a\n",
        "a\n",
        "a: {b: c}\n",
        "a:\n   b: c\n  d: e\n",
        "a: |+\n  x\n",
        "a: |2\n  x\n",
        "a: >\n  x\n    y\n",
        "? a\n: b\n",
        "\"a\": b\n",
        "a: @b\n",
        "a: [x, {y: z}]\n",
        "a:\n  - b: c\n",
        "a: |\n  x",
        "",
        "\n",
    ] {
        assert!(parse_plainly(text, 0).is_none(), "accepted: {text:?}");
    }
}

#[test]
fn limits_are_refusals() {
    let deep = format!("a: {}{}", "[".repeat(40), "]".repeat(40));
    let very_deep = format!("a: {}", "[".repeat(10_000));
    let deep_blocks: Vec<String> = (0..300).map(|n| format!("{}a:\n", " ".repeat(n))).collect();
    let deep_blocks = deep_blocks.concat();
    let wide = format!("a: [{}]", "x, ".repeat(2_100));
    let aliases = format!("a: &x b\nc: [{}]", "*x, ".repeat(17));
    let bomb = format!(
        "a: &a [{}]\nb: &b [*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c]\n",
        "x,".repeat(100)
    );
    for text in [deep, very_deep, deep_blocks, wide, aliases, bomb] {
        let error = parse(&text, 0).unwrap_err();
        assert_eq!(error.kind, YamlErrorKind::Limit, "{}: {error:?}", &text[..40]);
    }
}

#[test]
fn custom_tags_are_named_as_such_and_core_tags_are_fine() {
    assert_eq!(parse("a: !!python/object:os.system x\n", 0).unwrap_err().kind, YamlErrorKind::Tag);
    assert_eq!(
        parse("a: !x y\n", 0).unwrap_err(),
        YamlError { kind: YamlErrorKind::Tag, at: 3, message: "a custom tag is not allowed".into() }
    );
    check("a: !!str 5\nb: !!int 5\n", r#"{"a":"5","b":5}"#);
}

#[test]
fn spans_are_of_the_file() {
    let text = "name: pdf\nmeta:\n  x: 'y'\nlist: [a]\nnone:\n";
    for parse in [|text| parse_fully(text, 100).unwrap().unwrap(), |text| parse_plainly(text, 100).unwrap()] {
        let tree = parse(text);
        let spans: Vec<_> = tree
            .entries()
            .unwrap()
            .iter()
            .map(|entry| (entry.key_span.range(), entry.value.span.range()))
            .collect();
        assert_eq!(
            spans,
            [(100..104, 106..109), (110..114, 118..124), (125..129, 131..134), (135..139, 139..139)]
        );
    }
}

#[test]
fn the_span_of_a_block_ends_with_its_text() {
    let spans = |text: &str| -> Vec<String> {
        let tree = parse_fully(text, 0).unwrap().unwrap();
        tree.entries().unwrap().iter().map(|entry| format!("{:?}", entry.value.span.range())).collect()
    };
    assert_eq!(spans("a: >\n  b\n\n\nc: d\n"), ["7..8", "14..15"]);
    // An empty block is where its marker ends, and a no-break space is text.
    assert_eq!(spans("a: >\na: |-\n\nb: c\n"), ["4..4", "10..10", "15..16"]);
    assert_eq!(spans("a: |-\n  b\u{202f}\nc: d\n"), ["8..12", "16..17"]);
    assert!(agree("a: |-\n  b\u{202f}\nc: d\n"));
}

/// Pieces of frontmatter that meet each other in ways nobody wrote down.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "name",
        "description",
        "a",
        ":",
        ": ",
        "\n",
        "\n\n",
        "  ",
        " ",
        "- ",
        "-",
        "'",
        "\"",
        ">",
        "|",
        ">-\n",
        "|\n",
        "|-\n",
        "[",
        "]",
        ",",
        "{",
        "}",
        "#",
        " #",
        "&x ",
        "*x",
        "!",
        "%",
        "@",
        "`",
        "?",
        "x y",
        "1.10",
        "true",
        "null",
        "~",
        "é",
        "\u{85}",
        "\u{2028}",
        "\t",
        "\r\n",
        "\\",
        "---",
        "...",
        "key: value\n",
        "key:\n",
        "  nested: x\n",
        "    deep: y\n",
        "- item\n",
        "  - item\n",
        ">\n  text\n  more\n",
        "\u{feff}",
        "\u{0}",
        "🎯",
    ]);
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_fast_path_never_says_something_else(text in pieces()) {
        agree(&text);
    }

    #[test]
    fn the_fast_path_survives_mutations(
        seed in prop::sample::select(vec![
            "name: pdf\ndescription: Read PDFs. Use when asked.\nmetadata:\n  a: b\n  c:\n    - x\n    - y\ntags: [a, b]\n",
            "description: >\n  folded text\n  goes on\n\n  and on\nname: 'x'\nd: |-\n  a\n   b\nlast: \"q\"\n",
            "description: 'Long: text\n  over two lines,\n  and three'\nm:\n  a: \"b\n    c\"\n  d: e\n",
        ]),
        cuts in prop::collection::vec((any::<prop::sample::Index>(), 0..3_u8, prop::sample::select(vec!['\n', ' ', ':', '-', '#', '\'', '"', '>', '|', 'x', '[', ',', ']', '\t', '&'])), 1..4),
    ) {
        let mut text: Vec<char> = seed.chars().collect();
        for (index, action, c) in cuts {
            let at = index.index(text.len());
            match action { 0 => { text.remove(at); } 1 => text.insert(at, c), _ => text[at] = c }
        }
        agree(&text.into_iter().collect::<String>());
    }
}
