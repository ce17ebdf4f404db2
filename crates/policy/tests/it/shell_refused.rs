//! Lines that are refused, each with the piece that is named, even under a pattern that names every command.

use crate::shell_table::{Case, hold, refused};
use metier_policy::shell::RefusalKind as Kind;

pub(crate) const TABLES: &[&[Case]] = &[
    EXPANSIONS,
    REDIRECTIONS,
    HERE_DOCUMENTS,
    JOINTS,
    GRAMMAR,
    ASSIGNMENTS,
    CHARACTERS,
    QUOTES,
    BRACES_AND_TILDES,
    GLOBS,
    BUILTINS,
    EVALUATED,
];

const EXPANSIONS: &[Case] = &[
    refused(Kind::Variable, "git log $x", "$x"),
    refused(Kind::Variable, "git log a$x_1-b", "$x_1"),
    refused(Kind::Variable, "git log \"$x\"", "$x"),
    refused(Kind::Variable, "$x", "$x"),
    refused(Kind::Variable, "git ${x}", "${x}"),
    refused(Kind::Variable, "git ${x:-$(id)}", "${x:-$(id)}"),
    refused(Kind::Variable, "git ${x@P}", "${x@P}"),
    refused(Kind::Variable, "git ${!x}", "${!x}"),
    refused(Kind::Variable, "git ${ id; }", "${ id; }"),
    refused(Kind::Variable, "git ${x", "${"),
    refused(Kind::Variable, "git $1", "$1"),
    refused(Kind::Variable, "git $10", "$1"),
    refused(Kind::Variable, "git $@", "$@"),
    refused(Kind::Variable, "git $*", "$*"),
    refused(Kind::Variable, "git $?", "$?"),
    refused(Kind::Variable, "git $$", "$$"),
    refused(Kind::Variable, "git $!", "$!"),
    refused(Kind::Variable, "git $#", "$#"),
    refused(Kind::Variable, "git $-", "$-"),
    refused(Kind::Variable, "git $", "$"),
    refused(Kind::Variable, "git a$ b", "$"),
    refused(Kind::Variable, "git $é", "$"),
    refused(Kind::Variable, "rg \"foo$\" src", "$"),
    refused(Kind::Variable, "rg \"it$'s\" src", "$"),
    refused(Kind::Variable, "git$IFS-x", "$IFS"),
    refused(Kind::CommandSubstitution, "git $(id)", "$(id)"),
    refused(Kind::CommandSubstitution, "$(id)", "$(id)"),
    refused(Kind::CommandSubstitution, "git \"a $(id) b\"", "$(id)"),
    refused(Kind::CommandSubstitution, "git $(echo $(id))", "$(echo $(id))"),
    refused(Kind::CommandSubstitution, "git $(id", "$("),
    refused(Kind::CommandSubstitution, "git $(<x)", "$(<x)"),
    refused(Kind::CommandSubstitution, "git `id`", "`id`"),
    refused(Kind::CommandSubstitution, "git \"`id`\"", "`id`"),
    refused(Kind::CommandSubstitution, "git `id", "`"),
    refused(Kind::CommandSubstitution, "`id`", "`id`"),
    refused(Kind::Arithmetic, "git $((1+1))", "$((1+1))"),
    refused(Kind::Arithmetic, "git $[1+1]", "$[1+1]"),
    refused(Kind::Arithmetic, "git \"$((a[$(id)]))\"", "$((a[$(id)]))"),
    refused(Kind::EscapeQuote, "git $'a\\x3bb'", "$'"),
    refused(Kind::LocaleQuote, "git $\"a\"", "$\""),
    refused(Kind::ProcessSubstitution, "git diff <(id) x", "<(id)"),
    refused(Kind::ProcessSubstitution, "git log >(sh)", ">(sh)"),
    refused(Kind::ProcessSubstitution, "git a<(id)", "<(id)"),
    refused(Kind::ProcessSubstitution, "git <(id", "<("),
];

