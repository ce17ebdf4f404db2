//! The threats of the skills extension, each tried with a server that attacks.
//!
//! The working group's threats by number, and the tests for them:
//!
//! | threat | tests |
//! |---|---|
//! | T1 untrusted instructions | `usage::an_approved_skill_is_used_like_any_other_and_shows_its_origin` |
//! | T2 code execution | `nothing_is_fetched_to_run_before_approval`, `usage::declarations_have_no_effect_before_approval` |
//! | T3 wider permissions | `usage::declarations_have_no_effect_before_approval` |
//! | T4 changed content | `content_changed_…`, `one_supporting_file_…`, `wrong_sizes_…`, `a_frontmatter_…`, `an_unlisted_file_…`, `any_change_of_the_files_…` |
//! | T5 wrong server, `file:`, paths out of the folder | `a_read_goes_to_the_server_that_listed_…`, `entries_that_leave_their_folder_…`, `an_endless_response_and_a_redirect_…` |
//! | T6 exhaustion | `endless_lists_…`, `entries_that_leave_their_folder_or_are_too_large_…`, `an_endless_response_…`; the limit of 512 MiB for one server is not tried |
//! | T7 the cache | `cached_files_are_verified_on_every_use`, `another_server_under_the_same_label_…`, `a_stopped_server_…` |
//! | T8 impersonation | `a_server_takes_no_name_…`, `two_skills_of_one_name_…` |
//! | T9 nested skills | `a_nested_skill_is_only_a_file_until_it_is_approved_itself` |
//!
//! Folders on a server are never walked: only listed files exist, so a directory listing has no effect.

use metier_catalog::{Approval, Lookup, RootTrust, State};
use metier_files::FileDigest;
use metier_mcp_client::MAX_PAGES;
use serde_json::{Value, json};

use crate::hostile_server::{HostileServer, Misbehavior, listed};
use crate::test_machine::{TestMachine, entry, fetch};

const PDF: &str = "name: pdf\ndescription: Fills forms.";

fn pdf() -> HostileServer {
    HostileServer::new().skill(
        "skill://pdf",
        PDF,
        &[("references/a.md", "alpha"), ("scripts/run.sh", "echo ran")],
    )
}

#[test]
fn nothing_is_fetched_on_connecting_listing_showing_or_approving() {
    let server = pdf();
    let machine = TestMachine::new(&[("docs", &server)]);
    let snapshot = machine.listed();
    let skill = entry(&snapshot, "mcp.docs:pdf");
    assert_eq!((skill.description(), skill.state()), ("Fills forms.", State::Untrusted));
    assert_eq!(snapshot.read(skill).unwrap().manifest().unwrap().name.as_str(), "pdf");
    machine.approve("mcp.docs:pdf");
    let snapshot = machine.snapshot();
    assert_eq!(entry(&snapshot, "mcp.docs:pdf").state(), State::Ready);
    assert_eq!((server.reads(), machine.cached()), (Vec::<String>::new(), Vec::<String>::new()));

    assert_eq!(fetch(&snapshot, "mcp.docs:pdf", ""), "");
    assert_eq!(server.reads(), ["skill://pdf/SKILL.md"], "only the used file is fetched");
    assert_eq!(fetch(&snapshot, "mcp.docs:pdf", "references/a.md"), "");
    assert_eq!(fetch(&snapshot, "mcp.docs:pdf", "references/a.md"), "");
    assert_eq!(server.reads().len(), 2, "a cached file is not fetched again");
    assert_eq!(machine.cached(), ["SKILL.md", "a.md"]);
}

#[test]
fn content_changed_between_approval_and_read_is_refused_and_not_cached() {
    let server = pdf();
    let machine = TestMachine::new(&[("docs", &server)]);
    machine.listed();
    machine.approve("mcp.docs:pdf");
    let snapshot = machine.snapshot();
    let other = format!("---\n{PDF}\n---\nDo it with $ARGUMENTZ.\n");
    server.serve("skill://pdf/SKILL.md", other.as_bytes());
    let why = fetch(&snapshot, "mcp.docs:pdf", "");
    assert!(why.contains("the digest of `SKILL.md` differs from the one that its server listed"), "{why}");
    assert_eq!(machine.cached(), Vec::<String>::new());
}

#[test]
fn one_supporting_file_with_another_digest_is_refused_alone() {
    let server = pdf();
    let machine = TestMachine::new(&[("docs", &server)]);
    let snapshot = machine.listed();
    server.serve("skill://pdf/references/a.md", b"alphb");
    assert_eq!(fetch(&snapshot, "mcp.docs:pdf", ""), "");
    let why = fetch(&snapshot, "mcp.docs:pdf", "references/a.md");
    assert!(why.contains("the digest of `references/a.md` differs"), "{why}");
    assert_eq!(machine.cached(), ["SKILL.md"]);
}

