//! What of a call's changes is applied: path by path.

use crate::gate_acts::{rules, skill};
use metier_policy::{
    Action, Actor, Answer, Answers, Asking, ChangesDecision, Digest, EntryFacts, FileGlob, Gate, Layer, List,
    ModeChange, Owner, PathChange, PathChangeKind, PathEntryKind, Place, Rules, Ruling, Source, Standing,
    UndecidedChanges,
};
use std::time::Instant;

/// `+ a` creates, `~ a` modifies, `- a` deletes, `% a` changes permissions; a slash at the end makes a folder.
fn change(text: &str) -> PathChange {
    let (mark, path) = text.split_once(' ').expect(text);
    let kind = match mark {
        "+" => PathChangeKind::Create,
        "~" => PathChangeKind::Modify,
        "-" => PathChangeKind::Delete,
        "%" => PathChangeKind::Attributes,
        other => panic!("no kind {other:?}"),
    };
    let place = Place::new(path);
    PathChange::new(if path.ends_with('/') { place.folder() } else { place }, kind)
}

fn changes(texts: &[&str]) -> Vec<PathChange> {
    texts.iter().map(|text| change(text)).collect()
}

fn pdf() -> Actor {
    Actor::Skill(skill("pdf"))
}

struct Session {
    rules: Rules,
    answers: Answers,
    asking: Asking,
}

impl Session {
    fn new(given: &str) -> Self {
        Self { rules: rules(given), answers: Answers::default(), asking: Asking::Terminal }
    }

    fn decide(&self, actor: &Actor, changes: &[PathChange], granted: &[&str]) -> ChangesDecision {
        let granted: Vec<FileGlob> = granted.iter().map(|glob| glob.parse().expect(glob)).collect();
        let Self { rules, answers, asking } = self;
        Gate { rules, answers, scopes: &[], asking: *asking }.decide_changes(actor, changes, &granted)
    }

    /// A letter for each change: allowed, refused, or a question.
    fn letters(&self, actor: &Actor, texts: &[&str], granted: &[&str]) -> String {
        let decision = self.decide(actor, &changes(texts), granted);
        letters(&decision, texts.len())
    }

    fn undecided(&self, actor: &Actor, texts: &[&str]) -> UndecidedChanges {
        self.decide(actor, &changes(texts), &[]).undecided.expect("a question")
    }

    fn answer(&mut self, actor: &Actor, texts: &[&str], answer: Answer) {
        let question = self.undecided(actor, texts).decision.question.expect("a question");
        self.answers.give(&question, answer);
    }
}

/// Every change is in exactly one place.
fn letters(decision: &ChangesDecision, count: usize) -> String {
    let asked = decision.undecided.iter().flat_map(|undecided| undecided.paths.iter().map(|at| (*at, 'q')));
    let allowed = decision.allowed.iter().map(|(at, _)| (*at, 'a'));
    let mut all: Vec<(usize, char)> =
        allowed.chain(decision.refused.iter().map(|(at, _)| (*at, 'r'))).chain(asked).collect();
    all.sort_unstable();
    assert_eq!(all.iter().map(|(at, _)| *at).collect::<Vec<_>>(), (0..count).collect::<Vec<_>>());
    all.into_iter().map(|(_, letter)| letter).collect()
}

