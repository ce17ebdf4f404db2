//! Everything that must be refused, each with its code, its place and its sentence.

use crate::summary::{diagnostic, is_one_of};
use metier_skill::{code, parse};

/// Holds that a file is refused with exactly this reason.
fn check(file: impl AsRef<[u8]>, expect: &str) {
    let shown = String::from_utf8_lossy(file.as_ref()).chars().take(200).collect::<String>();
    let parsed = parse(file.as_ref(), Some("folder"));
    assert!(parsed.document.is_none(), "not refused: {shown:?}");
    let reasons: Vec<String> =
        parsed.diagnostics.iter().filter(|found| is_one_of(found, code::REFUSALS)).map(diagnostic).collect();
    assert_eq!(reasons, [expect], "{shown:?}");
    let helps = parsed.diagnostics.iter().all(|found| found.help.is_some());
    assert!(helps, "a refusal says what to do: {shown:?}");
}

/// Holds that a file loads, for the near side of a bound.
fn loads(file: &str) {
    let parsed = parse(file.as_bytes(), Some("folder"));
    assert!(parsed.document.is_some(), "{:?}", parsed.diagnostics);
}

fn skill(keys: &str) -> String {
    format!("---\nname: x\ndescription: Does x.\n{keys}\n---\n# X\n")
}

#[test]
fn custom_tags_are_refused_and_never_repaired() {
    let sentence = "a custom tag is not allowed";
    check(skill("a: !!python/object/apply:os.system [id]"), &format!("error: custom-tag 4:4 {sentence}"));
    check(skill("a: !include other.yaml"), &format!("error: custom-tag 4:4 {sentence}"));
    check(skill("a: !<tag:example.org,2000:x> b"), &format!("error: custom-tag 4:4 {sentence}"));
    check(skill("a:\n  - ok\n  - !x b"), &format!("error: custom-tag 6:5 {sentence}"));
    check(skill("!x a: b"), &format!("error: custom-tag 4:1 {sentence}"));
    check(
        "---\nname: !!js/function 'x'\ndescription: y\n---\n",
        &format!("error: custom-tag 2:7 {sentence}"),
    );
    // What is repaired around it does not hide it.
    check(skill("a: b: c\nd: !!python/name:x"), &format!("error: custom-tag 5:4 {sentence}"));
    check("\n---\nname: x\ndescription: Use: y\nz: !e\n----\n", &format!("error: custom-tag 5:4 {sentence}"));
}

#[test]
fn other_languages_are_refused_and_never_evaluated() {
    let check = |opening: &str, place: &str, word: &str| {
        let file =
            format!("{opening}\nrequire('fs').writeFileSync('marker', '')\nname: x\ndescription: y\n---\n");
        let sentence = "asks for another language to be evaluated; metier never does that";
        check(file, &format!("error: frontmatter-engine {place} `---{word}` {sentence}"));
    };
    check("---js", "1:4", "js");
    check("---json", "1:4", "json");
    check("---toml", "1:4", "toml");
    check("--- coffee ", "1:4", "coffee");
    check("\u{feff}---javascript\r", "1:4", "javascript");
    check("\n---js", "2:4", "js");
    check("```\n---toml", "2:4", "toml");
}

#[test]
fn what_is_no_mapping_is_refused() {
    let sentence = "the frontmatter must be a mapping of keys to values";
    check("---\n- a\n- b\n---\n# X\n", &format!("error: frontmatter-not-a-mapping 2:3 {sentence}"));
    check("---\njust a text\n---\n# X\n", &format!("error: frontmatter-not-a-mapping 2:1 {sentence}"));
    check("---\n42\n---\n# X\n", &format!("error: frontmatter-not-a-mapping 2:1 {sentence}"));
    check("---\n[a, b]\n---\n# X\n", &format!("error: frontmatter-not-a-mapping 2:1 {sentence}"));
}

