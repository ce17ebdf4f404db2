//! Secrets in a file.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::thread;

use metier_secret::{Owner, Place, Removed, Secret, SecretName, Vault, VaultError, Was};
use metier_testkit::Workspace;

pub(crate) fn name(text: &str) -> SecretName {
    text.parse().unwrap()
}

pub(crate) fn secret(text: &str) -> Secret {
    Secret::new(text.to_owned()).unwrap()
}

pub(crate) fn values(vault: &Vault, owner: &Owner) -> Vec<String> {
    vault.of(owner).unwrap().iter().map(|(name, secret)| format!("{name}={}", secret.expose())).collect()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

/// A vault with one secret, and its file.
fn filled(workspace: &Workspace) -> (Vault, Owner, std::path::PathBuf) {
    let vault = Vault::file(&workspace.join("data/secrets"));
    let owner = Owner::new("user", "deploy");
    vault.set(&owner, &name("KEY"), &secret("hunter22"), "now").unwrap();
    (vault, owner, workspace.join("data/secrets/secrets.json"))
}

#[test]
fn a_secret_is_set_replaced_listed_and_removed() {
    let workspace = Workspace::new();
    let (vault, owner, file) = filled(&workspace);
    assert_eq!(vault.place(), Place::File { path: file.clone(), keyring: None });
    let odd = "\"quotes\"\n\\ ünïcode\ttab\u{1}";
    assert_eq!(vault.set(&owner, &name("ANOTHER"), &secret(odd), "then").unwrap(), Was::New);
    assert_eq!(vault.set(&owner, &name("KEY"), &secret("hunter23"), "later").unwrap(), Was::Replaced);
    assert_eq!(values(&vault, &owner), [format!("ANOTHER={odd}"), "KEY=hunter23".to_owned()]);
    let listed = vault.list().unwrap();
    let listed: Vec<_> =
        listed.iter().map(|kept| format!("{} {} {}", kept.owner, kept.name, kept.set)).collect();
    assert_eq!(listed, ["user:deploy ANOTHER then", "user:deploy KEY later"]);
    assert_eq!(vault.remove(&owner, &name("KEY")).unwrap(), Removed::Yes);
    assert_eq!(vault.remove(&owner, &name("KEY")).unwrap(), Removed::NotThere);
    assert_eq!(vault.list().unwrap().len(), 1);
    assert!(!fs::read_to_string(file).unwrap().contains("hunter"));
}

#[test]
fn each_skill_has_its_own_and_so_has_each_project() {
    let workspace = Workspace::new();
    let (vault, owner, _) = filled(&workspace);
    for other in [
        Owner::new("user", "deploy2"),
        Owner::new("user.claude", "deploy"),
        Owner::new("user", "deploy").within(Path::new("/a")),
    ] {
        assert_eq!(values(&vault, &other), [""; 0], "{other}");
    }
    let [a, b] = ["/a", "/b"].map(|project| Owner::new("project", "deploy").within(Path::new(project)));
    vault.set(&a, &name("KEY"), &secret("of project a"), "now").unwrap();
    assert_eq!(values(&vault, &a), ["KEY=of project a"]);
    assert_eq!(values(&vault, &b), [""; 0]);
    assert_eq!(values(&vault, &owner), ["KEY=hunter22"]);
}

#[test]
fn nobody_else_can_read_it() {
    let workspace = Workspace::new();
    let (vault, owner, file) = filled(&workspace);
    assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
    vault.set(&owner, &name("KEY"), &secret("hunter23"), "now").unwrap();
    assert_eq!(mode(&file), 0o600);
    let names: Vec<_> =
        fs::read_dir(file.parent().unwrap()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "only the file and its lock: {names:?}");
}

#[test]
fn an_open_file_or_folder_is_refused_with_the_remedy() {
    let workspace = Workspace::new();
    let (vault, owner, file) = filled(&workspace);
    for (path, open, closed) in [(file.as_path(), 0o640, 0o600), (file.parent().unwrap(), 0o755, 0o700)] {
        fs::set_permissions(path, fs::Permissions::from_mode(open)).unwrap();
        let before = fs::read(&file).unwrap();
        for error in [
            vault.of(&owner).unwrap_err(),
            vault.list().unwrap_err(),
            vault.set(&owner, &name("KEY"), &secret("other value"), "now").unwrap_err(),
            vault.remove(&owner, &name("KEY")).unwrap_err(),
        ] {
            let text = error.to_string();
            assert!(text.contains(&format!("`chmod {closed:o} {}`", path.display())), "{text}");
            assert!(text.contains(&format!("(mode {open:o})")), "{text}");
        }
        assert_eq!(fs::read(&file).unwrap(), before);
        fs::set_permissions(path, fs::Permissions::from_mode(closed)).unwrap();
    }
    assert_eq!(values(&vault, &owner), ["KEY=hunter22"]);
}

#[test]
fn links_and_other_things_in_its_place_are_not_used() {
    let workspace = Workspace::new().dir("elsewhere").mode("elsewhere", 0o700);
    let (vault, owner, file) = filled(&workspace);
    fs::rename(&file, workspace.join("elsewhere/secrets.json")).unwrap();
    let workspace = workspace.symlink("data/secrets/secrets.json", workspace_path("elsewhere/secrets.json"));
    assert!(matches!(vault.of(&owner).unwrap_err(), VaultError::Link { what: "file", .. }));
    assert!(vault.set(&owner, &name("KEY"), &secret("other value"), "now").is_err());
    fs::remove_file(&file).unwrap();
    let workspace = workspace.fifo("data/secrets/secrets.json");
    assert!(matches!(vault.of(&owner).unwrap_err(), VaultError::NotA { what: "file", .. }));
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    assert!(matches!(vault.list().unwrap_err(), VaultError::NotA { what: "file", .. }));
    let workspace = workspace.symlink("data/link", "../elsewhere").file("data/file", "x");
    let through = Vault::file(&workspace.join("data/link"));
    assert!(matches!(through.of(&owner).unwrap_err(), VaultError::Link { what: "folder", .. }));
    assert!(through.set(&owner, &name("KEY"), &secret("other value"), "now").is_err());
    let no_folder = Vault::file(&workspace.join("data/file"));
    assert!(matches!(no_folder.of(&owner).unwrap_err(), VaultError::NotA { what: "folder", .. }));
}

/// From `data/secrets/` up to the workspace.
fn workspace_path(path: &str) -> String {
    format!("../../{path}")
}

#[test]
fn what_is_broken_stays_as_it_is_and_is_not_quoted() {
    let workspace = Workspace::new();
    let (vault, owner, file) = filled(&workspace);
    let good = fs::read_to_string(&file).unwrap();
    for broken in [
        "",
        "{",
        "\"hunter22\"",
        "{\"version\": \"hunter22\", \"secrets\": []}",
        "{\"version\": 1, \"secrets\": \"hunter22\"}",
        "{\"version\": 9, \"vault\": \"hunter22\"}",
        &good.replace("\"name\": \"KEY\"", "\"name\": \"LD_PRELOAD\""),
        &good.replace("\"hunter22\"", "hunter22"),
        &good[..good.len() / 2],
    ] {
        fs::write(&file, broken).unwrap();
        for error in [
            vault.of(&owner).unwrap_err(),
            vault.set(&owner, &name("KEY"), &secret("other value"), "now").unwrap_err(),
            vault.remove(&owner, &name("KEY")).unwrap_err(),
        ] {
            let text = format!("{error} {error:?}");
            assert!(!text.contains("hunter"), "{text}");
            assert!(text.contains("secrets.json") && text.contains("left as it is"), "{text}");
        }
        assert_eq!(fs::read_to_string(&file).unwrap(), broken);
    }
}

#[test]
fn writers_at_the_same_time_lose_nothing() {
    let workspace = Workspace::new();
    let folder = workspace.join("secrets");
    thread::scope(|scope| {
        for writer in 0..8 {
            let folder = &folder;
            scope.spawn(move || {
                let vault = Vault::file(folder);
                let owner = Owner::new("user", &format!("skill-{writer}"));
                for number in 0..5 {
                    vault.set(&owner, &name(&format!("KEY_{number}")), &secret("hunter22"), "now").unwrap();
                }
            });
        }
    });
    assert_eq!(Vault::file(&folder).list().unwrap().len(), 40);
}

#[test]
fn nothing_is_made_by_looking() {
    let workspace = Workspace::new();
    let vault = Vault::file(&workspace.join("secrets"));
    let owner = Owner::new("user", "deploy");
    assert!(vault.of(&owner).unwrap().is_empty() && vault.list().unwrap().is_empty());
    assert_eq!(vault.remove(&owner, &name("KEY")).unwrap(), Removed::NotThere);
    assert!(!workspace.join("secrets").exists());
}