const REDIRECTIONS: &[Case] = &[
    refused(Kind::Redirection, "echo x >/etc/x", ">/etc/x"),
    refused(Kind::Redirection, "echo x > f", "> f"),
    refused(Kind::Redirection, "echo x>f", ">f"),
    refused(Kind::Redirection, "echo x >> ~/.bashrc", ">> ~/.bashrc"),
    refused(Kind::Redirection, "echo x >|f", ">|f"),
    refused(Kind::Redirection, "echo x >| f", ">| f"),
    refused(Kind::Redirection, "echo x 3>| /dev/null", "3>| /dev/null"),
    refused(Kind::Redirection, "echo x <> f", "<> f"),
    refused(Kind::Redirection, "echo x <>/dev/null", "<>/dev/null"),
    refused(Kind::Redirection, "echo x &>f", "&>f"),
    refused(Kind::Redirection, "echo x &>>f", "&>>f"),
    refused(Kind::Redirection, "echo x >&f", ">&f"),
    refused(Kind::Redirection, "echo x >&f", ">&f"),
    refused(Kind::Redirection, "echo x 1>&/dev/null", "1>&/dev/null"),
    refused(Kind::Redirection, "echo x 2>&/dev/null", "2>&/dev/null"),
    refused(Kind::Redirection, "echo x >&'2'", ">&'2'"),
    refused(Kind::Redirection, "echo x >&-", ">&-"),
    refused(Kind::Redirection, "echo x 2>&-", "2>&-"),
    refused(Kind::Redirection, "echo x 2>&1-", "2>&1-"),
    refused(Kind::Redirection, "echo x 2>&1x", "2>&1x"),
    refused(Kind::Redirection, "echo x 2>&10", "2>&10"),
    refused(Kind::Redirection, "echo x >&1", ">&1"),
    refused(Kind::Redirection, "echo x 3>&1", "3>&1"),
    refused(Kind::Redirection, "echo x 3>/dev/null", "3>/dev/null"),
    refused(Kind::Redirection, "echo x 01>/dev/null", "01>/dev/null"),
    refused(Kind::Redirection, "echo x 12>/dev/null", "12>/dev/null"),
    refused(Kind::Redirection, "echo x 0>/dev/null", "0>/dev/null"),
    refused(Kind::Redirection, "echo x 1</dev/null", "1</dev/null"),
    refused(Kind::Redirection, "cat <f", "<f"),
    refused(Kind::Redirection, "cat < /etc/passwd", "< /etc/passwd"),
    refused(Kind::Redirection, "cat <&3", "<&3"),
    refused(Kind::Redirection, "cat <&-", "<&-"),
    refused(Kind::Redirection, "echo x {fd}>/dev/null", "{fd}>/dev/null"),
    refused(Kind::Redirection, "echo x {}>f", "{}>f"),
    refused(Kind::Redirection, "echo x {fd}<<'E'\nE", "{fd}<<'E'"),
    refused(Kind::Redirection, "echo x >/dev/nul", ">/dev/nul"),
    refused(Kind::Redirection, "echo x >/dev/null2", ">/dev/null2"),
    refused(Kind::Redirection, "echo x >/dev/null/../x", ">/dev/null/../x"),
    refused(Kind::Redirection, "echo x >/dev/nul?", ">/dev/nul?"),
    refused(Kind::Redirection, "echo x >'/dev/null '", ">'/dev/null '"),
    refused(Kind::Redirection, "echo x >'/dev/nul?'", ">'/dev/nul?'"),
    refused(Kind::Redirection, "echo x >/dev/nul?", ">/dev/nul?"),
    refused(Kind::Redirection, "echo x >/dev/tcp/h/1", ">/dev/tcp/h/1"),
    refused(Kind::Redirection, "echo x >", ">"),
    refused(Kind::Redirection, "echo x > ", ">"),
    refused(Kind::Redirection, "echo x > ; id", ">"),
    refused(Kind::Redirection, "echo x > >f", ">"),
    refused(Kind::Redirection, "echo x > #f", "> #f"),
    refused(Kind::Redirection, "echo x 2>é", "2>é"),
    refused(Kind::Redirection, "echo x >$f", ">$f"),
    refused(Kind::Redirection, "echo x >$(id) y", ">$(id)"),
    refused(Kind::Redirection, "echo x >~/{a,b}", ">~/{a,b}"),
    refused(Kind::UnclosedQuote, "echo x >'f", "'f"),
    refused(Kind::HereString, "cat <<<x", "<<<x"),
    refused(Kind::HereString, "cat <<< 'x'", "<<< 'x'"),
    refused(Kind::SecondInput, "cat </dev/null </dev/null", "</dev/null"),
];

