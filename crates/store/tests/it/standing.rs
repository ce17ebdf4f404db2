//! How a session stands, who works on it, and what skills are worth.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use metier_store::{
    Activated, By, EventKind, Export, Offer, Outcome, SessionId, StatsQuery, Store, StoreError, Timestamp,
    Usage, Used,
};

use crate::{place, request, said};

#[test]
fn it_is_known_whether_anybody_works_on_a_session_and_whether_it_is_from_here() {
    let store = Store::in_memory().unwrap();
    let id = store.begin(request("x")).unwrap();
    let lease = store.lease(id).unwrap();
    assert!(store.is_at_work(id) && !store.is_imported(id).unwrap());
    drop(lease);
    assert!(!store.is_at_work(id));

    let mut lines = Vec::new();
    store.export(&Export::Everything, &mut lines).unwrap();
    let other = Store::in_memory().unwrap();
    other.import(&mut lines.as_slice()).unwrap();
    assert!(other.is_imported(id).unwrap() && !other.is_at_work(id));
    let unknown = SessionId::new().unwrap();
    assert_eq!(other.is_imported(unknown), Err(StoreError::NoSession(unknown)));
}

const CHILD: &str = "STORE_TEST_LEASE";

#[test]
fn a_lease_is_held_against_other_processes_and_ends_with_its_own() {
    if let Some(file) = std::env::var_os(CHILD) {
        // This is the child: it takes the lease, says so and waits to be killed.
        let store = Store::open(&PathBuf::from(file)).unwrap();
        let id = store.sessions(&metier_store::SessionFilter::default()).unwrap()[0].id;
        let lease = store.lease(id).unwrap();
        print_line("\nleased");
        std::thread::park();
        drop(lease);
        return;
    }
    let (_workspace, file) = place();
    let store = Store::open(&file).unwrap();
    let id = store.begin(request("x")).unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "standing::a_lease_is_held_against_other_processes_and_ends_with_its_own",
            "--nocapture",
        ])
        .env(CHILD, &file)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|line| line == "leased"), "the child ended by itself");
    assert!(store.is_at_work(id));
    assert!(matches!(store.lease(id), Err(StoreError::AtWork(busy)) if busy == id));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!store.is_at_work(id));
    let lease = store.lease(id).unwrap();
    drop(lease);
    // Nothing is left of it beside the store.
    let folder = file.with_file_name("metier.db-working");
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), 0);
}

fn print_line(text: &str) {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    out.write_all(format!("{text}\n").as_bytes()).unwrap();
    out.flush().unwrap();
}

fn offered(names: &[&str]) -> EventKind {
    let offer = |(rank, name): (u64, &&str)| Offer { name: (*name).to_owned(), rank, score: 1.0 };
    let shortlist = (1..).zip(names).map(offer).collect();
    EventKind::Offered { query: "q".into(), shortlist, abstained: names.is_empty() }
}

fn used(skill: &str, by: By, outcome: Outcome) -> EventKind {
    EventKind::Used(Used {
        skill: skill.into(),
        origin: "user".into(),
        digest: "d".into(),
        tags: Vec::new(),
        by,
        usage: Usage { input: 10, output: 1, ..Usage::default() },
        cost_micros: 7,
        outcome,
    })
}

#[test]
fn skills_are_counted_by_what_was_offered_chosen_and_came_of_it() {
    let store = Store::in_memory().unwrap();
    let activated =
        |skill: &str| EventKind::Activated(Activated { skill: skill.into(), ..Activated::default() });
    let one = store.begin(request("x")).unwrap();
    let two = store.begin(request("y")).unwrap();
    for (session, kind) in [
        (one, offered(&["pdf", "todo"])),
        (two, offered(&["todo"])),
        (one, activated("pdf")),
        (one, used("pdf", By::Model, Outcome::Done)),
        (one, said("more")),
        (one, offered(&["pdf"])),
        (one, activated("elsewhere")),
        (one, used("elsewhere", By::User, Outcome::Failed)),
        (one, used("pdf", By::Model, Outcome::NeedsYes)),
        (two, offered(&[])),
    ] {
        store.append(session, kind).unwrap();
    }
    let stats = store.stats(&StatsQuery::default()).unwrap();
    let names: Vec<&str> = stats.iter().map(|one| one.skill.as_str()).collect();
    assert_eq!(names, ["elsewhere", "pdf", "todo"]);
    let pdf = &stats[1];
    assert_eq!((pdf.offered, pdf.offered_first, pdf.chosen, pdf.succeeded()), (2, 2, 2, 1));
    assert_eq!((pdf.by.model, pdf.by.user, pdf.outcomes.needs_yes), (2, 0, 1));
    assert_eq!((pdf.usage.input, pdf.cost_micros), (20, 14));
    assert!(pdf.last_used.is_some() && pdf.origins == ["user"]);
    assert_eq!((stats[2].chosen, stats[2].last_used), (0, None));
    assert_eq!((stats[0].offered, stats[0].by.user, stats[0].outcomes.failed), (0, 1, 1));

    let routed = store.routed(&StatsQuery::default()).unwrap();
    let of_one: Vec<Vec<String>> =
        routed.iter().filter(|request| request.session == one).map(|request| request.used.clone()).collect();
    assert_eq!(of_one, [["pdf"], ["elsewhere"]]);
    assert_eq!(routed.iter().filter(|request| request.abstained).count(), 1);

    let only = StatsQuery { skill: Some("todo".into()), ..StatsQuery::default() };
    assert_eq!(store.stats(&only).unwrap().len(), 1);
    assert_eq!(store.routed(&only).unwrap().len(), 2);
    let later = StatsQuery {
        since: Some(Timestamp::from_millis(Timestamp::now().millis() + 60_000)),
        ..StatsQuery::default()
    };
    assert!(store.stats(&later).unwrap().is_empty());
}
