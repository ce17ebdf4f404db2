//! Lines that are understood: those that pass, and those in which a command matches no pattern.

use crate::shell_table::{Case, hold, passes, unmatched};

pub(crate) const TABLES: &[&[Case]] = &[
    PLAIN,
    WORDS,
    QUOTED_TEXT,
    COMPOUND,
    QUIET,
    HERE_DOCUMENTS,
    GLOBS,
    LITERAL_LOOKALIKES,
    BUILTINS,
    ATTACKS,
];

const PLAIN: &[Case] = &[
    passes("git:*", "git"),
    passes("git:*", "git status"),
    passes("git:*", " git status"),
    passes("git:*", "\tgit status\t"),
    passes("git:*", "git status\n"),
    passes("git:*", "\n\n git status \n \n"),
    passes("git:*", "git   status\t--short"),
    passes("node:*,npx:*", "node x"),
    passes("node:*,npx:*", "npx y"),
    unmatched("node:*,npx:*", "git z", "git z"),
    unmatched("git:*", "gitk", "gitk"),
    unmatched("git:*", "/usr/bin/git status", "/usr/bin/git status"),
    passes("/usr/bin/git:*", "/usr/bin/git status"),
    unmatched("/usr/bin/git:*", "git status", "git status"),
    unmatched("git:*", "./git status", "./git status"),
    unmatched("git:*", "GIT status", "GIT status"),
    unmatched("git:*", "Git", "Git"),
    unmatched("git:*", "'' git", "'' git"),
    unmatched("git:*", "'git status'", "'git status'"),
    unmatched("git:*", "git\\ status", "git\\ status"),
    passes("npx:*", "npx tsx ../../_src/x.ts --range 1..10"),
    passes("cargo test:*", "cargo test -p metier-policy -- --nocapture"),
    passes("python3:*", "python3 -m http.server 8000"),
    passes("curl:*", "curl -sS https://example.org/a/b"),
    passes("*", "anything --at all"),
];

const WORDS: &[Case] = &[
    // How a name is quoted does not matter; what the program is called does.
    passes("git:*", "g'i't status"),
    passes("git:*", "\"git\" status"),
    passes("git:*", "\\g\\i\\t status"),
    passes("git:*", "g\"\"it status"),
    passes("git status", "git 'status'"),
    unmatched("git status", "git status ''", "git status ''"),
    unmatched("git status", "git status --short", "git status --short"),
    unmatched("git status", "git", "git"),
    passes("git diff:*", "git diff"),
    passes("git diff:*", "git diff HEAD~1 HEAD"),
    unmatched("git diff:*", "git difftool -x id", "git difftool -x id"),
    unmatched("git diff:*", "git -c core.pager=id diff", "git -c core.pager=id diff"),
    unmatched("git diff:*", "git 'diff --output=x'", "git 'diff --output=x'"),
    unmatched("git diff:*", "git 'diff '", "git 'diff '"),
    passes("npm run test:*", "npm run test"),
    passes("npm run test:*", "npm run test -- --watch"),
    unmatched("npm run test:*", "npm run test:unit", "npm run test:unit"),
    passes("npm run test:unit", "npm run test:unit"),
    passes("npm run test:unit:*", "npm run test:unit -- -t x"),
    passes("echo 'a b':*", "echo a\\ b c"),
    unmatched("echo 'a b':*", "echo a b c", "echo a b c"),
];