const HERE_DOCUMENTS: &[Case] = &[
    refused(Kind::HereDocumentUnquoted, "cat <<EOF\n$(id)\nEOF", "<<EOF"),
    refused(Kind::HereDocumentUnquoted, "cat << EOF\nx\nEOF", "<< EOF"),
    refused(Kind::HereDocumentUnquoted, "cat <<-EOF\nx\nEOF", "<<-EOF"),
    refused(Kind::HereDocumentUnterminated, "cat <<'EOF'", "<<'EOF'"),
    refused(Kind::HereDocumentUnterminated, "cat <<'EOF'\n", "<<'EOF'"),
    refused(Kind::HereDocumentUnterminated, "cat <<'EOF'\nx\n EOF", "<<'EOF'"),
    refused(Kind::HereDocumentUnterminated, "cat <<'EOF'\nx\nEOF ", "<<'EOF'"),
    refused(Kind::HereDocumentUnterminated, "cat <<'EOF'\nx\nEOF\r", "<<'EOF'"),
    refused(Kind::HereDocumentUnterminated, "cat <<'EOF'\nx\n\tEOF", "<<'EOF'"),
    refused(Kind::HereDocumentUnterminated, "cat <<-'EOF'\nx\n\t EOF", "<<-'EOF'"),
    refused(Kind::HereDocumentTrailing, "cat <<'EOF'\nx\nEOF\nrm -rf x", "rm -rf x"),
    refused(Kind::HereDocumentTrailing, "cat <<'EOF'\nx\nEOF\n\n  id; ls\n", "id; ls"),
    refused(Kind::HereDocumentTrailing, "cat <<'EOF'\nx\nEOF\nEOF", "EOF"),
    refused(Kind::HereDocumentDelimiter, "cat <<''\nx\n\n", "<<''"),
    refused(Kind::HereDocumentDelimiter, "cat <<'a b'\nx\na b", "<<'a b'"),
    refused(Kind::HereDocumentDelimiter, "cat << -'EOF'\nx\n-EOF", "<< -'EOF'"),
    refused(Kind::HereDocumentDelimiter, "cat <<'é'\nx\né", "<<'é'"),
    refused(Kind::HereDocumentDelimiter, "cat <<$'EOF'\nx\nEOF", "<<$'EOF'"),
    refused(Kind::HereDocumentDelimiter, "cat <<\"$x\"\nx\n$x", "<<\"$x\""),
    refused(Kind::HereDocumentDelimiter, "cat <<", "<<"),
    refused(Kind::HereDocumentDelimiter, "cat <<\nx", "<<"),
    refused(Kind::UnclosedQuote, "cat <<'EOF\nx\nEOF", "'EOF\nx\nEOF"),
    refused(Kind::SecondInput, "cat <<'A' <<'B'\nA\nB", "<<'B'"),
    refused(Kind::SecondInput, "cat <<'A' | cat <<'B'\nA\nB", "<<'B'"),
    refused(Kind::SecondInput, "cat </dev/null <<'A'\nA", "<<'A'"),
    refused(Kind::SecondInput, "cat <<'A' </dev/null\nA", "</dev/null"),
    refused(Kind::Redirection, "cat 3<<'A'\nA", "3<<'A'"),
    refused(Kind::NewLine, "cat <<'A' 'x\ny'\nA", "\n"),
    refused(Kind::MissingCommand, "<<'A'\nA", "<<'A'"),
    refused(Kind::MissingCommand, "cat <<'A' |\nA", "|"),
    refused(Kind::CarriageReturn, "cat <<'EOF'\r\nx\r\nEOF\r\n", "\r"),
    refused(Kind::Control, "cat <<'EOF'\na\0b\nEOF", "\0"),
    refused(Kind::Redirection, "cat <<'EOF' >f\nx\nEOF", ">f"),
];

