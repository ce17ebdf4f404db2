use metier_store::{
    Forget, MAX_RECORD, RECALLED, Recall, Record, RecordId, Scope, Store, StoreError, Timestamp,
};

fn record(skill: Option<(&str, &str)>, tags: &[&str], text: &str, at: u64) -> Record {
    let mut record = Record::new(text).unwrap();
    record.skill = skill.map(|(name, _)| name.to_owned());
    record.origin = skill.map(|(_, origin)| origin.to_owned());
    record.tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
    record.at = Timestamp::from_millis(at);
    record
}

fn of(name: &str, origin: &str) -> Scope {
    Scope::Skill { name: name.to_owned(), origin: origin.to_owned() }
}

fn texts(store: &Store, recall: &Recall) -> Vec<String> {
    store.recall(recall).unwrap().into_iter().map(|record| record.text).collect()
}

#[test]
fn a_record_comes_back_whole_and_only_for_its_own_skill() {
    let store = Store::in_memory().unwrap();
    let mine = record(Some(("jira", "user")), &["zeta", "alpha"], "tickets go to Ana", 1);
    let mine = Record { digest: Some("sha256:00".to_owned()), ..mine };
    store.remember(mine.clone()).unwrap();
    store.remember(record(Some(("jira", "project")), &[], "tickets of another origin", 2)).unwrap();
    store.remember(record(None, &[], "tickets in general", 3)).unwrap();
    assert_eq!(store.recall(&Recall::new("tickets", of("jira", "user"))).unwrap(), [mine]);
    assert_eq!(texts(&store, &Recall::new("tickets", Scope::Agent)), ["tickets in general"]);
    assert_eq!(store.recall(&Recall::new("tickets", of("pdf", "user"))).unwrap(), []);
    assert_eq!(texts(&store, &Recall::new("tickets", Scope::Everything)).len(), 3);
}

#[test]
fn what_fits_best_comes_first_and_the_newest_where_nothing_is_asked() {
    let store = Store::in_memory().unwrap();
    store.remember(record(None, &[], "the bridge is closed on Mondays", 1)).unwrap();
    store.remember(record(None, &[], "bridges, bridges, and one closed bridge", 2)).unwrap();
    store.remember(record(None, &["travel"], "nothing of the kind", 3)).unwrap();
    let asked = |text: &str| texts(&store, &Recall::new(text, Scope::Agent));
    assert_eq!(asked("which bridge was closed?").len(), 2);
    assert_eq!(asked("on Mondays, the bridge?")[0], "the bridge is closed on Mondays");
    assert_eq!(asked("travel"), ["nothing of the kind"], "tags are words too");
    assert_eq!(asked("")[0], "nothing of the kind");
    assert_eq!(asked("\"*(").len(), 0);
    let tagged = Recall { tags: vec!["travel".to_owned()], ..Recall::new("", Scope::Agent) };
    assert_eq!(texts(&store, &tagged), ["nothing of the kind"]);
}

#[test]
fn five_at_most_and_not_the_same_ones_twice_in_a_row() {
    let store = Store::in_memory().unwrap();
    for count in 0..8 {
        store.remember(record(None, &[], &format!("milk number {count}"), count)).unwrap();
    }
    let mut recall = Recall::new("milk", Scope::Agent);
    let first = store.recall(&recall).unwrap();
    assert_eq!(first.len(), RECALLED);
    recall.exclude = first.iter().map(|record| record.id).collect();
    let second = store.recall(&recall).unwrap();
    assert_eq!(second.len(), 3);
    assert!(second.iter().all(|record| !recall.exclude.contains(&record.id)));
}

#[test]
fn records_have_bounds_and_an_id_is_kept_once() {
    let store = Store::in_memory().unwrap();
    let large = store.remember(record(None, &[], &"x".repeat(MAX_RECORD + 1), 1));
    assert_eq!(
        large,
        Err(StoreError::TooLarge { what: "the record", limit: MAX_RECORD, actual: MAX_RECORD + 1 })
    );
    assert!(store.remember(record(None, &["t"; 65], "x", 1)).is_err());
    let one = record(None, &["t"], "kept", 1);
    store.remember(one.clone()).unwrap();
    store.remember(Record { text: "changed".to_owned(), ..one }).unwrap();
    assert_eq!(texts(&store, &Recall::new("", Scope::Everything)), ["kept"]);
}

#[test]
fn a_skill_s_memory_and_single_records_are_forgotten() {
    let store = Store::in_memory().unwrap();
    for origin in ["user", "project"] {
        store.remember(record(Some(("jira", origin)), &[], origin, 1)).unwrap();
    }
    let other = record(Some(("pdf", "user")), &[], "pdf", 1);
    store.remember(other.clone()).unwrap();
    let memory = |origin: Option<&str>| Forget::SkillMemory {
        skill: "jira".to_owned(),
        origin: origin.map(str::to_owned),
    };
    assert_eq!(store.forget(memory(Some("project"))).unwrap().records, 1);
    assert_eq!(store.forget(memory(None)).unwrap().records, 1);
    assert_eq!(texts(&store, &Recall::new("", Scope::Everything)), ["pdf"]);
    assert_eq!(store.forget(Forget::Record(RecordId::new().unwrap())).unwrap().records, 0);
    assert_eq!(store.forget(Forget::Record(other.id)).unwrap().records, 1);
    assert_eq!(texts(&store, &Recall::new("pdf", Scope::Everything)), [""; 0]);
}