const QUOTED_TEXT: &[Case] = &[
    passes("git:*", "git commit -m 'a && b; c | d & e > f < g (h) $(i) `j` {k,l} ~ * # !'"),
    passes("git:*", "git commit -m \"a && b; c | d & e > f < g (h) {k,l} ~ * # !\""),
    passes("git:*", "git commit -m \"costs \\$5 and \\`x\\` and \\\"y\\\" and \\\\z\""),
    passes("git:*", "git commit -m \"a\\nb \\x \\' \\!\""),
    passes("git:*", "git commit -m 'first line\n\nsecond line'"),
    passes("git:*", "git commit -m \"first line\n\nsecond line\""),
    passes("git:*", "git commit -m 'tab\there, return\rthere'"),
    passes("git:*", "git commit -m 'no\u{a0}break, zero\u{200b}width, \u{202e}right to left'"),
    passes("git:*", "git commit -m \"it's\""),
    passes("git:*", "git commit -m 'say \"x\"'"),
    passes("git:*", "git commit -m 'it'\\''s'"),
    passes("git:*", "git commit -m ''"),
    passes("git:*", "git log --author=\\$USER"),
    passes("git:*", "git log --grep=\\(x\\)"),
    passes("awk:*", "awk '{print $1}' data.txt"),
    passes("sed:*", "sed -n 's/^a$/b/p' data.txt"),
    passes("jq:*", "jq -r '.[] | select(.a > 1) | .b' data.json"),
    passes("rg:*", "rg 'foo$' src"),
    passes("python3:*", "python3 -c 'import sys; print(sys.argv[1:])' a"),
    passes("find:*", "find . -name '*.rs' -exec wc -l {} \\;"),
    passes("find:*", "find . -name \\*.rs -exec wc -l {} +"),
    passes("echo:*", "echo grüße 日本語 é"),
    passes("echo:*", "echo \\é"),
    passes("echo:*", "echo 'été' \"日本\""),
    passes("echo:*", "echo \\\t \\  \\;"),
];

const COMPOUND: &[Case] = &[
    passes("git:*", "git fetch && git status"),
    passes("git:*", "git fetch || git status"),
    passes("git:*", "git fetch; git status"),
    passes("git:*", "git fetch;git status"),
    passes("git:*", "git fetch&&git status||git log;git diff|git apply"),
    passes("git:*", "git status;"),
    passes("git:*", "git status ; "),
    passes("git:*", "git status;\n"),
    passes("git:*,head:*", "git log | head -n 3"),
    passes("git log:*,head:*", "git log|head"),
    unmatched("git:*", "git log | head -n 3", "head -n 3"),
    unmatched("git fetch:*", "git fetch && git clean -fd", "git clean -fd"),
    unmatched("git:*", "rm -rf x; git status", "rm -rf x"),
    unmatched("git:*", "git status; rm -rf x; git status", "rm -rf x"),
    unmatched("git:*", "git status || rm -rf x", "rm -rf x"),
    unmatched("git:*", "git status|rm -rf x", "rm -rf x"),
    unmatched("git:*", "cd /tmp && git status", "cd /tmp"),
    passes("git:*,cd:*", "cd sub && git status"),
    unmatched("git status", "git status && git status -s", "git status -s"),
    passes("ls:*,wc:*,sort:*", "ls -1 src | sort -r | wc -l"),
];

const QUIET: &[Case] = &[
    passes("git:*", "git status 2>&1"),
    passes("git:*", "git status 2>& 1"),
    passes("git:*", "git status >/dev/null"),
    passes("git:*", "git status > /dev/null"),
    passes("git:*", "git status 1>/dev/null"),
    passes("git:*", "git status >>/dev/null"),
    passes("git:*", "git status 2>/dev/null"),
    passes("git:*", "git status 2>>/dev/null"),
    passes("git:*", "git status 2> /dev/null"),
    passes("git:*", "git status &>/dev/null"),
    passes("git:*", "git status &> /dev/null"),
    passes("git:*", "git status &>>/dev/null"),
    passes("git:*", "git status>/dev/null 2>&1"),
    passes("git:*", "git status >|/dev/null"),
    passes("git:*", "git status 2>| /dev/null"),
    passes("git:*", "git status >&/dev/null"),
    passes("git:*", "git status >& /dev/null"),
    passes("git:*", "git status >'/dev/null' 2>\"/dev/null\""),
    passes("git:*", "git status </dev/'null'"),
    passes("git:*", "git status </dev/null"),
    passes("git:*", "git status 0</dev/null"),
    passes("git:*", "git status >&2"),
    passes("git:*", "git status 1>&2"),
    passes("git:*", ">/dev/null git status"),
    passes("git:*", "2>&1 git 2>/dev/null status"),
    passes("git:*", "git a; &>/dev/null git b"),
    passes("git:*", "git a&&>/dev/null git b"),
    passes("git:*", "git a||>/dev/null git b|>/dev/null git c;</dev/null git d"),
    passes("git:*,head:*", "git log 2>&1 | head"),
    passes("git:*", "git log 2>/dev/null; git status &>/dev/null && git diff </dev/null"),
    // The number has to touch the operator; otherwise it is a word.
    passes("echo 2", "echo 2 >/dev/null"),
    passes("echo", "echo 2>/dev/null"),
    passes("echo a2", "echo a2>/dev/null"),
    passes("echo 2", "echo \\2>/dev/null"),
    passes("echo 2", "echo 2&>/dev/null"),
    unmatched("git:*", "rm x 2>/dev/null", "rm x 2>/dev/null"),
    unmatched("git:*", ">/dev/null rm x", ">/dev/null rm x"),
];

