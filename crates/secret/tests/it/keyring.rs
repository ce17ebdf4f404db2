//! Secrets in a keyring that does everything right, or one thing wrong.

use std::collections::BTreeMap;
use std::os::unix::net::UnixListener;
use std::thread;
use std::time::{Duration, Instant};

use metier_secret::{KeyringError, Owner, Place, Removed, Vault, VaultError, Was};
use metier_testkit::Workspace;

use crate::peer::{Entry, Fault, Peer};
use crate::vault::{name, secret, values};

fn vault(peer: &Peer) -> Vault {
    Vault::best(&peer.workspace.join("secrets"), Some(&peer.address))
}

fn owner() -> Owner {
    Owner::new("user", "deploy")
}

/// Everything that can be done with a vault, until something fails.
fn all_of_it(vault: &Vault) -> Result<Vec<String>, VaultError> {
    if let Place::File { keyring: Some(error), .. } = vault.place() {
        return Err(error.into());
    }
    assert_eq!(vault.place(), Place::Keyring);
    vault.set(&owner(), &name("KEY"), &secret("hunter22"), "1")?;
    vault.set(&owner(), &name("KEY"), &secret("hunter23"), "2")?;
    let values = vault.of(&owner())?.iter().map(|(_, secret)| secret.expose().to_owned()).collect();
    vault.list()?;
    vault.remove(&owner(), &name("KEY"))?;
    Ok(values)
}

#[test]
fn an_entry_has_a_label_and_attributes_and_is_found_by_them() {
    let peer = Peer::new(&[]);
    let vault = vault(&peer);
    let project = Owner::new("project", "deploy").within(peer.workspace.join("a b").as_path());
    assert_eq!(vault.set(&project, &name("KEY"), &secret("hunter22"), "2026").unwrap(), Was::New);
    let entries = peer.entries.lock().unwrap().clone();
    let [entry] = &entries.values().collect::<Vec<_>>()[..] else { panic!("{entries:?}") };
    assert_eq!(
        (entry.label.as_str(), entry.value.as_slice()),
        ("metier: KEY for project:deploy", &b"hunter22"[..])
    );
    let owner_text =
        format!("{{\"skill\":\"project:deploy\",\"folder\":\"{}\"}}", peer.workspace.join("a b").display());
    let expect = [("application", "metier"), ("name", "KEY"), ("owner", &owner_text), ("set", "2026")];
    let attributes: Vec<_> =
        entry.attributes.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    assert_eq!(attributes, expect);
    assert_eq!(values(&vault, &project), ["KEY=hunter22"]);
    assert_eq!(values(&vault, &owner()), [""; 0]);
    let listed = vault.list().unwrap();
    assert_eq!((&listed[0].owner, &listed[0].kept, listed.len()), (&project, &Place::Keyring, 1));
    assert!(!peer.workspace.join("secrets").exists(), "the file is not made for nothing");
}

#[test]
fn a_new_value_takes_the_place_of_the_old_one_wherever_that_is() {
    let peer = Peer::new(&[]);
    let vault = vault(&peer);
    let file = Vault::file(&peer.workspace.join("secrets"));
    let set = |vault: &Vault, value: &str, when: &str| {
        vault.set(&owner(), &name("KEY"), &secret(value), when).unwrap()
    };
    set(&file, "in the file", "1");
    assert_eq!(values(&vault, &owner()), ["KEY=in the file"]);
    assert_eq!(set(&vault, "in the keyring", "2"), Was::Replaced);
    assert_eq!(values(&file, &owner()), [""; 0]);
    assert_eq!(set(&vault, "at the same time", "2"), Was::Replaced);
    assert_eq!(set(&vault, "later", "3"), Was::Replaced);
    assert_eq!(peer.entries.lock().unwrap().len(), 1);
    assert_eq!(values(&vault, &owner()), ["KEY=later"]);
    // Both have one: the later one counts, and at the same time the keyring's.
    for (when, expect) in [("2", "KEY=later"), ("3", "KEY=later"), ("4", "KEY=in the file again")] {
        set(&file, "in the file again", when);
        assert_eq!(values(&vault, &owner()), [expect], "{when}");
    }
    assert_eq!(vault.list().unwrap().len(), 2);
    assert_eq!(vault.remove(&owner(), &name("KEY")).unwrap(), Removed::Yes);
    assert_eq!(vault.remove(&owner(), &name("KEY")).unwrap(), Removed::NotThere);
    assert!(values(&file, &owner()).is_empty() && peer.entries.lock().unwrap().is_empty());
}

#[test]
fn other_programs_entries_are_never_touched_even_when_the_search_finds_them() {
    let peer = Peer::new(&[("SearchItems", Fault::Loose)]);
    let attributes =
        BTreeMap::from([("application", "mail"), ("name", "KEY")].map(|(a, b)| (a.into(), b.into())));
    let other = Entry { label: "mail".to_owned(), attributes, value: b"not ours".to_vec() };
    peer.entries.lock().unwrap().insert("/other".to_owned(), other.clone());
    assert_eq!(all_of_it(&vault(&peer)).unwrap(), ["hunter23"]);
    assert_eq!(*peer.entries.lock().unwrap(), BTreeMap::from([("/other".to_owned(), other)]));
}

