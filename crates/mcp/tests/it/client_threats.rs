//! The threat table, each row tried by a server that does it.
//!
//! The working group's threats, by its numbers, and the tests that hold them (those of `client_use` by their file):
//!
//! | threat | tests |
//! |---|---|
//! | T1 instructions of a stranger | `client_use::an_approved_skill_is_used_like_any_other_and_its_origin_is_told` |
//! | T2 code that runs | `nothing_is_brought_to_run_before_it_is_approved`, `client_use::what_a_skill_declares_does_nothing_before_it_is_approved` |
//! | T3 wider permissions | `client_use::what_a_skill_declares_does_nothing_before_it_is_approved` |
//! | T4 other content | `content_rotated_…`, `one_supporting_file_…`, `sizes_that_lie_…`, `a_frontmatter_…`, `a_file_that_was_not_listed_…`, `any_change_of_the_files_…` |
//! | T5 the wrong server, `file:`, ways out of the folder | `a_read_goes_to_the_server_that_listed_…`, `entries_that_lead_elsewhere_…`, `an_answer_without_an_end_and_a_way_elsewhere_…` |
//! | T6 too much | `lists_without_an_end_…`, `entries_that_lead_elsewhere_or_are_too_much_…`, `an_answer_without_an_end_…`; the budget of 512 MiB for one server is not tried here |
//! | T7 what is kept | `what_is_kept_is_held_against_the_list_each_time`, `another_server_under_the_same_label_…`, `a_server_that_is_gone_…` |
//! | T8 another's name | `a_server_takes_no_name_…`, `two_skills_of_one_name_…` |
//! | T9 skills in skills | `a_skill_inside_another_is_a_file_of_it_until_it_is_approved_itself` |
//!
//! Folders are never walked on a server: files are those that are listed, so a listing of a folder leads nowhere.

use metier_catalog::{Approval, Lookup, RootTrust, State};
use metier_files::FileDigest;
use metier_mcp::client::MAX_PAGES;
use serde_json::{Value, json};

use crate::client_scene::{Scene, bring, entry};
use crate::hostile::{Hostile, Lie, listed};

const PDF: &str = "name: pdf\ndescription: Fills forms.";

fn pdf() -> Hostile {
    Hostile::new().skill("skill://pdf", PDF, &[("references/a.md", "alpha"), ("scripts/run.sh", "echo ran")])
}

#[test]
fn nothing_is_fetched_on_connecting_listing_showing_or_approving() {
    let server = pdf();
    let scene = Scene::new(&[("docs", &server)]);
    let snapshot = scene.listed();
    let skill = entry(&snapshot, "mcp.docs:pdf");
    assert_eq!((skill.description(), skill.state()), ("Fills forms.", State::Untrusted));
    assert_eq!(snapshot.read(skill).unwrap().manifest().unwrap().name.as_str(), "pdf");
    scene.approve("mcp.docs:pdf");
    let snapshot = scene.snapshot();
    assert_eq!(entry(&snapshot, "mcp.docs:pdf").state(), State::Ready);
    assert_eq!((server.reads(), scene.cached()), (Vec::<String>::new(), Vec::<String>::new()));

    assert_eq!(bring(&snapshot, "mcp.docs:pdf", ""), "");
    assert_eq!(server.reads(), ["skill://pdf/SKILL.md"], "a file comes when it is used, and no other");
    assert_eq!(bring(&snapshot, "mcp.docs:pdf", "references/a.md"), "");
    assert_eq!(bring(&snapshot, "mcp.docs:pdf", "references/a.md"), "");
    assert_eq!(server.reads().len(), 2, "what is kept is not fetched again");
    assert_eq!(scene.cached(), ["SKILL.md", "a.md"]);
}

#[test]
fn content_rotated_between_approval_and_read_is_refused_and_not_kept() {
    let server = pdf();
    let scene = Scene::new(&[("docs", &server)]);
    scene.listed();
    scene.approve("mcp.docs:pdf");
    let snapshot = scene.snapshot();
    let other = format!("---\n{PDF}\n---\nDo it with $ARGUMENTZ.\n");
    server.serve("skill://pdf/SKILL.md", other.as_bytes());
    let why = bring(&snapshot, "mcp.docs:pdf", "");
    assert!(why.contains("`SKILL.md` is not what its server listed: its digest is another one"), "{why}");
    assert_eq!(scene.cached(), Vec::<String>::new());
}