const HERE_DOCUMENTS: &[Case] = &[
    passes("cat", "cat <<'EOF'\n$(id) `id` $x && rm -rf / > f\nEOF"),
    passes("cat", "cat <<\"EOF\"\ntext\nEOF\n"),
    passes("cat", "cat <<\\EOF\ntext\nEOF\n\n"),
    passes("cat", "cat << 'EOF'\ntext\nEOF"),
    passes("cat", "cat 0<<'EOF'\ntext\nEOF"),
    passes("cat", "cat <<'EOF'\nEOF"),
    passes("cat", "cat <<-'EOF'\n\t\ttext\n\tEOF"),
    passes("cat", "cat <<E'O'F\ntext\nEOF"),
    passes("cat", "cat <<'EOF' \t\ntext\nEOF \nEOF"),
    passes("cat", "cat <<'1'\ntext\n1"),
    passes("cat,wc:*", "cat <<'EOF' | wc -l\ntext\nEOF"),
    passes("cat,wc:*", "cat <<'EOF' && wc x\ntext\nEOF"),
    passes("cat,wc:*", "wc x; cat <<'EOF'\ntext\nEOF"),
    passes("cat", "cat <<'EOF';\ntext\nEOF"),
    passes("cat", "<<'EOF' cat\ntext\nEOF"),
    passes("cat", "cat <<'EOF' 2>/dev/null\ntext\nEOF"),
    passes("cat", "cat <<'EOF'\nreturn\r\nEOF\r\nEOF"),
    passes("cat", "cat <<'EOF'\n\u{1}\u{7f}\u{a0}\nEOF"),
    passes("echo:*,cat", "echo 'a\nb' | cat <<'EOF'\ntext\nEOF"),
    passes("node:*", "node scripts/add.js --title 'x y' <<'JSON'\n{\"a\": \"it's ${b}\"}\nJSON\n"),
    unmatched("cat", "cat <<'EOF' | sh\nid\nEOF", "sh"),
];

const GLOBS: &[Case] = &[
    passes("ls:*", "ls src/*.rs"),
    passes("ls:*", "ls ./*"),
    passes("ls:*", "ls a?c a[0-9] a[!x]"),
    passes("ls:*", "ls 'a b'*"),
    passes("git add:*", "git add src/*.rs docs/*"),
    passes("ls:*", "ls https://example.org/?a=b"),
    passes("ls:*", "ls a\\*b*"),
    unmatched("ls src", "ls s*", "ls s*"),
    unmatched("ls src:*", "ls s?c x", "ls s?c x"),
    unmatched("git status", "git s*", "git s*"),
    unmatched("echo 'a*'", "echo a*", "echo a*"),
    passes("echo 'a*'", "echo a\\*"),
];

const LITERAL_LOOKALIKES: &[Case] = &[
    passes("git:*", "git show HEAD~1 HEAD^ HEAD^^ HEAD~"),
    passes("git:*", "git show HEAD@{1} stash@{0} @{u} @{-1}"),
    passes("git:*", "git log a..b c...d"),
    passes("find:*", "find . ! -name x"),
    passes("echo:*", "echo ! !! a!b \"!x\""),
    passes("echo:*", "echo if then { } ]] time [ ]"),
    passes("echo:*", "echo {} a{}b {a} a{b}c"),
    passes("echo:*", "echo a#b \\# '#'"),
    passes("echo:*", "echo a=b --x=y PATH=z 1=2 ="),
    passes("echo:*", "echo --x=~ host:~ ab~ ''~ \\~"),
    passes("echo:*", "echo %1 @x a@b , : + - -- ^ / ."),
    passes("scp:*", "scp file host:~/x"),
    passes("'if':*", "'if' x"),
    passes("'time':*", "\\time ls"),
    passes("'a=b':*", "a\\=b c"),
    passes("'[[':*", "'[[' x"),
    passes("1a=b:*", "1a=b c"),
    passes("{}:*", "{} x"),
];

