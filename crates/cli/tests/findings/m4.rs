//! M4: Everything in a skill's folder that can be run or loaded as code counts as code.

use crate::binary::{metier, workspace};
use metier_testkit::Workspace;

fn project() -> Workspace {
    workspace()
        .file("home/.config/metier/config.toml", "bundled = false\n")
        .file("project/metier.toml", "")
        .file("project/.agents/skills/x/SKILL.md", "---\nname: x\ndescription: d\n---\nRun it.\n")
        .executable("project/.agents/skills/x/scripts/run.sh", "#!/bin/sh\necho ran\n")
        .file("project/.agents/skills/x/lib/helper.py", "x = 1\n")
        .file("project/.agents/skills/x/references/guide.md", "A guide.\n")
}

fn exec(workspace: &Workspace) -> (bool, String) {
    let run = metier(workspace, &["exec", "x", "run.sh"]);
    (run.stdout.contains("ran"), run.stderr)
}

#[test]
fn code_that_is_no_script_by_its_name_is_noticed() {
    for (file, content) in [
        ("lib/__pycache__/helper.cpython-311.pyc", &b"\xa7\r\r\n\x01\0\0\0"[..]),
        ("lib/helper.so", b"\x7fELF"),
        ("lib/addon.node", b"\x7fELF"),
        ("lib/mod.pyd", b"MZ"),
        ("lib/old.pyo", b"x"),
        ("lib/m.wasm", b"\0asm"),
        ("lib/tool.jar", b"PK"),
        ("lib/Main.class", b"\xca\xfe\xba\xbe"),
        ("lib/site.pth", b"import os"),
        ("lib/a.mts", b"x"),
        ("lib/a.cts", b"x"),
        ("lib/a.jsx", b"x"),
        ("lib/a.tsx", b"x"),
        ("lib/a.pyw", b"x"),
        ("lib/a.fish", b"x"),
        ("lib/a.dylib", b"x"),
        ("lib/a.dll", b"x"),
        ("lib/Makefile", b"all:"),
        ("lib/noending", b"x"),
        ("config.json", b"{}"),
        ("requirements.txt", b"evil==1"),
        ("references/looks-like.md", b"#!/bin/sh\necho x\n"),
        ("references/notes.txt", b"\x7fELF\0"),
        ("assets/logo.png", b"\x7fELF"),
    ] {
        let workspace = project();
        metier(&workspace, &["trust"]);
        let (ran, said) = exec(&workspace);
        assert!(ran, "the control runs: {said}");
        let workspace = workspace.file(format!("project/.agents/skills/x/{file}"), content);
        let (ran, said) = exec(&workspace);
        assert!(!ran, "{file}");
        assert!(said.contains(&format!("code `{file}`")), "{file}: {said}");
    }
}

#[test]
fn edits_of_text_stay_free() {
    let workspace = project();
    metier(&workspace, &["trust"]);
    let workspace = workspace
        .file("project/.agents/skills/x/SKILL.md", "---\nname: x\ndescription: Better.\n---\nRun it now.\n")
        .file("project/.agents/skills/x/references/guide.md", "A better guide.\n")
        .file("project/.agents/skills/x/references/new.md", "One more.\n")
        .file("project/.agents/skills/x/assets/table.csv", "a,b\n")
        .file("project/.agents/skills/x/assets/logo.png", b"\x89PNG\r\n\x1a\n");
    let (ran, said) = exec(&workspace);
    assert!(ran && !said.contains("changed since"), "{said}");
}