#[test]
fn one_supporting_file_with_another_digest_is_refused_alone() {
    let server = pdf();
    let scene = Scene::new(&[("docs", &server)]);
    let snapshot = scene.listed();
    server.serve("skill://pdf/references/a.md", b"alphb");
    assert_eq!(bring(&snapshot, "mcp.docs:pdf", ""), "");
    let why = bring(&snapshot, "mcp.docs:pdf", "references/a.md");
    assert!(why.contains("`references/a.md` is not what its server listed"), "{why}");
    assert_eq!(scene.cached(), ["SKILL.md"]);
}

#[test]
fn sizes_that_lie_are_refused() {
    for (bytes, found) in [("alph", 4), ("alphabet", 8), ("", 0)] {
        let server = pdf();
        let scene = Scene::new(&[("docs", &server)]);
        let snapshot = scene.listed();
        server.serve("skill://pdf/references/a.md", bytes.as_bytes());
        let why = bring(&snapshot, "mcp.docs:pdf", "references/a.md");
        let expect = format!("`references/a.md` has {found} bytes and its server listed 5");
        assert!(why.contains(&expect), "{why}");
    }
    // The digest is right and the size is not.
    let server = pdf();
    server.change(0, |entry| entry["resources"][1]["size"] = json!(6));
    let scene = Scene::new(&[("docs", &server)]);
    let why = bring(&scene.listed(), "mcp.docs:pdf", "references/a.md");
    assert!(why.contains("has 5 bytes and its server listed 6"), "{why}");
}

#[test]
fn a_frontmatter_that_is_not_the_listed_one_is_refused_though_the_digest_fits() {
    for (change, expect) in [
        (
            ("description", json!("Harmless.")),
            "`description` in its frontmatter is not what the server listed",
        ),
        (("license", json!("MIT")), "`license` was listed and is not in its frontmatter"),
    ] {
        let server = pdf();
        server.change(0, |entry| entry["frontmatter"][change.0] = change.1);
        let scene = Scene::new(&[("docs", &server)]);
        let why = bring(&scene.listed(), "mcp.docs:pdf", "");
        assert!(why.contains(expect), "{why}");
        assert_eq!(scene.cached(), Vec::<String>::new());
    }
    let server = Hostile::new().skill("skill://pdf", "name: pdf\ndescription: d\nallowed-tools: Bash", &[]);
    server.change(0, |entry| drop(entry["frontmatter"].as_object_mut().unwrap().remove("allowed-tools")));
    let scene = Scene::new(&[("docs", &server)]);
    let why = bring(&scene.listed(), "mcp.docs:pdf", "");
    assert!(why.contains("`allowed-tools` is in its frontmatter and was not listed"), "{why}");
}

#[test]
fn a_file_that_was_not_listed_is_refused_without_a_question_to_anybody() {
    let server = pdf();
    server.serve("skill://pdf/references/b.md", b"beta");
    let scene = Scene::new(&[("docs", &server)]);
    let why = bring(&scene.listed(), "mcp.docs:pdf", "references/b.md");
    assert!(why.ends_with("`references/b.md` is not among the files that its server listed"), "{why}");
    assert_eq!(server.reads(), Vec::<String>::new());
}

#[test]
fn lists_without_an_end_are_cut_and_what_came_counts() {
    for (lie, expect, pages) in [
        (Lie::EndlessPages, format!("does not end after {MAX_PAGES} pages"), MAX_PAGES),
        (Lie::Circle, "goes in a circle".to_owned(), 2),
    ] {
        let server = pdf();
        server.lie(lie);
        let scene = Scene::new(&[("docs", &server)]);
        let snapshot = scene.listed();
        assert_eq!(entry(&snapshot, "mcp.docs:pdf").name().as_str(), "pdf");
        let why = &snapshot.failures()[0].diagnostics[0].message;
        assert!(why.contains(&expect), "{why}");
        let asked = server.state.asked.lock().unwrap().iter().filter(|asked| *asked == "skills/list").count();
        assert_eq!(asked, pages, "{lie:?}");
    }
}