#[test]
fn each_path_is_decided_by_itself() {
    for (given, granted, texts, expect) in [
        ("", &[][..], &["+ a", "~ docs/b"][..], "qq"),
        ("allow skill:pdf/write:docs/**", &[], &["+ a", "~ docs/b", "- docs/c/d", "+ docs/"], "qaaa"),
        ("allow write:docs/**", &[], &["~ docs/b"], "a"),
        ("allow skill:csv/write:docs/**", &[], &["~ docs/b"], "q"),
        ("allow Write", &[], &["~ docs/b"], "q"),
        ("deny write:docs/b; allow write:**", &[], &["+ a", "~ docs/b", "- docs/c"], "ara"),
        ("deny write:docs/**", &[], &["+ docs/", "+ docs/a", "+ b"], "rrq"),
        ("ask write:docs/**; allow write:**", &[], &["+ a", "~ docs/b"], "aq"),
        ("ask write:docs/**", &["**"], &["+ a", "~ docs/b"], "aq"),
        ("deny write:docs/**; mode yolo", &["**"], &["+ a", "~ docs/b"], "ar"),
        // A new folder comes with what is allowed inside, an old one does not go with it.
        ("allow write:out/x/**", &[], &["+ out/", "+ out/x/", "+ out/x/a", "+ out/b"], "aaaq"),
        ("allow write:out/x/**", &[], &["- out/", "- out/x/", "- out/x/a"], "qaa"),
        ("allow write:out/**", &[], &["+ out/"], "a"),
        // Of a deleted folder only what was in it is left to tell that it was one.
        ("allow write:out/**", &[], &["- out/", "- out/x/", "- out/x/a", "- a"], "aaaq"),
        ("allow write:**", &[], &["- .git", "- .git/config", "- .git/HEAD"], "qqa"),
        // Modes.
        ("mode yolo", &[], &["+ a", "- b", "+ .git/hooks/x", "+ AGENTS.md"], "aarr"),
        ("mode plan; allow write:**", &["**"], &["+ a"], "r"),
        ("mode allow; allow write:a", &[], &["+ a", "+ b"], "ar"),
        ("mode strict; allow write:**", &[], &["+ a"], "q"),
        ("deny nonsense; allow write:**", &[], &["+ a"], "q"),
        ("deny nonsense; mode yolo", &[], &["+ a"], "r"),
        // What the call was allowed to write.
        ("", &["docs/**"], &["+ docs/", "+ docs/a", "+ b", "+ docs/.git"], "aaqq"),
        ("mode allow", &["docs/**"], &["+ docs/a", "+ b"], "ar"),
        ("mode strict", &["docs/**"], &["+ docs/a", "+ b"], "aq"),
    ] {
        assert_eq!(
            Session::new(given).letters(&pdf(), texts, granted),
            expect,
            "{given} {granted:?} {texts:?}"
        );
    }
    let session = Session::new("allow write:**");
    assert_eq!(session.letters(&Actor::Agent, &["+ a"], &[]), "a");
    assert_eq!(session.letters(&Actor::Skill(skill("pdf?")), &["+ a"], &[]), "r", "an untrusted skill");
}

#[test]
fn a_protected_place_is_allowed_only_by_its_own_name() {
    let hook = &["+ .git/hooks/pre-commit", "~ .GIT/config", "+ a"];
    for (given, granted, expect) in [
        ("allow write:**", &[][..], "qqa"),
        ("allow write:.git/**", &[], "qqq"),
        ("allow write:.git/hooks/*", &[], "qqq"),
        ("allow write:.git/hooks/pre-commit", &[], "aqq"),
        ("allow write:.git/hooks/pre-commit | write:.GIT/config", &[], "aaq"),
        ("", &["**", ".git/**"], "qqa"),
        ("", &[".git/hooks/pre-commit"], "aqq"),
        ("mode yolo", &["**"], "rra"),
    ] {
        assert_eq!(Session::new(given).letters(&pdf(), hook, granted), expect, "{given} {granted:?}");
    }
    for answer in [Answer::SessionExact, Answer::SessionTool, Answer::Always] {
        let mut session = Session::new("");
        session.answer(&pdf(), &["+ a", "+ b"], answer);
        assert_eq!(session.letters(&pdf(), &["+ a", "+ .mcp.json"], &[]), "aq", "{answer:?}");
        session.answer(&pdf(), &["+ .mcp.json"], answer);
        assert_eq!(session.letters(&pdf(), &["+ .mcp.json", "+ .envrc"], &[]), "aq", "{answer:?}");
    }
}