const JOINTS: &[Case] = &[
    refused(Kind::Background, "sleep 1 & id", "&"),
    refused(Kind::Background, "sleep 1 &", "&"),
    refused(Kind::Background, "sleep 1&", "&"),
    refused(Kind::Background, "&", "&"),
    refused(Kind::Background, "git status && & id", "&"),
    refused(Kind::Background, "git status &&& id", "&"),
    refused(Kind::PipeBoth, "git log |& cat", "|&"),
    refused(Kind::MissingCommand, "&& git", "&&"),
    refused(Kind::MissingCommand, "git &&", "&&"),
    refused(Kind::MissingCommand, "git || ", "||"),
    refused(Kind::MissingCommand, "git |", "|"),
    refused(Kind::MissingCommand, "git |\n", "|"),
    refused(Kind::MissingCommand, "| git", "|"),
    refused(Kind::MissingCommand, "; git", ";"),
    refused(Kind::MissingCommand, ";", ";"),
    refused(Kind::MissingCommand, "git ;; git", ";;"),
    refused(Kind::MissingCommand, "git ; ; git", ";"),
    refused(Kind::MissingCommand, "git && || git", "||"),
    refused(Kind::MissingCommand, "git ||| git", "|"),
    refused(Kind::MissingCommand, "git | | git", "|"),
    refused(Kind::MissingCommand, ">/dev/null", ">/dev/null"),
    refused(Kind::MissingCommand, "git; 2>&1", "2>&1"),
    refused(Kind::MissingCommand, "git ;& git", ";&"),
    refused(Kind::MissingCommand, "git;&>/dev/null git", ";&"),
    refused(Kind::MissingCommand, "git;;& git", ";;"),
    refused(Kind::PipeBoth, "git|&>/dev/null git", "|&"),
    refused(Kind::Empty, "", ""),
    refused(Kind::Empty, " \t\n ", ""),
];

const GRAMMAR: &[Case] = &[
    refused(Kind::Parenthesis, "(git status)", "(git status)"),
    refused(Kind::Parenthesis, "git (x)", "(x)"),
    refused(Kind::Parenthesis, "git x)", ")"),
    refused(Kind::Parenthesis, "git() { id; }", "()"),
    refused(Kind::Parenthesis, "git () { id; }", "()"),
    refused(Kind::Parenthesis, "((1+1))", "((1+1))"),
    refused(Kind::Parenthesis, "git; (id", "("),
    refused(Kind::Parenthesis, "echo a=(b)", "(b)"),
    refused(Kind::ReservedWord, "{ git; }", "{"),
    refused(Kind::ReservedWord, "}", "}"),
    refused(Kind::ReservedWord, "! git status", "!"),
    refused(Kind::ReservedWord, "git && ! git", "!"),
    refused(Kind::ReservedWord, "time git", "time"),
    refused(Kind::ReservedWord, "time -p git", "time"),
    refused(Kind::ReservedWord, "git | time git", "time"),
    refused(Kind::ReservedWord, "coproc git", "coproc"),
    refused(Kind::ReservedWord, "[[ -f x ]]", "[["),
    refused(Kind::ReservedWord, "if git; then id; fi", "if"),
    refused(Kind::ReservedWord, "then", "then"),
    refused(Kind::ReservedWord, "for x in a; do id; done", "for"),
    refused(Kind::ReservedWord, "while git; do id; done", "while"),
    refused(Kind::ReservedWord, "until git; do id; done", "until"),
    refused(Kind::ReservedWord, "case x in x) id;; esac", "case"),
    refused(Kind::ReservedWord, "select x in a; do id; done", "select"),
    refused(Kind::ReservedWord, "function git { id; }", "function"),
    refused(Kind::ReservedWord, "git; do", "do"),
    refused(Kind::ReservedWord, ">/dev/null if", "if"),
    refused(Kind::Comment, "# git", "# git"),
    refused(Kind::Comment, "git # status", "# status"),
    refused(Kind::Comment, "git;#x", "#x"),
    refused(Kind::Comment, "git #a\nid", "#a"),
    refused(Kind::Job, "%1", "%1"),
    refused(Kind::Job, "'%git' x", "'%git'"),
    refused(Kind::Job, "git; \\%", "\\%"),
];

