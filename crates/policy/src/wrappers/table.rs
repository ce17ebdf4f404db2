//! Programs that start others, by how they are told which: the one table.
//!
//! A row names programs, describes their options (see [`super::options`]) and says where the command is. A program that is
//! not here starts nothing as far as a rule can see.

use super::language::{self, Language};
use std::collections::HashMap;
use std::sync::LazyLock;

/// A row of the table.
#[derive(Debug)]
pub(super) struct Wrapper {
    /// Names, blanks between them.
    names: &'static str,
    pub(super) options: &'static str,
    pub(super) runs: Runs,
}

/// Where the command of a wrapper is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Runs {
    /// After the options and this many words.
    Words(usize),
    /// The same, after assignments such as `A=1`.
    Assigned,
    /// The same, and words that are read later are added to it.
    Appended,
    /// The words after this many are joined to a line.
    Line(usize),
    /// The words after this many are those of a shell.
    Shell(usize),
    /// Anywhere after the first of these words; without words, anywhere. The options are too many to describe.
    AnyAfter(&'static [&'static str]),
    /// Only in options.
    Options,
    /// In code, which is in an option, the first word, a file or the input.
    Code(&'static Language),
    /// It is a shell itself.
    Script,
    Find,
    Git,
}

const fn row(names: &'static str, options: &'static str, runs: Runs) -> Wrapper {
    Wrapper { names, options, runs }
}

/// Options of `setarch`, which has a name for each architecture.
const SETARCH: &str = "B F I L R S T X Z 3 v h. V. 32bit fdpic-funcptrs short-inode addr-compat-layout addr-no-randomize whole-seconds sticky-timeouts read-implies-exec mmap-page-zero 3gb 4gb uname-2.6 verbose list. show= $";