#[test]
fn an_approval_of_a_protected_place_is_for_its_bytes() {
    let with = |digest: &str| PathChange { digest: Some(Digest(digest.to_owned())), ..change("~ .envrc") };
    let mut session = Session::new("");
    let asked =
        session.decide(&pdf(), &[with("sha256:1")], &[]).undecided.unwrap().decision.question.unwrap();
    session.answers.give(&asked, Answer::SessionExact);
    assert_eq!(letters(&session.decide(&pdf(), &[with("sha256:1")], &[]), 1), "a");
    assert_eq!(letters(&session.decide(&pdf(), &[with("sha256:2")], &[]), 1), "q");
}

#[test]
fn an_approval_is_for_the_paths_and_kinds_that_were_shown() {
    let mut session = Session::new("");
    session.answer(&pdf(), &["+ a", "~ b", "- c"], Answer::SessionExact);
    assert_eq!(session.letters(&pdf(), &["+ a", "~ b", "- c", "- a", "+ b", "~ d"], &[]), "aaaqqq");
    assert_eq!(session.letters(&Actor::Agent, &["+ a"], &[]), "q");
    let mut session = Session::new("");
    session.answer(&pdf(), &["+ a"], Answer::SessionTool);
    assert_eq!(session.letters(&pdf(), &["- x/y", "+ .git/config", "+ /etc/hosts"], &[]), "aqq");
    let mut session = Session::new("");
    session.answer(&pdf(), &["+ a", "+ b"], Answer::No);
    assert_eq!(session.letters(&pdf(), &["+ a", "+ b"], &[]), "rr");
    assert_eq!(session.letters(&pdf(), &["+ a"], &[]), "q");
    // An approval never goes before a deny rule.
    let mut session = Session::new("");
    session.answer(&pdf(), &["+ a"], Answer::Always);
    session.rules = rules("deny write:a");
    assert_eq!(session.letters(&pdf(), &["+ a"], &[]), "r");
}

/// The same change with other facts that a question shows.
fn varied() -> Vec<PathChange> {
    let file = || change("~ run").facts;
    let link =
        |target: &str| EntryFacts { entry: PathEntryKind::Link, target: Some(target.to_owned()), ..file() };
    let mode = |before, after| EntryFacts { mode: Some(ModeChange { before, after }), ..file() };
    let facts = [
        file(),
        EntryFacts { executable: true, ..file() },
        EntryFacts { replaced: Some(PathEntryKind::Folder), ..file() },
        EntryFacts { entry: PathEntryKind::Folder, ..file() },
        link("a"),
        link("b"),
        mode(0o644, 0o755),
        mode(0o600, 0o644),
    ];
    facts.into_iter().map(|facts| PathChange { facts, ..change("~ run") }).collect()
}

#[test]
fn an_approval_is_for_the_entry_that_was_shown() {
    for (given, approved) in varied().iter().enumerate() {
        for answer in [Answer::SessionExact, Answer::Always] {
            let mut session = Session::new("");
            let decided = session.decide(&pdf(), std::slice::from_ref(approved), &[]);
            let asked = decided.undecided.expect("a question").decision.question.expect("a question");
            session.answers.give(&asked, answer);
            for (number, change) in varied().into_iter().enumerate() {
                let expect = if number == given { "a" } else { "q" };
                let decided = session.decide(&pdf(), &[change], &[]);
                assert_eq!(letters(&decided, 1), expect, "{answer:?} for {given} covers {number}");
            }
        }
    }
}

#[test]
fn a_question_shows_where_links_lead_and_what_can_be_executed() {
    let action = Action::changes(pdf(), varied());
    assert_eq!(
        action.approval_request().lines()[1..],
        [
            "  - modify `run` (0 bytes)",
            "  - modify `run` (executable, 0 bytes)",
            "  - modify `run` (was a folder, 0 bytes)",
            "  - modify `run/`",
            "  - modify `run` -> a (link)",
            "  - modify `run` -> b (link)",
            "  - modify `run` (0644 -> 0755, 0 bytes)",
            "  - modify `run` (0600 -> 0644, 0 bytes)",
        ]
    );
    let texts: Vec<String> = varied()
        .into_iter()
        .map(|change| Action::changes(pdf(), vec![change]).approval_key().grants().join(" "))
        .collect();
    assert_eq!(texts[4..6], ["modify `run` -> a (link)", "modify `run` -> b (link)"]);
    let mut hostile = change("+ l");
    hostile.facts.entry = PathEntryKind::Link;
    hostile.facts.target = Some("x`\u{1b}[2J\n  - create `y".to_owned());
    let lines = Action::changes(pdf(), vec![hostile]).approval_request().lines();
    assert_eq!(lines[1..], [r"  - create `l` -> x`\u{1b}[2J\u{a}  - create `y (link)"]);
}