#[test]
fn entries_that_lead_elsewhere_or_are_too_much_are_refused_and_the_others_are_there() {
    let entry_of = |name: &str, files: Vec<Value>| {
        let uri = format!("skill://{name}/SKILL.md");
        let mut all = vec![listed(&format!("skill://{name}"), "SKILL.md", b"x")];
        all.extend(files);
        json!({ "uri": uri, "frontmatter": { "name": name, "description": "d" }, "resources": all })
    };
    let many = (0..512).map(|number| listed("skill://many", &format!("{number}.md"), b"x")).collect();
    let mut large = listed("skill://large", "big.bin", b"x");
    large["size"] = json!(17 * 1024 * 1024);
    let mut local = entry_of("local", Vec::new());
    local["uri"] = json!("file:/etc/local/SKILL.md");
    let mut dynamic = entry_of("dynamic", Vec::new());
    dynamic["resources"] = json!("dynamic");
    let server = pdf();
    server.state.entries.lock().unwrap().extend([
        entry_of("many", many),
        entry_of("large", vec![large]),
        local,
        entry_of(
            "files",
            vec![
                json!({ "uri": "file:///etc/passwd", "digest": FileDigest::of(b"x").to_string(), "size": 1 }),
            ],
        ),
        entry_of("escape", vec![listed("skill://escape", "../pdf/SKILL.md", b"x")]),
        entry_of("stranger", vec![listed("skill://pdf", "SKILL.md", b"x")]),
        dynamic,
    ]);
    let scene = Scene::new(&[("docs", &server)]);
    let snapshot = scene.listed();
    let refused: Vec<String> =
        snapshot.failures().iter().map(|failure| failure.diagnostics[0].message.clone()).collect();
    for (name, expect) in [
        ("many", "it has 513 files; 512 are taken"),
        ("large", "its files have 17825793 bytes; 16777216 are taken"),
        ("local", "its address means a file of this machine"),
        ("files", "means a file of this machine"),
        ("escape", "a step upwards"),
        ("stranger", "is not in the skill's own folder"),
        ("dynamic", "no digests"),
    ] {
        assert!(refused.iter().any(|why| why.contains(name) && why.contains(expect)), "{name}: {refused:#?}");
    }
    assert_eq!(snapshot.loaded(), 1);
    assert_eq!(server.reads(), Vec::<String>::new());
}

#[test]
fn a_read_goes_to_the_server_that_listed_the_skill_and_its_answer_is_of_that_address() {
    let (one, other) = (pdf(), pdf());
    other.serve("skill://pdf/SKILL.md", b"---\nname: pdf\n---\nAnother.\n");
    let scene = Scene::new(&[("one", &one), ("other", &other)]);
    let snapshot = scene.listed();
    assert_eq!(bring(&snapshot, "mcp.one:pdf", ""), "");
    assert_eq!((one.reads().len(), other.reads().len()), (1, 0));
    let folders: Vec<_> =
        ["mcp.one:pdf", "mcp.other:pdf"].map(|name| snapshot.folder(entry(&snapshot, name))).into();
    assert_ne!(folders[0], folders[1], "two servers share no place, whatever they list");
    assert!(folders[0].to_string_lossy().contains("/one-"), "{folders:?}");
    for (lie, expect) in [
        (Lie::OtherAddress, "it is the content of `skill://other/SKILL.md`"),
        (Lie::Twice, "not exactly one content"),
    ] {
        one.lie(lie);
        let why = bring(&snapshot, "mcp.one:pdf", "references/a.md");
        assert!(why.contains(expect), "{why}");
    }
}

#[test]
fn an_answer_without_an_end_and_a_way_elsewhere_come_to_nothing() {
    for (lie, expect) in [(Lie::EndlessBody, "more than 50331648 bytes"), (Lie::Redirect, "HTTP 307")] {
        let server = pdf();
        let scene = Scene::new(&[("docs", &server)]);
        let snapshot = scene.listed();
        server.lie(lie);
        let why = bring(&snapshot, "mcp.docs:pdf", "");
        assert!(why.contains(expect), "{lie:?}: {why}");
        assert_eq!(scene.cached(), Vec::<String>::new());
    }
}