const ASSIGNMENTS: &[Case] = &[
    refused(Kind::Assignment, "PATH=/tmp git status", "PATH=/tmp"),
    refused(Kind::Assignment, "a=b", "a=b"),
    refused(Kind::Assignment, "a= git", "a="),
    refused(Kind::Assignment, "a+=b git", "a+=b"),
    refused(Kind::Assignment, "a[0]=x git", "a[0]=x"),
    refused(Kind::Assignment, "a[0]+=x git", "a[0]+=x"),
    refused(Kind::Assignment, "a='x y' git", "a='x y'"),
    refused(Kind::Assignment, "_1=x git", "_1=x"),
    refused(Kind::Assignment, "git; LD_PRELOAD=x git", "LD_PRELOAD=x"),
    refused(Kind::Assignment, ">/dev/null a=b git", "a=b"),
    refused(Kind::Assignment, "a=(b c)", "a="),
    refused(Kind::Assignment, "a['x']=y git", "a['x']=y"),
    refused(Kind::GlobCommand, "a[0 ; git ]=x", "a[0"),
    refused(Kind::Arithmetic, "a=$[1] git", "$[1]"),
];

const CHARACTERS: &[Case] = &[
    refused(Kind::NewLine, "git status\nid", "\n"),
    refused(Kind::NewLine, "git status &&\ngit log", "\n"),
    refused(Kind::NewLine, "git status\n\n\nid", "\n"),
    refused(Kind::LineContinuation, "git \\\nstatus", "\\\n"),
    refused(Kind::LineContinuation, "git sta\\\ntus", "\\\n"),
    refused(Kind::LineContinuation, "git \"sta\\\ntus\"", "\\\n"),
    refused(Kind::LineContinuation, "git status \\\n", "\\\n"),
    refused(Kind::CarriageReturn, "git status\r", "\r"),
    refused(Kind::CarriageReturn, "git status\r\n", "\r"),
    refused(Kind::CarriageReturn, "git\rid", "\r"),
    refused(Kind::CarriageReturn, "git \\\r", "\r"),
    refused(Kind::Control, "git\0", "\0"),
    refused(Kind::Control, "git 'a\0b'", "\0"),
    refused(Kind::Control, "git \"a\0b\"", "\0"),
    refused(Kind::Control, "git a\u{1}b", "\u{1}"),
    refused(Kind::Control, "git '\u{1}'", "\u{1}"),
    refused(Kind::Control, "git \u{b}x", "\u{b}"),
    refused(Kind::Control, "git\u{c}x", "\u{c}"),
    refused(Kind::Control, "git \u{1b}[2J", "\u{1b}"),
    refused(Kind::Control, "git \u{7f}", "\u{7f}"),
    refused(Kind::Control, "git \"\u{7f}\"", "\u{7f}"),
    refused(Kind::Control, "git \u{85}x", "\u{85}"),
    refused(Kind::Control, "git \\\u{8}", "\u{8}"),
    refused(Kind::Blank, "git\u{a0}status", "\u{a0}"),
    refused(Kind::Blank, "\u{a0}git", "\u{a0}"),
    refused(Kind::Blank, "git \u{2003}x", "\u{2003}"),
    refused(Kind::Blank, "git \u{3000}x", "\u{3000}"),
    refused(Kind::Blank, "git\u{2028}id", "\u{2028}"),
    refused(Kind::Blank, "git \\\u{a0}", "\u{a0}"),
    refused(Kind::Blank, "git \u{2800}", "\u{2800}"),
    refused(Kind::Invisible, "git\u{200b}", "\u{200b}"),
    refused(Kind::Invisible, "\u{feff}git status", "\u{feff}"),
    refused(Kind::Invisible, "git a\u{202e}b", "\u{202e}"),
    refused(Kind::Invisible, "git a\u{2066}b", "\u{2066}"),
    refused(Kind::Invisible, "git \u{e0041}", "\u{e0041}"),
    refused(Kind::Invisible, "git a\u{ad}b", "\u{ad}"),
    refused(Kind::Invisible, "git \u{3164}", "\u{3164}"),
];

