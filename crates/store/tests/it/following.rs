use std::thread;
use std::time::{Duration, Instant};

use metier_store::{EventKind, EventQuery, Store};

use crate::{place, request, said};

#[test]
fn first_what_is_there_then_what_comes() {
    let (_workspace, file) = place();
    for store in [Store::open(&file).unwrap(), Store::in_memory().unwrap()] {
        let session = store.begin(request("x")).unwrap();
        store.append(session, said("before")).unwrap();
        let mut follow = store.follow(EventQuery::of(session).kind("said")).unwrap();
        assert_eq!(follow.next().unwrap().unwrap().kind, said("before"));
        assert!(follow.next_within(Duration::from_millis(10)).is_none());
        let writer = store.clone();
        let thread = thread::spawn(move || {
            let other = writer.begin(request("not this one")).unwrap();
            writer.append(other, said("nor this")).unwrap();
            writer.append(session, said("after")).unwrap();
        });
        assert_eq!(follow.next().unwrap().unwrap().kind, said("after"));
        thread.join().unwrap();
    }
}

#[test]
fn more_than_a_page_comes_in_order_and_filters_hold() {
    let store = Store::in_memory().unwrap();
    let session = store.begin(request("x")).unwrap();
    for count in 0..1_000 {
        let kind = match count % 2 {
            0 => said(&count.to_string()),
            _ => EventKind::Interrupted { why: "odd".to_owned() },
        };
        store.submit(session, kind).unwrap();
    }
    store.flush().unwrap();
    let mut follow = store.follow(EventQuery::all().kind("said")).unwrap();
    for count in 0..500 {
        assert_eq!(follow.next().unwrap().unwrap().kind, said(&(2 * count).to_string()));
    }
    assert!(follow.next_within(Duration::ZERO).is_none());
    store.append(session, said("last")).unwrap();
    assert_eq!(follow.next().unwrap().unwrap().kind, said("last"));
}

#[test]
fn it_ends_when_it_is_told_to() {
    let store = Store::in_memory().unwrap();
    let mut follow = store.follow(EventQuery::all()).unwrap();
    let stop = follow.stopper();
    let begin = Instant::now();
    let thread = thread::spawn(move || follow.next().is_none());
    thread::sleep(Duration::from_millis(20));
    stop.stop();
    assert!(thread.join().unwrap());
    assert!(begin.elapsed() < Duration::from_secs(20));
}