#[test]
fn a_frontmatter_over_a_limit_is_refused() {
    let complex = |place: &str, sentence: &str| format!("error: frontmatter-too-complex {place} {sentence}");
    let too_deep = "the frontmatter nests deeper than 16 levels";
    let nested = |levels: usize| skill(&format!("a: {}{}", "[".repeat(levels), "]".repeat(levels)));
    loads(&nested(15));
    check(nested(16), &complex("4:19", too_deep));
    // So deep that the library below notices first.
    check(nested(10_000), &complex("4:259", too_deep));
    check(skill(&format!("a: {}", "{a: ".repeat(10_000))), &complex("4:64", too_deep));
    let blocks: Vec<String> = (0..30).map(|n| format!("{}a:\n", " ".repeat(n))).collect();
    check(skill(&blocks.concat()), &complex("20:17", too_deep));

    let too_many = "the frontmatter has more than 2000 values";
    // The mapping, two keys with their values, one more key and its list.
    let items = |count: usize| skill(&format!("a: [{}]", "x, ".repeat(count)));
    loads(&items(1_993));
    check(items(1_994), &complex("4:5984", too_many));
    check(items(15_000), &complex("4:5984", too_many));

    let aliases = |count: usize| skill(&format!("a: &x b\nc: [{}]", "*x, ".repeat(count)));
    loads(&aliases(16));
    check(aliases(17), &complex("5:69", "the frontmatter uses more than 16 aliases"));
    let bomb = "a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c]\ne: [*d,*d,*d,*d]";
    check(skill(bomb), &complex("8:8", too_many));
    let text = format!("a: &a {}\nb: [*a, *a, *a]", "x".repeat(25_000));
    check(skill(&text), &complex("5:13", "the aliases of the frontmatter repeat more than 65536 bytes"));
    let deep = format!("a: &a {}{}\nb: [[[[[[[[*a]]]]]]]]", "[".repeat(8), "]".repeat(8));
    check(skill(&deep), &complex("5:12", too_deep));
}

#[test]
fn a_frontmatter_over_64_kib_is_refused() {
    let head = "name: x\ndescription: Does x.\na: ";
    let sized = |bytes: usize| format!("---\n{head}{}\n---\n# X\n", "z".repeat(bytes - head.len() - 1));
    loads(&sized(65_536));
    let reason = "frontmatter-too-large 2:1 the frontmatter has 65537 bytes; 65536 are the most";
    check(sized(65_537), &format!("error: {reason}"));
    // Something before the opening line changes nothing about that, and neither does a broken value.
    let reason = reason.replace("2:1", "3:1");
    check(format!("\n{}", sized(65_537)), &format!("error: {reason}"));
    let broken = sized(100_000).replace("Does x.", "Does: x.");
    let sentence = "the frontmatter has 100001 bytes; 65536 are the most";
    check(broken, &format!("error: frontmatter-too-large 2:1 {sentence}"));
}

#[test]
fn what_a_template_left_is_refused() {
    let reason = |place: &str, what: &str| format!("error: template-placeholder {place} the {what}");
    let name = |name: &str| format!("---\nname: {name}\ndescription: Does x.\n---\n# X\n");
    check(name("{skill-name}"), &reason("2:7", "name is still the placeholder `{skill-name}`"));
    check(name("{{ skill_name }}"), &reason("2:7", "name is still the placeholder `{{ skill_name }}`"));
    check(name("<skill name>"), &reason("2:7", "name is still the placeholder `<skill name>`"));
    check(name("\"[TODO]\""), &reason("2:7", "name is still the placeholder `[TODO]`"));
    let description = |text: &str| format!("---\nname: x\ndescription: {text}\n---\n# X\n");
    let todo = "description is still the placeholder `[TODO: say what it does]`";
    check(description("[TODO: say what it does]"), &reason("3:14", todo));
    check(description("'[TODO: say what it does]'"), &reason("3:14", todo));
    check(
        description("{description}"),
        &reason("3:14", "description is still the placeholder `{description}`"),
    );
    check(description("[TBD]"), &reason("3:14", "description is still the placeholder `[TBD]`"));
}