const BUILTINS: &[Case] = &[
    passes("true,false,::*", "true; false; :; : a b"),
    passes("cd:*,pwd,pushd:*,popd,dirs", "cd /tmp && pwd; pushd x; popd; dirs"),
    passes("echo:*", "echo -n a; echo -e 'a\\nb'"),
    passes("printf:*", "printf '%s\\n' a b"),
    passes("printf:*", "printf '%d%%\\n' 5"),
    passes("printf:*", "printf '100%%n' x"),
    passes("printf:*", "printf -- '-%s' x"),
    passes("printf:*", "printf '%5d %-3s %.2f %x %c %q\\n' 1 a 2 3 b c"),
    passes("printf:*", "printf '%(%Y-%m-%d)T\\n' 0"),
    passes("printf:*", "printf name"),
    passes("printf:*", "printf '%s' 'a[$(id)]'"),
    passes("printf:*", "printf"),
    passes("test:*", "test -f x"),
    passes("test:*", "test -v HOME"),
    passes("test:*", "test -n 'a[$(id)]'"),
    passes("[:*", "[ -f x ]"),
    passes("[:*,echo:*", "[ -d a ] && echo yes || echo no"),
    passes("[:*", "[ a = 'b[$(id)]' ]"),
    passes("command:*", "command -v git"),
    passes("command -v:*,echo:*", "command -v node >/dev/null 2>&1 || echo missing"),
    passes("command:*", "command -V git"),
    passes("type:*", "type git"),
    passes("exit:*", "exit 1"),
    passes("kill:*", "kill -TERM 123"),
    // A path is a program, whatever its last part is called.
    passes("/usr/bin/printf:*", "/usr/bin/printf -v x"),
    passes("./read:*", "./read x"),
];

/// Understood, and outside of what the pattern names.
const ATTACKS: &[Case] = &[
    unmatched("git:*", "env git status", "env git status"),
    unmatched("git:*", "/proc/self/root/usr/bin/git status", "/proc/self/root/usr/bin/git status"),
    unmatched(
        "git:*",
        "/lib64/ld-linux-x86-64.so.2 /usr/bin/git",
        "/lib64/ld-linux-x86-64.so.2 /usr/bin/git",
    ),
    unmatched("git:*", "xargs git", "xargs git"),
    unmatched("git:*", "sudo git status", "sudo git status"),
    unmatched("git:*", "bash -c 'git status'", "bash -c 'git status'"),
    unmatched("git:*", "nohup git status", "nohup git status"),
    unmatched("git:*", "git\u{2215}status", "git\u{2215}status"),
    unmatched("git:*", "gіt status", "gіt status"),
    unmatched("git log:*,cat", "git log | cat | tee x", "tee x"),
];

#[test]
fn plain_commands() {
    hold(PLAIN);
}

#[test]
fn words_are_compared_with_words() {
    hold(WORDS);
}

#[test]
fn what_is_quoted_is_text() {
    hold(QUOTED_TEXT);
}

#[test]
fn every_command_of_a_compound_has_to_match() {
    hold(COMPOUND);
}

#[test]
fn redirections_to_nowhere_and_between_output_and_errors_pass() {
    hold(QUIET);
}

#[test]
fn a_quoted_here_document_feeds_a_command() {
    hold(HERE_DOCUMENTS);
}

#[test]
fn globs_that_cannot_become_options_pass() {
    hold(GLOBS);
}

#[test]
fn characters_that_the_shell_leaves_alone_pass() {
    hold(LITERAL_LOOKALIKES);
}

#[test]
fn harmless_builtins_pass() {
    hold(BUILTINS);
}

#[test]
fn known_ways_around_a_list_of_names_do_not_match() {
    hold(ATTACKS);
}
