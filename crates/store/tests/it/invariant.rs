//! What holds for every file that somebody imports. The fuzz target `import` includes this file.

use metier_store::{Export, Recall, Scope, SessionFilter, Store};
use std::sync::Mutex;

/// A store in which nothing is, kept for the next file: most files are refused, and making a store is what takes time.
static EMPTY: Mutex<Option<Store>> = Mutex::new(None);

/// It is taken whole or not at all; what was taken is exported as lines that another store takes and exports as the same
/// bytes; and taking it again changes nothing.
pub(crate) fn holds(bytes: &[u8]) {
    let kept = EMPTY.lock().unwrap().take();
    let store = kept.unwrap_or_else(|| Store::in_memory().unwrap());
    let all = SessionFilter::default();
    let mut input = bytes;
    let Ok(imported) = store.import(&mut input) else {
        assert_eq!(store.sessions(&all).unwrap(), []);
        assert_eq!(store.recall(&Recall::new("", Scope::Everything)).unwrap(), []);
        *EMPTY.lock().unwrap() = Some(store);
        return;
    };
    let sessions = store.sessions(&all).unwrap();
    assert_eq!(sessions.len(), imported.sessions);
    let lines = exported(&store);
    let elsewhere = Store::in_memory().unwrap();
    assert_eq!(elsewhere.import(&mut &lines[..]).unwrap().events, imported.events);
    assert_eq!(exported(&elsewhere), lines);
    assert_eq!(elsewhere.sessions(&all).unwrap(), sessions);
    let again = elsewhere.import(&mut &lines[..]).unwrap();
    assert_eq!((again.sessions, again.records, again.behind.len()), (0, 0, 0));
    assert_eq!(exported(&elsewhere), lines);
}

pub(crate) fn exported(store: &Store) -> Vec<u8> {
    let mut lines = Vec::new();
    store.export(&Export::Everything, &mut lines).unwrap();
    lines
}
