use super::*;

fn check(pattern: &str, line: &str, expect: &str) {
    let pattern = CommandPattern::parse(pattern).unwrap();
    let line = shell::parse(line).unwrap();
    let touch = touches(&pattern, &line.commands[0]);
    let word = match touch {
        Touch::No => "no",
        Touch::Unsure(_) => "unsure",
        Touch::Yes => "yes",
    };
    assert_eq!(word, expect, "{pattern} {}", line.source);
}

#[test]
fn a_command_is_known_under_its_path_a_wrapper_and_a_shell() {
    for (pattern, line, expect) in [
        ("rm:*", "rm -rf x", "yes"),
        ("rm:*", "/bin/rm -rf x", "yes"),
        ("rm:*", "env rm x", "yes"),
        ("rm:*", "sudo -n /usr/bin/rm x", "yes"),
        ("rm:*", "find . -name x -exec rm '{}' +", "yes"),
        ("rm:*", "sh -c 'rm x'", "yes"),
        ("rm:*", "bash -lc 'ls && rm x'", "yes"),
        ("rm:*", "timeout 5 bash -c 'rm x'", "yes"),
        ("rm:*", "sh -c 'sh -c \"rm x\"'", "yes"),
        ("rm:*", "sh -c 'x=$(id)'", "unsure"),
        ("rm:*", "/lib64/ld-linux-x86-64.so.2 /bin/rm x", "yes"),
        ("rm:*", "strace -f rm x", "yes"),
        ("rm:*", "setpriv --no-new-privs rm x", "yes"),
        ("rm:*", "unshare -r sh -c 'rm x'", "yes"),
        ("rm:*", "script -qc 'rm x' /dev/null", "yes"),
        ("rm:*", "su --command 'rm x'", "yes"),
        ("rm:*", "env -S 'rm x'", "yes"),
        ("rm:*", "env '-Srm x'", "yes"),
        ("rm:*", "env --split-string='rm x'", "yes"),
        ("rm:*", "watch -n 1 'ls; rm x'", "yes"),
        ("rm:*", "parallel 'rm {}'", "yes"),
        ("rm:*", "watch 'ls $x'", "unsure"),
        ("rm:*", "timeout 5 git commit -m 'rm x'", "no"),
        ("rm:*", "env A=1 ls", "no"),
        ("rm:*", "xargs -a script rm x", "yes"),
        ("rm:*", "sh -c 'ls'", "no"),
        ("rm:*", "sh script.sh", "no"),
        ("rm:*", "echo rm", "no"),
        ("rm:*", "ls", "no"),
        ("rm:*", "npm exec rm", "yes"),
        ("rm:*", "npm rm left-pad", "no"),
        ("rm:*", "docker rm x", "no"),
        ("rm:*", "uv run --with x rm y", "yes"),
        ("rm:*", "fd . -x rm", "yes"),
        ("rm:*", "entr -r rm x", "yes"),
        ("rm:*", "find . -name sh", "no"),
        ("rm:*", "command -v bash", "no"),
        ("rm:*", "bash --version", "no"),
        ("rm:*", "bash -o pipefail x.sh", "no"),
        ("rm:*", "sh", "unsure"),
        ("rm:*", "sh -s x", "unsure"),
        ("rm:*", "bash -eu -", "unsure"),
        ("rm:*", "timeout 5 bash", "unsure"),
        ("rm:*", "bash <<'E'\nls\nrm x\nE", "yes"),
        ("rm:*", "env bash -s <<'E'\ncd x && rm y\nE", "yes"),
        ("rm:*", "bash <<'E'\nls\nE", "no"),
        ("rm:*", "bash <<'E'\nfor x in a; do\nE", "unsure"),
        ("rm:*", "cat <<'E'\nrm x\nE", "no"),
        ("rm:*", "python3 - <<'E'\nrm x\nE", "no"),
        ("rm:*", "git -c 'alias.x=!rm y' x", "yes"),
        ("rm:*", "git -c core.pager='rm y' log", "yes"),
        ("rm:*", "git -c 'user.name=A (B)' commit", "no"),
        ("rm:*", "git rebase -x 'rm y' HEAD~1", "yes"),
        ("rm:*", "git rebase --exec='make && rm y' HEAD~1", "yes"),
        ("rm:*", "git bisect run rm y", "yes"),
        ("rm:*", "git submodule foreach --recursive 'rm y'", "yes"),
        ("rm:*", "git submodule foreach rm y", "yes"),
        ("rm:*", "git filter-branch --tree-filter 'rm y' HEAD", "yes"),
        ("rm:*", "git clean -x rm", "no"),
        ("rm:*", "git rm x", "no"),
        ("rm:*", "git commit -m 'rm x'", "no"),
        ("rm:*", "env git bisect run rm y", "yes"),
        ("git push:*", "git -C . push", "yes"),
        ("git push:*", "git -c a.b=c --no-pager push origin", "yes"),
        ("git push:*", "git --git-dir=x push", "yes"),
        ("git push:*", "git --git-dir x push", "yes"),
        ("git push:*", "/usr/bin/git -p push", "yes"),
        ("git push:*", "env git -C x push", "yes"),
        ("git push:*", "git -C . status push", "no"),
        ("git push:*", "git log push", "no"),
        ("git push:*", "git -c alias.p=push p", "yes"),
        ("git push:*", "git -c ALIAS.p='push --force' p", "yes"),
        ("git push:*", "git -c alias.s=status s", "no"),
        ("git push", "git -C . push origin", "no"),
        ("kubectl delete:*", "kubectl -n prod delete pod x", "yes"),
        ("cargo publish:*", "cargo +nightly publish", "yes"),
        ("git push:*", "git pus? origin", "unsure"),
        ("git push:*", "git add a*", "no"),
        ("git push:*", "git status", "no"),
        ("*", "anything at all", "yes"),
    ] {
        check(pattern, line, expect);
    }
}

#[test]
fn ten_thousand_words_after_a_wrapper_stay_fast() {
    let argv: Vec<&str> = std::iter::once("xargs").chain(std::iter::repeat_n("/x/y", 10_000)).collect();
    let pattern = CommandPattern::parse("rm:*").unwrap();
    let before = std::time::Instant::now();
    assert_eq!(touches_argv(&pattern, &argv), Touch::No);
    assert!(before.elapsed().as_secs() < 5, "{:?}", before.elapsed());
}
