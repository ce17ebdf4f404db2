//! Somebody is asked.

use std::io::{Read, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use metier_proxy::{Contact, Limits, Reach, Verdict, Warden};

use crate::town::{Bench, Town};

/// A warden that answers when the test says so.
struct Person {
    asked: Mutex<Vec<String>>,
    answers: Mutex<Receiver<Verdict>>,
    withdrawn: Mutex<usize>,
}

fn person() -> (Arc<Person>, Sender<Verdict>) {
    let (sender, answers) = channel();
    let person = Person { asked: Mutex::default(), answers: Mutex::new(answers), withdrawn: Mutex::new(0) };
    (Arc::new(person), sender)
}

impl Warden for Person {
    fn may(&self, contact: &Contact) -> Verdict {
        self.asked.lock().unwrap().push(contact.to_string());
        let answer = self.answers.lock().unwrap().recv();
        answer.unwrap_or(Verdict::Refuse { reason: "nobody is there".to_owned(), remedy: None })
    }

    fn withdraw(&self) {
        *self.withdrawn.lock().unwrap() += 1;
    }
}

fn bench(person: &Arc<Person>) -> Bench {
    Bench::with(Town::new(), Arc::clone(person) as Arc<dyn Warden>, Limits::default())
}

#[test]
fn the_same_question_is_asked_once_and_the_answer_is_for_all() {
    let (person, answers) = person();
    let bench = Arc::new(bench(&person));
    let waiting: Vec<_> = (0..10)
        .map(|_| {
            let bench = Arc::clone(&bench);
            thread::spawn(move || bench.ask(b"GET http://allowed.example/ HTTP/1.1\r\n\r\n"))
        })
        .collect();
    bench.wait_for("`allowed.example:80`: asking");
    thread::sleep(Duration::from_millis(100));
    assert_eq!(bench.town.connected().len(), 0, "nobody is reached while the question is open");
    assert_eq!(bench.town.asked("allowed.example"), 0, "and no name server hears of it");
    answers.send(Verdict::Pass(Reach::Public)).unwrap();
    for one in waiting {
        assert!(String::from_utf8_lossy(&one.join().unwrap()).contains("site=allowed"));
    }
    bench.ask(b"GET http://ALLOWED.example./ HTTP/1.1\r\n\r\n");
    assert_eq!(*person.asked.lock().unwrap(), ["allowed.example:80"]);
}

#[test]
fn a_no_is_kept_and_another_port_is_another_question() {
    let (person, answers) = person();
    let bench = bench(&person);
    for _ in 0..2 {
        answers.send(Verdict::Refuse { reason: "you said no".to_owned(), remedy: None }).unwrap();
    }
    for port in [80, 80, 8080] {
        let answer = bench.ask(format!("GET http://allowed.example:{port}/ HTTP/1.1\r\n\r\n").as_bytes());
        assert!(String::from_utf8_lossy(&answer).contains("is refused: you said no\n"));
    }
    assert_eq!(*person.asked.lock().unwrap(), ["allowed.example:80", "allowed.example:8080"]);
}

#[test]
fn a_yes_to_a_name_does_not_open_special_addresses() {
    let (person, answers) = person();
    let bench = bench(&person);
    answers.send(Verdict::Pass(Reach::Named)).unwrap();
    let answer = bench.ask(b"GET http://inner.example/ HTTP/1.1\r\n\r\n");
    assert!(String::from_utf8_lossy(&answer).contains("(special-address)"));
    answers.send(Verdict::Pass(Reach::Public)).unwrap();
    let answer = bench.ask(b"GET http://127.0.0.1/ HTTP/1.1\r\n\r\n");
    assert!(String::from_utf8_lossy(&answer).contains("(special-address)"));
    answers.send(Verdict::Pass(Reach::Named)).unwrap();
    let answer = bench.ask(b"GET http://169.254.169.254/ HTTP/1.1\r\n\r\n");
    assert!(String::from_utf8_lossy(&answer).contains("site=meta"));
}

#[test]
fn an_open_question_does_not_hold_up_the_end() {
    let (person, answers) = person();
    let mut bench = bench(&person);
    let mut streams = [bench.connect(), bench.connect()];
    for stream in &mut streams {
        stream.write_all(b"CONNECT allowed.example:443 HTTP/1.1\r\n\r\n").unwrap();
    }
    bench.wait_for("asking");
    thread::sleep(Duration::from_millis(50));
    let began = Instant::now();
    drop(bench.proxy.take());
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    assert_eq!(*person.withdrawn.lock().unwrap(), 1);
    for mut stream in streams {
        // Whoever waits for somebody else's question may still be told that there will be no answer; nobody gets a yes.
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        assert!(!answer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer));
    }
    let log = bench.log();
    let stopped = log.iter().filter(|line| line.ends_with("failed: the call has ended")).count();
    assert_eq!(stopped, 2, "{log:#?}");
    // A yes that comes too late reaches nobody.
    let _ = answers.send(Verdict::Pass(Reach::Public));
    thread::sleep(Duration::from_millis(100));
    assert_eq!(bench.town.connected().len(), 0);
    assert_eq!(bench.log().len(), log.len());
}

#[test]
fn other_hosts_go_on_while_somebody_thinks() {
    struct Slow(Arc<Person>);
    impl Warden for Slow {
        fn may(&self, contact: &Contact) -> Verdict {
            if contact.host.as_str() == "other.example" {
                self.0.may(contact)
            } else {
                Verdict::Pass(Reach::Public)
            }
        }
    }
    let (person, _answers) = person();
    let bench = Bench::with(Town::new(), Arc::new(Slow(person)), Limits::default());
    let mut stream = bench.connect();
    stream.write_all(b"CONNECT other.example:443 HTTP/1.1\r\n\r\n").unwrap();
    bench.wait_for("`other.example:443`: asking");
    let answer = bench.ask(b"GET http://allowed.example/ HTTP/1.1\r\n\r\n");
    assert!(String::from_utf8_lossy(&answer).contains("site=allowed"));
}

#[test]
fn a_warden_that_panics_has_said_no() {
    struct Panics;
    impl Warden for Panics {
        fn may(&self, _contact: &Contact) -> Verdict {
            panic!("on purpose, for this test")
        }
    }
    let mut bench = Bench::with(Town::new(), Arc::new(Panics), Limits::default());
    let _ = bench.ask(b"GET http://allowed.example/ HTTP/1.1\r\n\r\n");
    let answer = bench.ask(b"GET http://allowed.example/ HTTP/1.1\r\n\r\n");
    assert!(String::from_utf8_lossy(&answer).contains("the question was not answered"));
    drop(bench.proxy.take());
    assert_eq!(bench.town.connected().len(), 0);
}