const QUOTES: &[Case] = &[
    refused(Kind::UnclosedQuote, "git 'a", "'a"),
    refused(Kind::UnclosedQuote, "git \"a", "\"a"),
    refused(Kind::UnclosedQuote, "git \"a\\\"", "\"a\\\""),
    refused(Kind::UnclosedQuote, "git 'a\\'b'", "'"),
    refused(Kind::UnclosedQuote, "git it's", "'s"),
    refused(Kind::UnclosedQuote, "git \"a\\", "\"a\\"),
    refused(Kind::UnfinishedEscape, "git \\", "\\"),
    refused(Kind::UnfinishedEscape, "git a\\", "\\"),
];

const BRACES_AND_TILDES: &[Case] = &[
    refused(Kind::Brace, "git {a,b}", "{a,b}"),
    refused(Kind::Brace, "git x{1..3}y", "{1..3}"),
    refused(Kind::Brace, "{git,status}", "{git,status}"),
    refused(Kind::Brace, "git -{-help,x}", "{-help,x}"),
    refused(Kind::Brace, "git {a", "{"),
    refused(Kind::Brace, "git {a,{b,c}}", "{a,{b,c}}"),
    refused(Kind::Brace, "git {'a',b}", "{'a',b}"),
    refused(Kind::Brace, "git {\"a b\"}", "{\"a b\"}"),
    refused(Kind::Brace, "git {}{a,b}", "{a,b}"),
    refused(Kind::Brace, "git {a},b}", "{a},b}"),
    refused(Kind::Brace, "git a{},b}", "{},b}"),
    refused(Kind::Brace, "git {a}','b}", "{a}','b}"),
    refused(Kind::Brace, "git {a}..{b}", "{a}..{b}"),
    refused(Kind::Brace, "git {}}", "{}}"),
    refused(Kind::Brace, "git {$x}", "{$x}"),
    refused(Kind::Tilde, "ls ~", "~"),
    refused(Kind::Tilde, "ls ~/x", "~/x"),
    refused(Kind::Tilde, "ls ~root/x", "~root/x"),
    refused(Kind::Tilde, "~/bin/git", "~/bin/git"),
    refused(Kind::Tilde, "ls ~+", "~+"),
    refused(Kind::Tilde, "make x=~/y", "~/y"),
    refused(Kind::Tilde, "make x=a:~/y", "~/y"),
    refused(Kind::Tilde, "make x+=~", "~"),
    refused(Kind::Tilde, "make x[0]=~", "~"),
    refused(Kind::Redirection, "ls >~/x", ">~/x"),
];