const ROWS: &[Wrapper] = &[
    // Shells.
    row(
        "sh ash bash dash fish ksh ksh93 lksh mksh oksh pdksh posh rbash rzsh yash zsh csh tcsh sash hush osh elvish nu xonsh rc es",
        "",
        Runs::Script,
    ),
    // The same program with something about it changed.
    row(
        "env genv",
        "i 0 v u: C: S& P: L: U: ignore-environment null unset: chdir: split-string& block-signal= default-signal= ignore-signal= list-signal-handling debug argv0: a: _",
        Runs::Assigned,
    ),
    row("nice gnice", "n: adjustment: #", Runs::Words(0)),
    row("nohup setsid", "c f w h. V. ctty fork wait", Runs::Words(0)),
    row(
        "timeout gtimeout",
        "f p v k: s: preserve-status foreground verbose kill-after: signal:",
        Runs::Words(1),
    ),
    row("stdbuf unbuffer", "i: o: e: input: output: error: p", Runs::Words(0)),
    row("ionice", "c: n: p: P: t u: h. V. class: classdata: pid: pgid: ignore uid:", Runs::Words(0)),
    row(
        "chrt",
        "b d f e i o r R T: P: D: a m p v h. V. batch deadline ext fifo idle other rr reset-on-fork sched-runtime: sched-period: sched-deadline: all-tasks max pid verbose",
        Runs::Words(1),
    ),
    row("taskset", "a p c h. V. all-tasks pid cpu-list", Runs::Words(1)),
    row("uclampset", "m: M: a s R p: v h. V.", Runs::Words(0)),
    row("schedtool", "N F R B I D M: n: a: v r. h. e", Runs::Words(0)),
    row(
        "numactl",
        "i: w: N: m: C: p: P: l b s. H. a t interleave: weighted-interleave: preferred: preferred-many: cpunodebind: physcpubind: membind: localalloc balancing show. hardware. all touch",
        Runs::Words(0),
    ),
    row("cpulimit", "l: p: e: P: z i b f v q", Runs::Words(0)),
    row(
        "prlimit",
        "p: o: h. V. c= d= e= f= i= l= m= n= q= r= s= t= u= v= x= y= core= data= nice= fsize= sigpending= memlock= rss= nofile= msgqueue= rtprio= stack= cpu= nproc= as= locks= rttime= pid: output: noheadings raw verbose",
        Runs::Words(0),
    ),
    row("setarch", SETARCH, Runs::Words(1)),
    row(
        "linux32 linux64 i386 i486 i586 i686 athlon x86_64 uname26 ppc ppc32 ppc64 ppcle ppc64le sparc sparc32 sparc32bash sparc64 s390 s390x parisc parisc32 parisc64 mips mips32 mips64 alpha arm armv7l armv8l aarch64 armh loongarch64 riscv32 riscv64 e2k",
        SETARCH,
        Runs::Words(0),
    ),
    row(
        "setpriv",
        "d h. V. dump nnp no-new-privs ambient-caps: inh-caps: bounding-set: ruid: euid: rgid: egid: reuid: regid: clear-groups keep-groups init-groups groups: list-caps securebits: pdeathsig: ptracer: selinux-label: apparmor-profile: landlock-access: landlock-rule: seccomp-filter: reset-env",
        Runs::Words(0),
    ),
    row(
        "unshare",
        "m= u= i= n= p= U= C= T= f r c R: w: S: G: l: h. V. mount= uts= ipc= net= pid= user= cgroup= time= fork map-user: map-group: map-root-user map-current-user map-auto map-subids map-users: map-groups: owner: kill-child= mount-proc= mount-binfmt= propagation: setgroups: keep-caps root: wd: setuid: setgid: load-interp: monotonic: boottime: forward-signals $",
        Runs::Words(0),
    ),
    row(
        "nsenter",
        "a t: m= u= i= n= p= C= U= T= S: G: r= w= W: F Z N: c e h. V. all target: mount= uts= ipc= net= pid= cgroup= user= user-parent time= setuid: setgid: preserve-credentials keep-caps root= wd= wdns: no-fork join-cgroup env net-socket: follow-context $",
        Runs::Words(0),
    ),
    row("chroot", "groups: userspec: skip-chdir g: G: u: n $", Runs::Words(1)),
    row("chpst", "v V P u: U: b: e: n: l: L: m: d: o: p: f: c: r: t: 0 1 2", Runs::Words(0)),
    row("softlimit", "a: c: d: f: l: m: o: p: r: s: t:", Runs::Words(0)),
    row("setuidgid envdir s6-setuidgid s6-envdir s6-softlimit gosu su-exec", "", Runs::Words(1)),
    row("setlock s6-setlock", "n N x X r w d t:", Runs::Words(1)),
    row("runcon", "c t: u: r: l: compute type: user: role: range:", Runs::Words(1)),
    row("cgexec", "g: sticky", Runs::Words(0)),
    row(
        "eatmydata catchsegv torsocks torify tsocks chronic dbus-launch ssh-agent fakechroot gpg-agent",
        "",
        Runs::AnyAfter(&[]),
    ),
    row("proxychains proxychains4", "q f:", Runs::Words(0)),
    row("trickle", "s h. V. v u: d: w: t: l: n: p: P:", Runs::Words(0)),
    row("faketime", "m f p: exclude-monotonic date-prog:", Runs::Words(1)),
    row(
        "fakeroot",
        "l: s: i: u b: h. v. lib: faked: save-file: load-file: unknown-is-real fd-base: $",
        Runs::Words(0),
    ),
    row("time gtime", "a p v V. q h. f: o: append portability verbose quiet format: output:", Runs::Words(0)),
    row("logsave", "a s v", Runs::Words(1)),
    row(
        "flock",
        "s x e u n w: E: o F c! h. V. shared exclusive unlock nonblock nb wait: timeout: conflict-exit-code: close command! no-fork fcntl verbose",
        Runs::Words(1),
    ),
    row("lckdo lockf", "k n s t: w W: x q e E: p", Runs::Words(1)),
    row("ifne errno", "n", Runs::Words(0)),
    row("rlwrap", "", Runs::AnyAfter(&[])),
    row(
        "dumb-init tini tini-static catatonit",
        "s v v. g w c r: p: h. single-child verbose rewrite:",
        Runs::Words(0),
    ),
    row(
        "xvfb-run",
        "a e: f: h. l n: p: s: w: auto-servernum error-file: auth-file: listen-tcp server-num: xauth-protocol: server-args: wait:",
        Runs::Words(0),
    ),
    row("dbus-run-session", "config-file: dbus-daemon: h.", Runs::Words(0)),
    row("coreutils gcoreutils", "coreutils-prog+ coreutils-prog-shebang+", Runs::Words(0)),
    row("busybox toybox uutils", "list. list-full. install s", Runs::Words(0)),
    row(
        "ld.so ld64.so",
        "library-path: preload: audit: argv0: inhibit-rpath: inhibit-cache list. verify. glibc-hwcaps-prepend: glibc-hwcaps-mask: list-tunables. list-diagnostics.",
        Runs::Words(0),
    ),
    row("command builtin exec", "p v. V. c l a:", Runs::Words(0)),
    // Other users.
    row(
        "sudo",
        "A B b E e H i k K. l. n N P S s v. V. C: D: g: h: p: R: r: T: t: U: u: askpass background bell preserve-env= edit set-home login reset-timestamp remove-timestamp. list. non-interactive no-update preserve-groups stdin shell validate. close-from: chdir: group: host: prompt: chroot: role: command-timeout: type: other-user: user: $",
        Runs::Assigned,
    ),
    row("doas", "L n s a: C: u: $", Runs::Words(0)),
    row(
        "pkexec run0",
        "u: user: g: group: disable-internal-agent keep-cwd nice: D: chdir: setenv: description: unit: property: slice: background: machine:",
        Runs::Words(0),
    ),
    row(
        "su",
        "m p w: g: G: l c! f s: P T h. V. preserve-environment whitelist-environment: group: supp-group: login command! session-command! fast shell: pty no-pty _ $",
        Runs::Shell(1),
    ),
    row(
        "runuser",
        "u: m p w: g: G: l c! f s: P T h. V. user: preserve-environment whitelist-environment: group: supp-group: login command! session-command! fast shell: pty no-pty _ $",
        Runs::Shell(1),
    ),
    row("sg newgrp", "c! _ $", Runs::Line(1)),
    row("capsh", "", Runs::AnyAfter(&[])),
    // Namespaces and boxes.
    row(
        "bwrap firejail proot systemd-nspawn systemd-run flatpak-spawn machinectl toolbox distrobox distrobox-enter lxc-attach lxc-execute schroot choom perf ltrace strace valgrind rr heaptrack gdbserver qemu-x86_64 qemu-aarch64 wine box64",
        "",
        Runs::AnyAfter(&[]),
    ),
    row(
        "docker podman nerdctl buildah crictl ctr lxc kubectl oc",
        "",
        Runs::AnyAfter(&["run", "exec", "create", "debug", "shell"]),
    ),
    // Lines by time, by lock, by event.
    row(
        "watch",
        "b c C d= e g n: p q: t w x h. v. beep color no-color differences= errexit chgexit equexit: interval: precise no-title no-wrap exec no-rerun",
        Runs::Line(0),
    ),
    row(
        "script",
        "I: O: B: T: t= m: a c! e f E: o: q h. V. log-in: log-out: log-io: log-timing: timing= logging-format: append command! return flush force echo: output-limit: quiet $",
        Runs::Shell(1),
    ),
    row("entr", "a c d n p r s! x z", Runs::Words(0)),
    row(
        "watchexec nodemon chokidar reflex hyperfine multitime pee concurrently npm-run-all",
        "",
        Runs::AnyAfter(&[]),
    ),
    row("at batch crontab", "f< t: q: m l. r. d. c. V. M v b e. i u:", Runs::Code(&language::LATER)),
    row("start-stop-daemon", "", Runs::AnyAfter(&[])),
    row(
        "daemon daemonize dtach abduco screen tmux zellij byobu xterm urxvt konsole gnome-terminal alacritty kitty foot openvt",
        "",
        Runs::AnyAfter(&[]),
    ),
    row("tcpdump", "z+", Runs::Options),
    // Lists of files and lines.
    row(
        "xargs gxargs",
        "0 a: d: E: e= I@ i= L: l= n: o p P: r s: t x S: J@ R: null arg-file: delimiter: eof= replace= max-lines= max-args: open-tty max-procs: interactive process-slot-var: no-run-if-empty max-chars: show-limits verbose exit",
        Runs::Appended,
    ),
    row("find gfind bfs", "", Runs::Find),
    row("fd fdfind", "x+ X+ exec+ exec-batch+", Runs::Find),
    row("parallel sem rush apply", "", Runs::AnyAfter(&[])),
    // Runners of packages.
    row("npx bunx uvx pipx", "", Runs::AnyAfter(&[])),
    row("asdf bundle direnv mise npm pyenv rbenv nodenv", "", Runs::AnyAfter(&["exec", "x"])),
    row("bun pnpm yarn", "", Runs::AnyAfter(&["x", "exec", "dlx"])),
    row(
        "conda mamba micromamba hatch pdm pipenv poetry rustup uv pixi rye op doppler infisical dotenvx devbox dagger",
        "",
        Runs::AnyAfter(&["run"]),
    ),
    row(
        "aws-vault chamber sops vault-exec teller",
        "",
        Runs::AnyAfter(&["exec", "exec-env", "exec-file", "run"]),
    ),
    row("nix guix", "", Runs::AnyAfter(&["run", "shell", "develop", "exec"])),
    row("nix-shell dotenv envchain", "", Runs::AnyAfter(&[])),
    row("cargo", "config~", Runs::Options),
    // Other machines. What runs there is not contained here, so a rule means it all the more.
    row(
        "ssh autossh slogin",
        "4 6 A a C f G g K k M N n q s T t V. v X x Y y B: b: c: D: E: e: F< I: i: J: L: l: m: O: o~ P: p: Q. R: S: W: w:",
        Runs::Line(1),
    ),
    row("scp sftp", "S+ o~ D! F< b<", Runs::Options),
    row("rsync", "e! rsh! rsync-path! M:", Runs::Options),
    row(
        "socat sshpass mosh et pssh dsh vagrant ansible gcloud flyctl heroku railway",
        "",
        Runs::AnyAfter(&[]),
    ),
    // Programs whose business is another one, with options that start something.
    row(
        "tar gtar bsdtar",
        "I! F! use-compress-program! to-command! checkpoint-action~ rsh-command! rmt-command! info-script! new-volume-script!",
        Runs::Options,
    ),
    row("cpio", "rsh-command! H:", Runs::Options),
    row("split gsplit", "filter!", Runs::Options),
    row("sort gsort", "compress-program!", Runs::Options),
    row("zip", "T TT! unzip-command! -", Runs::Options),
    row("man", "P! H! T: pager! html! browser!", Runs::Options),
    row("wget", "use-askpass+ e~ execute~", Runs::Options),
    row("curl", "K<", Runs::Options),
    row("nc netcat ncat", "e! c! exec! sh-exec! lua-exec!", Runs::Options),
    row("gcc g++ cc c++ clang clang++ cpp", "- wrapper+", Runs::Options),
    row("rustc", "C~ codegen~", Runs::Options),
    row("go", "exec! toolexec! vettool+ -", Runs::Options),
    row("apt apt-get aptitude dpkg dpkg-query", "o~ option~ c<", Runs::Options),
    row("svn", "editor-cmd! diff-cmd! diff3-cmd! config-option~", Runs::Options),
    row("hg chg", "config~ ssh! remotecmd! e! tool+", Runs::Options),
    row("pwsh powershell", "- c! command! Command! CommandWithArgs!", Runs::Options),
    row("git", "", Runs::Git),
    row(
        "make gmake bmake ninja",
        "f< file< makefile< E% eval% C: directory: I: include-dir: o: W: old-file: what-if:",
        Runs::Code(&language::MAKE),
    ),
    // Languages.
    row(
        "awk gawk mawk nawk original-awk goawk",
        "F: v: f< e% E< i: l: W: field-separator: assign: file< source% exec< include: load: d= D= o= p= L=",
        Runs::Code(&language::AWK),
    ),
    row(
        "sed gsed ssed",
        "n E r s u z b e% f< l: i= expression% file< line-length: in-place= quiet silent debug posix sandbox separate unbuffered null-data regexp-extended follow-symlinks",
        Runs::Code(&language::SED),
    ),
    row(
        "vi vim view vimdiff rvim gvim nvim ex ed red neovide",
        "c% cmd% S< s< u< T: t: q: w: W: r:",
        Runs::Code(&language::EDITOR),
    ),
    row(
        "emacs emacsclient",
        "e% eval% execute% l< load< script< - Q q batch f:",
        Runs::Code(&language::SCRIPTS),
    ),
    row(
        "gdb lldb cgdb",
        "- ex% eval-command% iex% init-eval-command% o% O% one-line% one-line-before-file% x< command< ix< init-command< s< source< args p: pid: c: core: d: directory: batch q quiet nx nh",
        Runs::Code(&language::DEBUGGER),
    ),
    row(
        "python pypy ipython jython micropython",
        "b B d E h. i I m: O P q R s S u v V. W: x X: Q: c%",
        Runs::Code(&language::SCRIPTS),
    ),
    row(
        "perl",
        "a c C= d= D= e% E% f F: h. i= I: l m: M: n p s S t T u U v. V. w W x= X",
        Runs::Code(&language::SCRIPTS),
    ),
    row(
        "ruby jruby rbx",
        "a c C: d e% E: F: h. i= I: l n p r: R s S U v. w W= x= X: y",
        Runs::Code(&language::SCRIPTS),
    ),
    row(
        "node nodejs deno bun-eval",
        "e% p% eval% print% r: require: import: v. h. c check i interactive input-type: C: conditions: loader: test env-file:",
        Runs::Code(&language::SCRIPTS),
    ),
    row(
        "php php-cgi",
        "a b: B% c: C d: D: e E% f< F< g: h. H i. l m. n q R% r% s S: t: T: v. w z: run% file<",
        Runs::Code(&language::SCRIPTS),
    ),
    row("lua luajit luau", "e% l: i v. E W", Runs::Code(&language::SCRIPTS)),
    row("tclsh wish expect expectk", "c% f< b< d n N v. i", Runs::Code(&language::SCRIPTS)),
    row(
        "Rscript R octave julia guile racket clojure bb scala groovy elixir erl ghci ghc runghc osascript gnuplot maxima sage",
        "e% eval% E% print% f< file< c% expr% L: v. q",
        Runs::Code(&language::SCRIPTS),
    ),
    row(
        "sqlite3 sqlite psql mysql mariadb mongosh mongo duckdb redis-cli ftp lftp telnet mail mailx dc bc",
        "- c% command% cmd% e% execute% f< file< init< set: v: eval% h: U: d: p: u: P: D:",
        Runs::Code(&language::CONSOLE),
    ),
];