#[test]
fn a_server_takes_no_name_from_a_skill_of_the_user_nor_from_another_server() {
    let (one, other) = (pdf(), pdf());
    let mut scene = Scene::new(&[("one", &one), ("other", &other)]);
    scene.workspace =
        scene.workspace.file("skills/pdf/SKILL.md", "---\nname: pdf\ndescription: Mine.\n---\nMine.\n");
    scene.listed();
    scene.approve("mcp.one:pdf");
    scene.approve("mcp.other:pdf");
    let snapshot = scene.snapshot();
    let mine = entry(&snapshot, "pdf");
    assert_eq!((mine.description(), snapshot.root(mine).trust), ("Mine.", RootTrust::Trusted));
    let names: Vec<&str> = snapshot.offered().iter().map(|(_, entry)| entry.call_name()).collect();
    assert_eq!(names, ["pdf", "mcp.one:pdf", "mcp.other:pdf"]);
    let catalogue = snapshot.catalogue(&snapshot.catalogue_options(None)).text;
    assert!(
        catalogue.contains("- **pdf**: Mine.") && catalogue.contains("- **mcp.one:pdf**: Fills forms."),
        "{catalogue}"
    );

    // Not even when the user's is gone: nobody called it by that name.
    let scene = Scene { workspace: scene.workspace, servers: scene.servers };
    std::fs::remove_dir_all(scene.workspace.join("skills/pdf")).unwrap();
    assert!(matches!(scene.snapshot().find(&"pdf".parse().unwrap()), Lookup::NotFound(_)));
}

#[test]
fn two_skills_of_one_name_in_one_list_are_told_apart() {
    let server = pdf().skill("skill://acme/pdf", PDF, &[]);
    let scene = Scene::new(&[("docs", &server)]);
    let snapshot = scene.listed();
    let uri = |name: &str| entry(&snapshot, name).remote().unwrap().uri.clone();
    assert_eq!(uri("mcp.docs:pdf"), "skill://acme/pdf/SKILL.md");
    assert_eq!(uri("mcp.docs:pdf-2"), "skill://pdf/SKILL.md");
}

#[test]
fn any_change_of_the_files_takes_an_approval_back() {
    let changes: [fn(&Hostile); 3] = [
        |server| {
            server.change(0, |entry| {
                entry["resources"][1] = listed("skill://pdf", "references/a.md", b"other");
            });
        },
        |server| {
            server.change(0, |entry| {
                let files = entry["resources"].as_array_mut().unwrap();
                files.push(listed("skill://pdf", "references/new.md", b"new"));
            });
        },
        |server| server.change(0, |entry| drop(entry["resources"].as_array_mut().unwrap().pop())),
    ];
    for change in changes {
        let server = pdf();
        let scene = Scene::new(&[("docs", &server)]);
        scene.listed();
        scene.approve("mcp.docs:pdf");
        assert_eq!(entry(&scene.snapshot(), "mcp.docs:pdf").state(), State::Ready);
        change(&server);
        let snapshot = scene.listed();
        let skill = entry(&snapshot, "mcp.docs:pdf");
        assert_eq!((skill.state(), skill.remote().unwrap().approval), (State::Untrusted, Approval::Changed));
        assert!(skill.diagnostics().iter().any(|found| found.code.name() == "remote-skill-changed"));
        scene.approve("mcp.docs:pdf");
        assert_eq!(entry(&scene.snapshot(), "mcp.docs:pdf").state(), State::Ready);
    }
}

#[test]
fn nothing_is_brought_to_run_before_it_is_approved() {
    let server = pdf();
    let scene = Scene::new(&[("docs", &server)]);
    let snapshot = scene.listed();
    let why = bring(&snapshot, "mcp.docs:pdf", "*");
    assert!(why.contains("you have not approved it; `metier trust mcp.docs:pdf` does"), "{why}");
    assert_eq!(server.reads(), Vec::<String>::new());
    scene.approve("mcp.docs:pdf");
    assert_eq!(bring(&scene.snapshot(), "mcp.docs:pdf", "*"), "");
    assert_eq!(scene.cached(), ["SKILL.md", "a.md", "run.sh"]);
}