#[test]
fn what_is_not_text_is_refused() {
    let reason = |what: &str| format!("error: not-text 1:1 this is {what}, not text");
    check(b"{\\rtf1\\ansi\\deff0 name: x}", &reason("an RTF document"));
    check(b"\xff\xfe-\0-\0-\0\n\0n\0a\0m\0e\0", &reason("UTF-16 text"));
    check(b"\xfe\xff\0-\0-\0-\0\n\0n\0a\0m\0e", &reason("UTF-16 text"));
    check(b"-\0-\0-\0\n\0n\0a\0m\0e\0:\0 \0x\0", &reason("binary data"));
    check([0_u8; 4_096], &reason("binary data"));
    check(b"%PDF-1.7 and so on and so on", &reason("a PDF document"));
    check(b"PK\x03\x04 and so on and so on", &reason("a ZIP archive or an office document"));
    check(b"\x7fELF\x02\x01\x01 and so on and so on", &reason("a program"));
}

#[test]
fn a_file_with_nothing_in_it_is_refused() {
    let sentence = "there is no frontmatter and nothing else to speak of";
    check("", &format!("error: too-small 1:1 {sentence} (0 bytes)"));
    check("test", &format!("error: too-small 1:1 {sentence} (4 bytes)"));
    check("# A title and more.\n", &format!("error: too-small 1:1 {sentence} (20 bytes)"));
    check(" \n\t\n          \n          \n", &format!("error: too-small 1:1 {sentence} (26 bytes)"));
    loads("# A title and more..\n");
}

#[test]
fn a_name_that_gives_no_name_is_refused() {
    let name = |name: &str| format!("---\nname: {name}\ndescription: Does x.\n---\n# X\n");
    check(name("\"\""), "error: name-empty 2:7 the name is empty");
    check(name("'   '"), "error: name-empty 2:7 the name is empty");
    let control = "the name contains a control character";
    check(name("a\u{1b}[31mb"), &format!("error: name-control-character 2:8 {control}"));
    check(name("a\u{7}"), &format!("error: name-control-character 2:8 {control}"));
    check(name("\u{85}a"), &format!("error: name-control-character 2:7 {control}"));
    check(name("\"a\\u001b[31mb\""), &format!("error: name-control-character 2:7 {control}"));
    check(name("\"a\\nb\""), &format!("error: name-control-character 2:7 {control}"));
    check(name("\"a\\0b\""), &format!("error: name-control-character 2:7 {control}"));
    check(name("."), "error: name-path-step 2:7 `.` is a step of a path, not a name");
    check(name("'..'"), "error: name-path-step 2:7 `..` is a step of a path, not a name");
    check(name("'!!!'"), "error: name-unusable 2:7 no letter or digit is left of the name `!!!`");
    check(name("🎯"), "error: name-unusable 2:7 no letter or digit is left of the name `🎯`");
    check(name("[a, b]"), "error: name-not-text 2:7 `name` must be a text");
    check(name("{a: b}"), "error: name-not-text 2:7 `name` must be a text");
}

#[test]
fn a_frontmatter_that_nobody_can_read_is_refused() {
    let broken = |place: &str, sentence: &str| format!("error: frontmatter-broken {place} {sentence}");
    let sentence = "the frontmatter cannot be read (unexpected character: ``'), and no name and description in it either";
    check("---\n\n# A heading\n\n```json\n{}\n```\n\n---\nbody\n", &broken("5:1", sentence));
    let unclosed = "the frontmatter is not closed, and no name and description can be read from it";
    check("---\nname: only a name\n\nand text without an end\n", &broken("1:1", unclosed));
    check("---\n\nSome text behind a line of dashes.\n", &broken("1:1", unclosed));
    check("name: x\nversion: 1\ndescription: >\nText: more\n\n## Heading\n", &broken("1:1", unclosed));
}