#[test]
fn wrong_sizes_are_refused() {
    for (bytes, found) in [("alph", 4), ("alphabet", 8), ("", 0)] {
        let server = pdf();
        let machine = TestMachine::new(&[("docs", &server)]);
        let snapshot = machine.listed();
        server.serve("skill://pdf/references/a.md", bytes.as_bytes());
        let why = fetch(&snapshot, "mcp.docs:pdf", "references/a.md");
        let expect = format!("`references/a.md` has {found} bytes, but its server listed 5");
        assert!(why.contains(&expect), "{why}");
    }
    // The digest is right, but the size is wrong.
    let server = pdf();
    server.change(0, |entry| entry["resources"][1]["size"] = json!(6));
    let machine = TestMachine::new(&[("docs", &server)]);
    let why = fetch(&machine.listed(), "mcp.docs:pdf", "references/a.md");
    assert!(why.contains("has 5 bytes, but its server listed 6"), "{why}");
}

#[test]
fn a_frontmatter_that_differs_from_the_listing_is_refused_even_if_the_digest_matches() {
    for (change, expect) in [
        (("description", json!("Harmless.")), "`description` in its frontmatter differs from the listing"),
        (("license", json!("MIT")), "`license` is listed but missing in its frontmatter"),
    ] {
        let server = pdf();
        server.change(0, |entry| entry["frontmatter"][change.0] = change.1);
        let machine = TestMachine::new(&[("docs", &server)]);
        let why = fetch(&machine.listed(), "mcp.docs:pdf", "");
        assert!(why.contains(expect), "{why}");
        assert_eq!(machine.cached(), Vec::<String>::new());
    }
    let server =
        HostileServer::new().skill("skill://pdf", "name: pdf\ndescription: d\nallowed-tools: Bash", &[]);
    server.change(0, |entry| drop(entry["frontmatter"].as_object_mut().unwrap().remove("allowed-tools")));
    let machine = TestMachine::new(&[("docs", &server)]);
    let why = fetch(&machine.listed(), "mcp.docs:pdf", "");
    assert!(why.contains("`allowed-tools` is in its frontmatter but not listed"), "{why}");
}

#[test]
fn an_unlisted_file_is_refused_without_a_request() {
    let server = pdf();
    server.serve("skill://pdf/references/b.md", b"beta");
    let machine = TestMachine::new(&[("docs", &server)]);
    let why = fetch(&machine.listed(), "mcp.docs:pdf", "references/b.md");
    assert!(why.ends_with("`references/b.md` is not among the files that its server listed"), "{why}");
    assert_eq!(server.reads(), Vec::<String>::new());
}

#[test]
fn endless_lists_are_cut_and_their_first_entries_used() {
    for (misbehavior, expect, pages) in [
        (Misbehavior::EndlessPages, format!("more than {MAX_PAGES} pages"), MAX_PAGES),
        (Misbehavior::Circle, "a cursor is repeated".to_owned(), 2),
    ] {
        let server = pdf();
        server.misbehave(misbehavior);
        let machine = TestMachine::new(&[("docs", &server)]);
        let snapshot = machine.listed();
        assert_eq!(entry(&snapshot, "mcp.docs:pdf").name().as_str(), "pdf");
        let why = &snapshot.failures()[0].diagnostics[0].message;
        assert!(why.contains(&expect), "{why}");
        let asked = server.state.asked.lock().unwrap().iter().filter(|asked| *asked == "skills/list").count();
        assert_eq!(asked, pages, "{misbehavior:?}");
    }
}

#[test]
fn entries_that_leave_their_folder_or_are_too_large_are_rejected_and_the_others_used() {
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
    let machine = TestMachine::new(&[("docs", &server)]);
    let snapshot = machine.listed();
    let refused: Vec<String> =
        snapshot.failures().iter().map(|failure| failure.diagnostics[0].message.clone()).collect();
    for (name, expect) in [
        ("many", "it has 513 files; the limit is 512"),
        ("large", "its files have 17825793 bytes; the limit is 16777216"),
        ("local", "its URI names a local file"),
        ("files", "names a local file"),
        ("escape", "a `..`"),
        ("stranger", "is not in the skill's folder"),
        ("dynamic", "no digests"),
    ] {
        assert!(refused.iter().any(|why| why.contains(name) && why.contains(expect)), "{name}: {refused:#?}");
    }
    assert_eq!(snapshot.loaded(), 1);
    assert_eq!(server.reads(), Vec::<String>::new());
}