#[test]
fn an_approval_of_a_version_that_showed_no_entry_covers_nothing() {
    let key = Action::changes(pdf(), vec![change("+ a")]).approval_key();
    let mut value = serde_json::to_value(&key).unwrap();
    let old = value["needs"][0]["change"].as_object_mut().unwrap();
    assert_eq!(old.remove("entry"), Some("file".into()));
    let old: metier_policy::ApprovalKey = serde_json::from_value(value).unwrap();
    let mut session = Session::new("");
    session.answers = Answers::new([old]);
    assert_eq!(session.letters(&pdf(), &["+ a"], &[]), "q");
    session.answers = Answers::new([key]);
    assert_eq!(session.letters(&pdf(), &["+ a"], &[]), "a");
}

#[test]
fn the_rules_of_a_refusal_allow_exactly_what_was_refused() {
    let many: Vec<String> =
        (0..50).map(|n| format!("+ out/{n}")).chain((0..9).map(|n| format!("~ f{n}"))).collect();
    let many: Vec<String> = many.into_iter().chain(["+ out/".to_owned(), "+ out/deep/".to_owned()]).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).chain(["+ .git/config", "+ sub/.envrc"]).collect();
    let files: Vec<String> = (0..50).map(|n| format!("+ old/f{n}")).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    for (texts, expect) in [
        (&["+ a"][..], &["skill:user:pdf/write:a"][..]),
        (
            &["+ docs/", "~ docs/a b'\"c.md", "- {x},[y]*?.md", r"+ a\b"],
            &[
                "skill:user:pdf/write:docs",
                "skill:user:pdf/write:docs/a b'\"c.md",
                "skill:user:pdf/write:[{]x[}],[[]y[]][*][?].md",
                r"skill:user:pdf/write:a\\b",
            ],
        ),
        (&["+ .git/hooks/pre-commit"], &["skill:user:pdf/write:.git/hooks/pre-commit"]),
        // A folder that the changes make is one rule.
        (&many, &[]),
        // One that was there is not: a rule for it would allow more than these.
        (&files, &[]),
    ] {
        for mode in ["", "mode allow"] {
            let mut session = Session::new(mode);
            session.asking = Asking::Nobody;
            let decision = session.decide(&pdf(), &changes(texts), &[]);
            let (rules, uncovered) = match &decision.undecided {
                Some(undecided) => {
                    assert_eq!(undecided.decision.ruling, Ruling::Refuse);
                    (&undecided.decision.allow_with, undecided.uncovered)
                }
                None => (&decision.refused_rules.rules, decision.refused_rules.uncovered),
            };
            let printed: Vec<String> = rules.iter().map(ToString::to_string).collect();
            if !expect.is_empty() {
                assert_eq!(printed, expect);
            }
            assert_eq!(
                printed.iter().any(|rule| rule.ends_with("/write:out/**")),
                texts == many,
                "{printed:?}"
            );
            assert!(
                !printed.iter().any(|rule| rule.contains("old/*") || rule.ends_with(":**")),
                "{printed:?}"
            );
            assert_eq!(
                (printed.len(), uncovered),
                if texts == files { (40, 10) } else { (printed.len(), 0) }
            );
            let layer = Layer::new(Source::new(Owner::User, "config.toml")).list(List::Allow, &printed);
            let layer = if mode.is_empty() { layer } else { layer.mode("allow") };
            assert_eq!(layer.problems(), []);
            session.rules = Rules::new(vec![layer], Standing::Untrusted);
            let letters = session.letters(&pdf(), texts, &[]);
            assert_eq!(letters.matches('a').count(), texts.len() - uncovered, "{printed:?}");
            let other = session.letters(&Actor::Agent, texts, &[]);
            assert!(!other.contains('a'), "somebody else: {printed:?}");
            assert!(
                !session
                    .letters(&pdf(), &["+ .mcp.json", "+ /etc/x", "+ old/g", "~ g", "+ outside"], &[])
                    .contains('a'),
                "{printed:?}"
            );
        }
    }
}