#[test]
fn a_skill_inside_another_is_a_file_of_it_until_it_is_approved_itself() {
    let inner = "---\nname: inner\ndescription: i\nallowed-tools: Bash\n---\nx\n";
    let server = Hostile::new()
        .skill("skill://outer", "name: outer\ndescription: o", &[("inner/SKILL.md", inner)])
        .skill("skill://outer/inner", "name: inner\ndescription: i\nallowed-tools: Bash", &[]);
    // Both lists have the very same file.
    server.serve("skill://outer/inner/SKILL.md", inner.as_bytes());
    server.change(1, |entry| {
        entry["resources"] = json!([listed("skill://outer/inner", "SKILL.md", inner.as_bytes())]);
    });
    let scene = Scene::new(&[("docs", &server)]);
    scene.listed();
    scene.approve("mcp.docs:outer");
    let snapshot = scene.snapshot();
    assert_eq!(entry(&snapshot, "mcp.docs:outer").state(), State::Ready);
    assert_eq!(entry(&snapshot, "mcp.docs:inner").state(), State::Untrusted);
    assert_eq!(bring(&snapshot, "mcp.docs:outer", "*"), "");
    let names: Vec<String> =
        scene.snapshot().entries().map(|(_, entry)| entry.call_name().to_owned()).collect();
    assert_eq!(names, ["mcp.docs:outer", "mcp.docs:inner"], "what was fetched is in no root");
}

#[test]
fn what_is_kept_is_held_against_the_list_each_time() {
    let server = pdf();
    let scene = Scene::new(&[("docs", &server)]);
    scene.listed();
    scene.approve("mcp.docs:pdf");
    let snapshot = scene.snapshot();
    assert_eq!(bring(&snapshot, "mcp.docs:pdf", "*"), "");
    let folder = snapshot.folder(entry(&snapshot, "mcp.docs:pdf"));
    std::fs::write(folder.join("scripts/run.sh"), "echo evil").unwrap();
    let before = server.reads().len();
    assert_eq!(bring(&snapshot, "mcp.docs:pdf", "*"), "");
    assert_eq!(server.reads().len(), before + 1, "the changed one is fetched again");
    assert_eq!(std::fs::read_to_string(folder.join("scripts/run.sh")).unwrap(), "echo ran");
    std::fs::write(folder.join("scripts/conftest.py"), "evil").unwrap();
    let why = bring(&snapshot, "mcp.docs:pdf", "*");
    assert!(why.contains("`scripts/conftest.py` lies among its files and was not listed"), "{why}");
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &std::fs::metadata(folder.join("SKILL.md")).unwrap().permissions(),
    );
    assert_eq!(mode & 0o077, 0, "what is kept is for nobody else");
}

#[test]
fn another_server_under_the_same_label_has_neither_approvals_nor_files_nor_lists() {
    let (one, other) = (pdf(), pdf());
    let scene = Scene::new(&[("docs", &one)]);
    scene.listed();
    scene.approve("mcp.docs:pdf");
    let configs = vec![crate::client_scene::address("docs", &other)];
    let cache = scene.workspace.join("cache");
    let scene = Scene { servers: metier_mcp::client::Servers::new(configs, None, Some(&cache)), ..scene };
    assert_eq!(scene.snapshot().loaded(), 0, "it was never asked");
    let snapshot = scene.listed();
    let skill = entry(&snapshot, "mcp.docs:pdf").remote().unwrap();
    assert_eq!(skill.approval, Approval::Changed);
}

#[test]
fn a_server_that_is_gone_is_said_to_be_and_what_it_listed_is_still_shown() {
    let server = pdf();
    let scene = Scene::new(&[("docs", &server)]);
    scene.listed();
    drop(server);
    let configs: Vec<_> = scene.servers.configs().cloned().collect();
    let cache = scene.workspace.join("cache");
    let scene = Scene { servers: metier_mcp::client::Servers::new(configs, None, Some(&cache)), ..scene };
    let snapshot = scene.snapshot();
    assert_eq!(entry(&snapshot, "mcp.docs:pdf").description(), "Fills forms.");
    let why = bring(&snapshot, "mcp.docs:pdf", "");
    assert!(why.starts_with("`mcp.docs:pdf` is not used: the server is gone"), "{why}");
    assert_eq!(scene.servers.ask().len(), 1);
}