#[test]
fn a_read_goes_to_the_server_that_listed_the_skill_and_must_return_that_uri() {
    let (one, other) = (pdf(), pdf());
    other.serve("skill://pdf/SKILL.md", b"---\nname: pdf\n---\nAnother.\n");
    let machine = TestMachine::new(&[("one", &one), ("other", &other)]);
    let snapshot = machine.listed();
    assert_eq!(fetch(&snapshot, "mcp.one:pdf", ""), "");
    assert_eq!((one.reads().len(), other.reads().len()), (1, 0));
    let folders: Vec<_> =
        ["mcp.one:pdf", "mcp.other:pdf"].map(|name| snapshot.folder(entry(&snapshot, name))).into();
    assert_ne!(folders[0], folders[1], "two servers share no folder");
    assert!(folders[0].to_string_lossy().contains("/one-"), "{folders:?}");
    for (misbehavior, expect) in [
        (Misbehavior::OtherAddress, "the content is of `skill://other/SKILL.md`"),
        (Misbehavior::Twice, "expected exactly one content"),
    ] {
        one.misbehave(misbehavior);
        let why = fetch(&snapshot, "mcp.one:pdf", "references/a.md");
        assert!(why.contains(expect), "{why}");
    }
}

#[test]
fn an_endless_response_and_a_redirect_are_refused() {
    for (misbehavior, expect) in
        [(Misbehavior::EndlessBody, "more than 50331648 bytes"), (Misbehavior::Redirect, "HTTP 307")]
    {
        let server = pdf();
        let machine = TestMachine::new(&[("docs", &server)]);
        let snapshot = machine.listed();
        server.misbehave(misbehavior);
        let why = fetch(&snapshot, "mcp.docs:pdf", "");
        assert!(why.contains(expect), "{misbehavior:?}: {why}");
        assert_eq!(machine.cached(), Vec::<String>::new());
    }
}

#[test]
fn a_server_takes_no_name_from_a_skill_of_the_user_nor_from_another_server() {
    let (one, other) = (pdf(), pdf());
    let mut machine = TestMachine::new(&[("one", &one), ("other", &other)]);
    machine.workspace =
        machine.workspace.file("skills/pdf/SKILL.md", "---\nname: pdf\ndescription: Mine.\n---\nMine.\n");
    machine.listed();
    machine.approve("mcp.one:pdf");
    machine.approve("mcp.other:pdf");
    let snapshot = machine.snapshot();
    let mine = entry(&snapshot, "pdf");
    assert_eq!((mine.description(), snapshot.root(mine).trust), ("Mine.", RootTrust::Trusted));
    let names: Vec<&str> = snapshot.offered().iter().map(|(_, entry)| entry.call_name()).collect();
    assert_eq!(names, ["pdf", "mcp.one:pdf", "mcp.other:pdf"]);
    let catalogue = snapshot.catalogue(&snapshot.catalogue_options(None)).text;
    assert!(
        catalogue.contains("- **pdf**: Mine.") && catalogue.contains("- **mcp.one:pdf**: Fills forms."),
        "{catalogue}"
    );

    // Not even after the user's skill is removed.
    let machine = TestMachine { workspace: machine.workspace, servers: machine.servers };
    std::fs::remove_dir_all(machine.workspace.join("skills/pdf")).unwrap();
    assert!(matches!(machine.snapshot().find(&"pdf".parse().unwrap()), Lookup::NotFound(_)));
}

#[test]
fn two_skills_of_one_name_get_different_names() {
    let server = pdf().skill("skill://acme/pdf", PDF, &[]);
    let machine = TestMachine::new(&[("docs", &server)]);
    let snapshot = machine.listed();
    let uri = |name: &str| entry(&snapshot, name).remote().unwrap().uri.clone();
    assert_eq!(uri("mcp.docs:pdf"), "skill://acme/pdf/SKILL.md");
    assert_eq!(uri("mcp.docs:pdf-2"), "skill://pdf/SKILL.md");
}

#[test]
fn any_change_of_the_files_revokes_an_approval() {
    let changes: [fn(&HostileServer); 3] = [
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
        let machine = TestMachine::new(&[("docs", &server)]);
        machine.listed();
        machine.approve("mcp.docs:pdf");
        assert_eq!(entry(&machine.snapshot(), "mcp.docs:pdf").state(), State::Ready);
        change(&server);
        let snapshot = machine.listed();
        let skill = entry(&snapshot, "mcp.docs:pdf");
        assert_eq!((skill.state(), skill.remote().unwrap().approval), (State::Untrusted, Approval::Changed));
        assert!(skill.diagnostics().iter().any(|found| found.code.name() == "remote-skill-changed"));
        machine.approve("mcp.docs:pdf");
        assert_eq!(entry(&machine.snapshot(), "mcp.docs:pdf").state(), State::Ready);
    }
}