/// The beginnings of the names of the loader of programs, which starts the program named after it.
const LOADERS: &[&str] = &["ld-linux", "ld-musl", "ld-", "ld.so", "ld64.so"];

static INDEX: LazyLock<HashMap<&'static str, &'static Wrapper>> = LazyLock::new(|| {
    ROWS.iter().flat_map(|row| row.names.split_ascii_whitespace().map(move |name| (name, row))).collect()
});

/// The row of a program, by its name without the folder.
pub(super) fn find(name: &str) -> Option<&'static Wrapper> {
    let index = &*INDEX;
    if let Some(row) = index.get(name) {
        return Some(row);
    }
    if name.contains(".so") && LOADERS.iter().any(|loader| name.starts_with(loader)) {
        return index.get("ld.so").copied();
    }
    // `python3.11`, `vim.basic`, `bash-5.2`: the same program in another edition.
    let short = name.split(['.', '-']).next().unwrap_or(name);
    let plain = short.trim_end_matches(|c: char| c.is_ascii_digit());
    index.get(short).or_else(|| index.get(plain)).copied().filter(|_| is_edition(name, plain))
}

/// Whether a name is another with a version or the name of a variant of Debian's after it.
fn is_edition(name: &str, plain: &str) -> bool {
    let Some(end) = name.strip_prefix(plain) else { return false };
    let variants = [".basic", ".tiny", ".nox", ".gtk3", ".static", ".openbsd", ".traditional", ".distrib"];
    variants.contains(&end) || end.chars().all(|c| c.is_ascii_digit() || c == '.' || c == '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_found_in_every_edition() {
        for name in
            ["env", "python3", "python3.11", "vim.basic", "ld-linux-x86-64.so.2", "bash-5.2", "tclsh8.6"]
        {
            assert!(find(name).is_some(), "{name}");
        }
        for name in ["ls", "env-update", "python-config", "gitk", "node-gyp", "shred", "makepkg", "ld"] {
            assert!(find(name).is_none(), "{name}");
        }
    }

    #[test]
    fn no_name_has_two_rows() {
        let names = ROWS.iter().flat_map(|row| row.names.split_ascii_whitespace()).count();
        assert_eq!(names, INDEX.len());
    }
}