const GLOBS: &[Case] = &[
    refused(Kind::GlobCommand, "gi? status", "gi?"),
    refused(Kind::GlobCommand, "/usr/bin/g*t", "/usr/bin/g*t"),
    refused(Kind::GlobCommand, "*", "*"),
    refused(Kind::GlobCommand, "[g]it", "[g]it"),
    refused(Kind::GlobCommand, "git; ./x*", "./x*"),
    refused(Kind::GlobOption, "ls *", "*"),
    refused(Kind::GlobOption, "ls *.rs", "*.rs"),
    refused(Kind::GlobOption, "ls ?x", "?x"),
    refused(Kind::GlobOption, "ls [a-]x", "[a-]x"),
    refused(Kind::GlobOption, "ls ''*", "''*"),
    refused(Kind::GlobOption, "ls -*", "-*"),
    refused(Kind::GlobOption, "ls '-'*", "'-'*"),
    refused(Kind::GlobOption, "ls \\-*", "\\-*"),
    refused(Kind::GlobOption, "grep --include=*.rs x", "--include=*.rs"),
    refused(Kind::GlobOption, "find . -name *.rs", "*.rs"),
    refused(Kind::GlobOption, "git add -- *", "*"),
    refused(Kind::ExtendedGlob, "ls !(a)", "!(a)"),
    refused(Kind::ExtendedGlob, "ls a+(b|c)", "+(b|c)"),
    refused(Kind::ExtendedGlob, "ls @(a)", "@(a)"),
    refused(Kind::ExtendedGlob, "ls x?(a)", "?(a)"),
    refused(Kind::ExtendedGlob, "ls x*(a", "*("),
];

const BUILTINS: &[Case] = &[
    refused(Kind::Builtin, "eval 'git status'", "eval"),
    refused(Kind::Builtin, "exec git status", "exec"),
    refused(Kind::Builtin, "source x.sh", "source"),
    refused(Kind::Builtin, ". x.sh", "."),
    refused(Kind::Builtin, "alias git=rm; git x", "alias"),
    refused(Kind::Builtin, "export PATH=/tmp; git status", "export"),
    refused(Kind::Builtin, "'export' PATH=/tmp", "'export'"),
    refused(Kind::Builtin, "declare -x PATH=/tmp; git", "declare"),
    refused(Kind::Builtin, "typeset PATH=/tmp", "typeset"),
    refused(Kind::Builtin, "local x", "local"),
    refused(Kind::Builtin, "readonly PATH=/tmp", "readonly"),
    refused(Kind::Builtin, "git; set -k", "set"),
    refused(Kind::Builtin, "shopt -s extglob", "shopt"),
    refused(Kind::Builtin, "hash -p /tmp/evil git; git status", "hash"),
    refused(Kind::Builtin, "enable -f ./x.so x", "enable"),
    refused(Kind::Builtin, "trap 'id' EXIT", "trap"),
    refused(Kind::Builtin, "unset PATH", "unset"),
    refused(Kind::Builtin, "echo /tmp | read PATH", "read"),
    refused(Kind::Builtin, "mapfile -C id -c 1 x", "mapfile"),
    refused(Kind::Builtin, "readarray x", "readarray"),
    refused(Kind::Builtin, "command git status", "command"),
    refused(Kind::Builtin, "command", "command"),
    refused(Kind::Builtin, "command -p git", "command"),
    refused(Kind::Builtin, "command -pv git", "command"),
    refused(Kind::Builtin, "builtin eval id", "builtin"),
    refused(Kind::Builtin, "history -w /tmp/x", "history"),
    refused(Kind::Builtin, "fc -s", "fc"),
    refused(Kind::Builtin, "bind -x '\"a\": id'", "bind"),
    refused(Kind::Builtin, "compgen -C id", "compgen"),
    refused(Kind::Builtin, "complete -C id x", "complete"),
    refused(Kind::Builtin, "jobs -x id", "jobs"),
    refused(Kind::Builtin, "let 'a[$(id)]'", "let"),
    refused(Kind::Builtin, "getopts a PATH", "getopts"),
    refused(Kind::Builtin, "wait -p PATH -n", "wait"),
    refused(Kind::Builtin, "umask 0", "umask"),
    refused(Kind::Builtin, "ulimit -c 0", "ulimit"),
    refused(Kind::Builtin, "git && e'v'al x", "e'v'al"),
    refused(Kind::Builtin, ">/dev/null eval x", "eval"),
];