#[test]
fn nothing_is_fetched_to_run_before_approval() {
    let server = pdf();
    let machine = TestMachine::new(&[("docs", &server)]);
    let snapshot = machine.listed();
    let why = fetch(&snapshot, "mcp.docs:pdf", "*");
    assert!(why.contains("you have not approved it; `metier trust mcp.docs:pdf` does"), "{why}");
    assert_eq!(server.reads(), Vec::<String>::new());
    machine.approve("mcp.docs:pdf");
    assert_eq!(fetch(&machine.snapshot(), "mcp.docs:pdf", "*"), "");
    assert_eq!(machine.cached(), ["SKILL.md", "a.md", "run.sh"]);
}

#[test]
fn a_nested_skill_is_only_a_file_until_it_is_approved_itself() {
    let inner = "---\nname: inner\ndescription: i\nallowed-tools: Bash\n---\nx\n";
    let server = HostileServer::new()
        .skill("skill://outer", "name: outer\ndescription: o", &[("inner/SKILL.md", inner)])
        .skill("skill://outer/inner", "name: inner\ndescription: i\nallowed-tools: Bash", &[]);
    // Both entries list the same file.
    server.serve("skill://outer/inner/SKILL.md", inner.as_bytes());
    server.change(1, |entry| {
        entry["resources"] = json!([listed("skill://outer/inner", "SKILL.md", inner.as_bytes())]);
    });
    let machine = TestMachine::new(&[("docs", &server)]);
    machine.listed();
    machine.approve("mcp.docs:outer");
    let snapshot = machine.snapshot();
    assert_eq!(entry(&snapshot, "mcp.docs:outer").state(), State::Ready);
    assert_eq!(entry(&snapshot, "mcp.docs:inner").state(), State::Untrusted);
    assert_eq!(fetch(&snapshot, "mcp.docs:outer", "*"), "");
    let names: Vec<String> =
        machine.snapshot().entries().map(|(_, entry)| entry.call_name().to_owned()).collect();
    assert_eq!(names, ["mcp.docs:outer", "mcp.docs:inner"], "the cache is not a root");
}

#[test]
fn cached_files_are_verified_on_every_use() {
    let server = pdf();
    let machine = TestMachine::new(&[("docs", &server)]);
    machine.listed();
    machine.approve("mcp.docs:pdf");
    let snapshot = machine.snapshot();
    assert_eq!(fetch(&snapshot, "mcp.docs:pdf", "*"), "");
    let folder = snapshot.folder(entry(&snapshot, "mcp.docs:pdf"));
    std::fs::write(folder.join("scripts/run.sh"), "echo evil").unwrap();
    let before = server.reads().len();
    assert_eq!(fetch(&snapshot, "mcp.docs:pdf", "*"), "");
    assert_eq!(server.reads().len(), before + 1, "the changed file is fetched again");
    assert_eq!(std::fs::read_to_string(folder.join("scripts/run.sh")).unwrap(), "echo ran");
    std::fs::write(folder.join("scripts/conftest.py"), "evil").unwrap();
    let why = fetch(&snapshot, "mcp.docs:pdf", "*");
    assert!(why.contains("`scripts/conftest.py` is in its folder but not listed"), "{why}");
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &std::fs::metadata(folder.join("SKILL.md")).unwrap().permissions(),
    );
    assert_eq!(mode & 0o077, 0, "the cache is private");
}

#[test]
fn another_server_under_the_same_label_has_neither_approvals_nor_files_nor_lists() {
    let (one, other) = (pdf(), pdf());
    let machine = TestMachine::new(&[("docs", &one)]);
    machine.listed();
    machine.approve("mcp.docs:pdf");
    let configs = vec![crate::test_machine::address("docs", &other)];
    let cache = machine.workspace.join("cache");
    let machine =
        TestMachine { servers: metier_mcp_client::Servers::new(configs, None, Some(&cache)), ..machine };
    assert_eq!(machine.snapshot().loaded(), 0, "it was never asked");
    let snapshot = machine.listed();
    let skill = entry(&snapshot, "mcp.docs:pdf").remote().unwrap();
    assert_eq!(skill.approval, Approval::Changed);
}

#[test]
fn a_stopped_server_is_reported_and_its_listing_still_shown() {
    let server = pdf();
    let machine = TestMachine::new(&[("docs", &server)]);
    machine.listed();
    drop(server);
    let configs: Vec<_> = machine.servers.configs().cloned().collect();
    let cache = machine.workspace.join("cache");
    let machine =
        TestMachine { servers: metier_mcp_client::Servers::new(configs, None, Some(&cache)), ..machine };
    let snapshot = machine.snapshot();
    assert_eq!(entry(&snapshot, "mcp.docs:pdf").description(), "Fills forms.");
    let why = fetch(&snapshot, "mcp.docs:pdf", "");
    assert!(why.starts_with("`mcp.docs:pdf` is not used: the server disconnected"), "{why}");
    assert_eq!(machine.servers.refresh_listings().len(), 1);
}