#[test]
fn a_question_names_what_is_protected_and_folds_what_is_long() {
    let few = ["+ docs/", "+ docs/a.md", "- old.md", "~ src/main.rs", "+ .git/hooks/pre-commit", "% run.sh"];
    let lines = Session::new("").undecided(&pdf(), &few).action.approval_request();
    assert!(lines.is_whole);
    assert_eq!(
        lines.lines(),
        [
            "the skill `pdf` (user) wants to change 6 paths of the project",
            "  ! create `.git/hooks/pre-commit` (protected, 0 bytes)",
            "  - delete `old.md`",
            "  - modify `src/main.rs` (0 bytes)",
            "  - set permissions of `run.sh` (0 bytes)",
            "  - create `docs/`",
            "  - create `docs/a.md` (0 bytes)",
        ]
    );
    let mut renamed = changes(&["- a.md", "+ b.md"]);
    renamed[1].renamed_from = Some(Place::new("a.md"));
    renamed[1].size = 1_234;
    let request = Action::changes(pdf(), renamed).approval_request();
    assert_eq!(request.changes, ["  - rename `a.md` to `b.md` (1.2 kB)"]);
    let mut renamed = changes(&["- a.md", "~ b.md"]);
    renamed[1].renamed_from = Some(Place::new("a.md"));
    let request = Action::changes(pdf(), renamed).approval_request();
    assert_eq!(request.changes, ["  - rename `a.md` over `b.md` (0 bytes)"]);
}

#[test]
fn ten_thousand_paths_are_decided_and_shown_at_once() {
    let mut list: Vec<PathChange> = (0..10_000)
        .map(|n| {
            let place = Place::new(&format!("/home/ada/p/target/debug/{}/f{n}.o", n % 100));
            let place = place.below("/home/ada", "~/").below("/home/ada/p", "");
            PathChange { size: 1_000, ..PathChange::new(place, PathChangeKind::Create) }
        })
        .collect();
    list.push(change("~ .git/config"));
    list.push(change("- README.md"));
    let mut session = Session::new(
        "deny write:secrets/** | write:*.pem | command:rm:*; ask write:migrations/**; allow write:docs/** | write:src/**",
    );
    let begun = Instant::now();
    let undecided = session.decide(&pdf(), &list, &[]).undecided.unwrap();
    let request = undecided.action.approval_request();
    let taken = begun.elapsed();
    assert!(!request.is_whole);
    assert_eq!(
        request.lines()[1..],
        [
            "  ! modify `.git/config` (protected, 0 bytes)",
            "  - delete `README.md`",
            "  - `target/`: create 10,000 paths (10.0 MB)",
        ]
    );
    let rules: Vec<String> = undecided.decision.allow_with.iter().map(ToString::to_string).collect();
    assert_eq!((rules.len(), undecided.uncovered), (1 + 40, list.len() - 1 - 40));
    assert_eq!(rules[0], "skill:user:pdf/write:.git/config");
    session.answers.give(&undecided.decision.question.unwrap(), Answer::SessionExact);
    let begun = Instant::now();
    assert_eq!(session.decide(&pdf(), &list, &[]).allowed.len(), list.len());
    let again = begun.elapsed();
    // A debug build on a busy machine; what is quadratic takes minutes.
    assert!(taken.as_secs() < 20 && again.as_secs() < 20, "{taken:?}, {again:?}");
    eprintln!("10,002 paths: {taken:?}, with an earlier approval {again:?}");
}