const EVALUATED: &[Case] = &[
    refused(Kind::EvaluatedArgument, "test -v 'a[$(id)]'", "'a[$(id)]'"),
    refused(Kind::EvaluatedArgument, "[ -v 'a[$(id)]' ]", "'a[$(id)]'"),
    refused(Kind::EvaluatedArgument, "[ ! -v 'a[`id`]' ]", "'a[`id`]'"),
    refused(Kind::EvaluatedArgument, "test -z x -a '-v' \"a[\\$(id)]\"", "\"a[\\$(id)]\""),
    refused(Kind::EvaluatedArgument, "test -v 'a[b]'", "'a[b]'"),
    refused(Kind::EvaluatedArgument, "test -v a*", "a*"),
    refused(Kind::EvaluatedArgument, "test -v a?", "a?"),
    refused(Kind::EvaluatedArgument, "'[' -R 'a[0]' ]", "'a[0]'"),
    refused(Kind::EvaluatedArgument, "printf -v PATH /tmp; git status", "-v"),
    refused(Kind::EvaluatedArgument, "printf -vPATH /tmp", "-vPATH"),
    refused(Kind::EvaluatedArgument, "printf '-v' 'a[$(id)]' x", "'-v'"),
    refused(Kind::EvaluatedArgument, "printf %n PATH; git status", "%n"),
    refused(Kind::EvaluatedArgument, "printf '%s%n' a PATH", "'%s%n'"),
    refused(Kind::EvaluatedArgument, "printf -- '%-5.3hhn' PATH", "'%-5.3hhn'"),
    refused(Kind::EvaluatedArgument, "printf '%(%n' PATH", "'%(%n'"),
    refused(Kind::EvaluatedArgument, "printf '%%%n' PATH", "'%%%n'"),
    refused(Kind::EvaluatedArgument, "printf '%5%%n' PATH", "'%5%%n'"),
    refused(Kind::EvaluatedArgument, "printf '%.%n' PATH", "'%.%n'"),
    refused(Kind::EvaluatedArgument, "printf '%Z%n' PATH", "'%Z%n'"),
    refused(Kind::EvaluatedArgument, "printf '%(%s)Z%n' PATH PATH", "'%(%s)Z%n'"),
    refused(Kind::EvaluatedArgument, "printf '%(%F)T%n' 0 PATH", "'%(%F)T%n'"),
    refused(Kind::EvaluatedArgument, "printf '100%' PATH", "'100%'"),
    refused(Kind::EvaluatedArgument, "printf a* PATH", "a*"),
    refused(Kind::EvaluatedArgument, "printf -- a* PATH", "a*"),
];

#[test]
fn whatever_the_shell_expands() {
    hold(EXPANSIONS);
}

#[test]
fn redirections_that_open_something() {
    hold(REDIRECTIONS);
}

#[test]
fn here_documents_that_are_expanded_open_or_followed() {
    hold(HERE_DOCUMENTS);
}

#[test]
fn joints_without_commands_and_commands_left_running() {
    hold(JOINTS);
}

#[test]
fn the_grammar_around_simple_commands() {
    hold(GRAMMAR);
}

#[test]
fn assignments() {
    hold(ASSIGNMENTS);
}

#[test]
fn characters_that_are_not_what_they_look_like() {
    hold(CHARACTERS);
}

#[test]
fn quotes_without_an_end() {
    hold(QUOTES);
}

#[test]
fn braces_and_home_directories() {
    hold(BRACES_AND_TILDES);
}

#[test]
fn globs_that_could_be_anything() {
    hold(GLOBS);
}

#[test]
fn builtins_that_change_the_rest_of_the_line() {
    hold(BUILTINS);
}

#[test]
fn arguments_that_the_shell_evaluates_or_assigns_to() {
    hold(EVALUATED);
}