#[test]
fn entries_that_metier_did_not_write_are_named_and_not_used() {
    let check = |key: &str, value: &str, content: &[u8], expect: &str| {
        let peer = Peer::new(&[]);
        let vault = vault(&peer);
        vault.set(&owner(), &name("KEY"), &secret("hunter22"), "1").unwrap();
        for entry in peer.entries.lock().unwrap().values_mut() {
            entry.attributes.insert(key.to_owned(), value.to_owned());
            entry.value = content.to_vec();
        }
        let listed = vault.list().map(drop);
        let error = vault.of(&owner()).map(drop).and(listed).unwrap_err().to_string();
        assert!(error.contains(expect) && error.contains("/login/1") && !error.contains("hunter"), "{error}");
    };
    check("name", "LD_PRELOAD", b"hunter22", "a name that no secret may have");
    check("owner", "hunter22", b"hunter22", "whose it is");
    check("set", "1", b"", "a value that no secret can have");
    check("set", "1", b"hunter\xff22", "a value that no secret can have");
}

#[test]
fn whatever_goes_wrong_is_an_error_in_time() {
    let mut huge = b"B\x02\0\x01\x7f\xff\xff\xff\0\0\0\x01\x7f\xff\xff\xff".to_vec();
    huge.extend([0; 100]);
    let cases: &[(&str, Fault, &str)] = &[
        ("AUTH", Fault::Bytes(b"REJECTED KERBEROS\r\n".to_vec()), "does not let metier in"),
        ("AUTH", Fault::Bytes(vec![b'x'; 10_000]), "does not end"),
        ("AUTH", Fault::Bytes(Vec::new()), "broke off"),
        ("AUTH", Fault::Hang, "within 5 seconds"),
        ("Hello", Fault::Hang, "within 5 seconds"),
        ("Hello", Fault::Signals, "within 5 seconds"),
        ("Hello", Fault::WrongSerial, "within 5 seconds"),
        ("Hello", Fault::Bytes(huge.clone()), "larger than 4 MiB"),
        (
            "OpenSession",
            Fault::Error("org.freedesktop.DBus.Error.NotSupported"),
            "`org.freedesktop.DBus.Error.NotSupported`",
        ),
        ("OpenSession", Fault::Error("not a name"), "cannot be understood"),
        ("OpenSession", Fault::Trickle, "within 5 seconds"),
        ("OpenSession", Fault::Half, "within 5 seconds"),
        ("OpenSession", Fault::Cut, "broke off"),
        ("OpenSession", Fault::Types("v"), "other types"),
        ("OpenSession", Fault::Types("oo"), "other types"),
        ("ReadAlias", Fault::NoDefault, "no default keyring"),
        ("ReadAlias", Fault::Longer, "longer than its type"),
        ("ReadAlias", Fault::Body(b"\0\0\0\x09/a\0".to_vec()), "shorter than it says"),
        ("ReadAlias", Fault::Body(b"\0\0\0\x02/a!".to_vec()), "does not end where it says"),
        ("ReadAlias", Fault::Body(b"\0\0\0\x02/\xff\0".to_vec()), "not UTF-8"),
        ("Get", Fault::Body(b"\x01b\0\0\0\0\0\x02".to_vec()), "neither true nor false"),
        ("Get", Fault::Body(b"\x01u\0\0\0\0\0\0".to_vec()), "another type"),
        ("SearchItems", Fault::Body(b"\0\0\0\x08\0\0\0\x01/\0\0\0".to_vec()), "cannot be understood"),
        ("SearchItems", Fault::Body(b"\xff\xff\xff\xff\0\0\0\0".to_vec()), "shorter than it says"),
        ("SearchItems", Fault::Error("org.freedesktop.Secret.Error.IsLocked"), "is locked"),
        ("SearchItems", Fault::Hang, "within 5 seconds"),
        ("CreateItem", Fault::Prompt, "wants to ask you before metier may keep"),
        ("CreateItem", Fault::Bytes(vec![0; 64]), "byte order"),
        ("GetSecrets", Fault::Body(b"\0\0\0\0\0\0\0\0".to_vec()), "without its value"),
        ("GetSecrets", Fault::Cut, "broke off"),
        ("GetSecrets", Fault::Bytes(huge), "larger than 4 MiB"),
        ("Delete", Fault::Prompt, "wants to ask you before metier may remove"),
        ("Delete", Fault::Error("org.freedesktop.Secret.Error.NoSuchObject"), "NoSuchObject"),
    ];
    thread::scope(|scope| {
        for (at, fault, expect) in cases {
            scope.spawn(move || {
                let peer = Peer::new(&[(at, fault.clone())]);
                let start = Instant::now();
                let vault = vault(&peer);
                assert!(start.elapsed() < Duration::from_secs(8), "{at} {fault:?}: {:?}", start.elapsed());
                let error = all_of_it(&vault).unwrap_err();
                assert!(start.elapsed() < Duration::from_secs(8), "{at} {fault:?}: {:?}", start.elapsed());
                let text = format!("{error} {error:?}");
                assert!(text.contains(expect) && !text.contains("hunter"), "{at} {fault:?}: {text}");
            });
        }
    });
}

