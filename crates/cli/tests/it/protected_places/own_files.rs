//! metier's own files, where they lie in a project.

use crate::binary::metier_with;
use metier_testkit::Workspace;
use serde_json::Value;

/// metier's own files may lie in the project.
#[test]
fn metiers_own_files_are_protected_inside_the_project() {
    let skill = "---\nname: foo\ndescription: Works.\n---\nRun it.\n";
    for (variables, own) in [
        (&[("METIER_HOME", ".mh")][..], ".mh"),
        (&[("XDG_CONFIG_HOME", "xdg"), ("XDG_DATA_HOME", "xdg-data")], "xdg/metier"),
    ] {
        let workspace = Workspace::new()
            .dir("home")
            .file("skills/foo/SKILL.md", skill)
            .file("skills/foo/scripts/run.sh", "cd \"$PROJECT_DIR\"; eval \"$1\"\n")
            .file(format!("project/{own}/config.toml"), "bundled = false\n");
        let folder = |name: &str| workspace.join("project").join(name).display().to_string();
        let variables: Vec<(&str, String)> =
            variables.iter().map(|(name, value)| (*name, folder(value))).collect();
        let variables: Vec<(&str, &str)> = variables.iter().map(|(name, value)| (*name, &**value)).collect();
        let root = workspace.join("skills").display().to_string();
        let run = |line: &str, more: &[&str]| {
            let args = [&["exec", "foo", "run.sh", "--root", &root, "--json"][..], more, &["--", line]];
            metier_with(&workspace, &args.concat(), &variables).json()
        };
        let config = workspace.join("project").join(own).join("config.toml");
        for line in [
            format!("echo '[gate]' > {own}/config.toml; echo '{{}}' > {own}/approvals.json"),
            format!("mkdir -p {own}/skills/x; echo x > {own}/skills/x/SKILL.md"),
            format!("rm -rf {own}/config.toml"),
            format!("rm -rf {}", own.split('/').next().unwrap()),
            format!("echo x > new; mv new {own}/config.toml"),
        ] {
            let report = run(&line, &["--allow", "skill:*/write:**"]);
            let entries = report["changes"]["entries"].as_array().unwrap();
            let of_metier = |entry: &&Value| entry["path"].as_str().unwrap().starts_with(own);
            for entry in entries.iter().filter(of_metier) {
                assert_eq!(
                    (&entry["state"], &entry["protected"]),
                    (&"not-approved".into(), &true.into()),
                    "{entry}"
                );
                assert_eq!(entry["protected_because"], "metier keeps its own files there");
            }
            assert!(entries.iter().any(|entry| of_metier(&entry)), "{line}: {report}");
            assert_eq!(std::fs::read_to_string(&config).unwrap(), "bundled = false\n", "{line}");
        }
        let rule = format!("skill:cli:foo/write:{own}/config.toml");
        run(&format!("echo '# mine' > {own}/config.toml"), &["--allow", &rule]);
        assert_eq!(std::fs::read_to_string(&config).unwrap(), "# mine\n");
    }
}