#[test]
fn after_an_answer_that_was_cut_off_nothing_is_taken_for_another_one() {
    let peer = Peer::new(&[("GetSecrets", Fault::Bytes(vec![0; 64]))]);
    let vault = vault(&peer);
    vault.set(&owner(), &name("KEY"), &secret("hunter22"), "1").unwrap();
    assert!(vault.of(&owner()).is_err());
    assert!(vault.list().unwrap_err().to_string().contains("cut off"));
}

#[test]
fn nobody_answers_for_the_keyring() {
    for at in ["SearchItems", "GetSecrets", "Get", "ReadAlias"] {
        let peer = Peer::new(&[(at, Fault::Stranger)]);
        assert_eq!(all_of_it(&vault(&peer)).unwrap(), ["hunter23"], "{at}");
    }
}

#[test]
fn a_locked_keyring_is_unlocked_only_where_nobody_has_to_be_asked() {
    assert_eq!(all_of_it(&vault(&Peer::locked(&[]))).unwrap(), ["hunter23"]);
    let peer = Peer::locked(&[("Unlock", Fault::Prompt)]);
    let vault = vault(&peer);
    let Place::File { keyring: Some(KeyringError::Locked), .. } = vault.place() else {
        panic!("{:?}", vault.place())
    };
    assert!(vault.place().to_string().contains("the keyring is locked"), "{}", vault.place());
    vault.set(&owner(), &name("KEY"), &secret("hunter22"), "1").unwrap();
    assert_eq!(values(&Vault::file(&peer.workspace.join("secrets")), &owner()), ["KEY=hunter22"]);
    assert!(peer.entries.lock().unwrap().is_empty());
}

#[test]
fn without_a_keyring_it_is_the_file_without_a_word() {
    let workspace = Workspace::new().socket("left over").file("file", "");
    let path = |name: &str| format!("unix:path={}", workspace.join(name).display());
    let long = path(&"x".repeat(500));
    let unknown = Peer::new(&[("OpenSession", Fault::Error("org.freedesktop.DBus.Error.ServiceUnknown"))]);
    let broken = Peer::new(&[("OpenSession", Fault::Error("org.freedesktop.DBus.Error.Spawn.ChildExited"))]);
    for address in [
        None,
        Some(""),
        Some("nonsense"),
        Some("tcp:host=localhost,port=1"),
        Some("unix:abstract=metier-nobody-is-here"),
        Some(path("missing").as_str()),
        Some(path("left over").as_str()),
        Some(path("file").as_str()),
        Some(long.as_str()),
        Some(unknown.address.as_str()),
        Some(broken.address.as_str()),
    ] {
        let start = Instant::now();
        let place = Vault::best(&workspace.join("secrets"), address).place();
        assert!(matches!(place, Place::File { keyring: None, .. }), "{address:?}: {place:?}");
        assert!(start.elapsed() < Duration::from_secs(3), "{address:?}");
    }
}

#[test]
fn the_next_address_is_tried_where_nobody_listens_at_the_first() {
    let peer = Peer::new(&[]);
    let several = format!("tcp:host=localhost;unix:path=/nonexistent;{}", peer.address);
    assert_eq!(Vault::best(&peer.workspace.join("secrets"), Some(&several)).place(), Place::Keyring);
}

#[test]
fn a_bus_that_takes_no_more_connections_is_not_waited_for() {
    let workspace = Workspace::new();
    let _listener = UnixListener::bind(workspace.join("bus")).unwrap();
    let address = format!("unix:path={}", workspace.join("bus").display());
    // Nobody accepts, so the queue fills up; without blocking, since the last one would wait for ever.
    let place = rustix::net::SocketAddrUnix::new(workspace.join("bus")).unwrap();
    let mut waiting = Vec::new();
    loop {
        let socket = rustix::net::socket_with(
            rustix::net::AddressFamily::UNIX,
            rustix::net::SocketType::STREAM,
            rustix::net::SocketFlags::NONBLOCK,
            None,
        )
        .unwrap();
        if rustix::net::connect(&socket, &place).is_err() {
            break;
        }
        waiting.push(socket);
        assert!(waiting.len() < 10_000, "the queue does not fill up");
    }
    let start = Instant::now();
    let kept = Vault::best(&workspace.join("secrets"), Some(&address)).place();
    assert!(matches!(kept, Place::File { keyring: Some(KeyringError::Silent), .. }), "{kept:?}");
    assert!(start.elapsed() < Duration::from_secs(1));
}
