//! Real commands that change a project. Each runs bare and contained, and both have to leave the same tree.

/// One command.
pub(super) struct Row {
    /// The name in messages.
    pub(super) name: &'static str,
    /// Programs without which the row cannot run.
    pub(super) programs: &'static [&'static str],
    /// Shell lines that make the project.
    pub(super) setup: &'static str,
    /// Shell lines that change it.
    pub(super) command: &'static str,
}

const fn row(name: &'static str, setup: &'static str, command: &'static str) -> Row {
    Row { name, programs: &[], setup, command }
}

impl Row {
    const fn with(self, programs: &'static [&'static str]) -> Self {
        Self { programs, ..self }
    }
}

/// A tree with files, folders, links and permissions.
const TREE: &str = "mkdir -p docs src/deep/er empty; \
    printf 'one\\ntwo\\nthree\\n' > a.txt; printf 'b\\n' > b.txt; printf '# Docs\\n' > docs/index.md; \
    printf 'x\\n' > docs/old.md; printf 'fn main() {}\\n' > src/main.rs; printf 'deep\\n' > src/deep/er/d.txt; \
    printf '#!/bin/sh\\necho hi\\n' > run.sh; chmod 755 run.sh; ln -s docs/index.md link; ln -s missing dangling";

/// A repository with three commits on two branches.
const REPOSITORY: &str = "git init -q -b main .; printf 'one\\ntwo\\n' > a.txt; mkdir lib; printf 'l\\n' > lib/l.txt; \
    git add .; git commit -qm first; git checkout -qb topic; printf 'topic\\n' > topic.txt; git add .; git commit -qm topic; \
    git checkout -q main; printf 'three\\n' >> a.txt; git commit -qam second";

/// Commands on plain files.
pub(super) const FILES: &[Row] = &[
    row("mkdir -p", TREE, "mkdir -p out/dir"),
    row("mkdir with a mode", TREE, "mkdir -m 700 private; mkdir -m 755 public"),
    row("touch a new file", TREE, "touch z.txt"),
    row("write and append", TREE, "echo new > new.txt; echo more >> a.txt"),
    row("write into a new folder", TREE, "mkdir -p x/y; echo 1 > x/y/1; echo 2 > x/y/2"),
    row("tee", TREE, "echo t | tee docs/t.md > t2.md"),
    row("mv a file", TREE, "mv a.txt c.txt"),
    row("mv over a file", TREE, "mv a.txt b.txt"),
    row("mv into a folder", TREE, "mv a.txt b.txt docs/"),
    row("mv an existing folder", TREE, "mv docs manual"),
    row("mv a folder into a folder", TREE, "mv src/deep docs/"),
    row("mv a new folder", TREE, "mkdir n; echo n > n/n; mv n m"),
    row("swap two files", TREE, "mv a.txt t; mv b.txt a.txt; mv t b.txt"),
    row("rm a file", TREE, "rm a.txt"),
    row("rm -rf a folder", TREE, "rm -rf docs src"),
    row("rm -rf and make anew", TREE, "rm -rf docs; mkdir docs; echo new > docs/new.md"),
    row("rmdir", TREE, "rmdir empty"),
    row("find -delete", TREE, "find . -name '*.md' -delete"),
    row("a file becomes a folder", TREE, "rm a.txt; mkdir a.txt; echo in > a.txt/in"),
    row("a folder becomes a file", TREE, "rm -rf docs; echo file > docs"),
    row("a file becomes a link", TREE, "rm b.txt; ln -s a.txt b.txt"),
    row("a link becomes a file", TREE, "rm link; echo file > link"),
    row("write through a link", TREE, "echo through >> link"),
    row("ln -s", TREE, "ln -s docs d; ln -sfn src d; ln -s ../outside up"),
    row("ln", TREE, "echo h > h1; ln h1 h2"),
    row("chmod", TREE, "chmod +x a.txt; chmod 600 b.txt; chmod 750 docs"),
    row("cp -r", TREE, "cp -r src copy"),
    row("cp -a", TREE, "cp -a . ../copy-of-it 2>/dev/null; mkdir c; cp -a docs link dangling run.sh c/"),
    row("install", TREE, "install -D -m 755 run.sh bin/tool; install -m 644 a.txt docs/a.txt"),
    row("sed -i", TREE, "sed -i 's/two/2/' a.txt; sed -i 's/Docs/Manual/' docs/index.md"),
    row("perl -pi", TREE, "perl -pi -e 's/one/1/' a.txt").with(&["perl"]),
    row("ed", TREE, "printf '1d\\nw\\nq\\n' | ed -s a.txt").with(&["ed"]),
    row("vim saves", TREE, "vim -es -u NONE -c 'normal Goend' -c wq a.txt < /dev/null || true").with(&["vim"]),
    row(
        "an editor's atomic save",
        TREE,
        "python3 -c \"import os; open('.a.tmp','w').write('saved'); os.fsync(os.open('.a.tmp', os.O_RDONLY)); os.replace('.a.tmp','a.txt')\"",
    )
    .with(&["python3"]),
    row("patch", TREE, "printf -- '--- a.txt\\n+++ a.txt\\n@@ -1,3 +1,3 @@\\n one\\n-two\\n+2\\n three\\n' | patch -s -p0").with(&["patch"]),
    row("truncate and dd", TREE, "truncate -s 3 a.txt; printf 'Z' | dd of=b.txt bs=1 seek=1 conv=notrunc status=none"),
    row("split", TREE, "seq 100 > n; split -l 10 n part-; rm n"),
    row("tar out and in", TREE, "tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -cf all.tar docs src; mkdir in; tar --no-same-owner -xf all.tar -C in").with(&["tar"]),
    row("zip and unzip", TREE, "TZ=UTC zip -qrX all.zip docs; mkdir in; cd in; unzip -q ../all.zip").with(&["zip", "unzip"]),
    row("gzip in place", TREE, "gzip -n a.txt; gzip -n docs/*.md").with(&["gzip"]),
    row("rsync", TREE, "mkdir target-dir; rsync -a --delete docs/ target-dir/; rm docs/old.md; rsync -a --delete docs/ target-dir/").with(&["rsync"]),
    row("names with spaces, quotes and line ends", TREE, "touch 'a b' \"c'd\" 'e\"f' \"$(printf 'g\\nh')\" -- -i '*' 'é'"),
    row("names that are not UTF-8", TREE, "touch \"$(printf 'x\\377y')\"; mkdir \"$(printf 'd\\376')\"; echo 1 > \"$(printf 'd\\376')/f\""),
    row("a deep tree", TREE, "p=.; for i in $(seq 60); do p=$p/d; done; mkdir -p $p; echo deep > $p/f"),
    row("python writes many files", TREE, "python3 -c \"import os\nfor i in range(200):\n os.makedirs(f'many/{i%7}', exist_ok=True)\n open(f'many/{i%7}/{i}.txt','w').write('x'*i)\"").with(&["python3"]),
    row("python copies and removes trees", TREE, "python3 -c \"import shutil; shutil.copytree('src','s2'); shutil.rmtree('src'); shutil.move('docs','d2')\"").with(&["python3"]),
    row("python edits in place", TREE, "python3 -c \"f=open('a.txt','r+'); f.seek(4); f.write('TWO'); f.close()\"").with(&["python3"]),
    row("jq to a temporary file", "echo '{\"a\":1}' > p.json", "jq '.a=2' p.json > p.tmp && mv p.tmp p.json").with(&["jq"]),
    row("make", "printf 'out: in\\n\\tcp in out\\n' > Makefile; echo in > in", "make -s").with(&["make"]),
    row("a new database", TREE, "sqlite3 db.sqlite 'create table t(a); insert into t values (1),(2)'").with(&["sqlite3"]),
    row(
        "a database in WAL mode",
        "sqlite3 db.sqlite 'pragma journal_mode=wal; create table t(a); insert into t values (1)' > /dev/null",
        "sqlite3 db.sqlite 'insert into t values (2); update t set a=a+1'",
    )
    .with(&["sqlite3"]),
    row("a script reads what it wrote", TREE, "echo 1 > c; cat c c > cc; rm c; test ! -e c && cp cc c"),
    row("flock", TREE, "flock a.txt -c 'echo locked >> a.txt'"),
];

/// Commands of git.
pub(super) const GIT: &[Row] = &[
    row("git init", TREE, "git init -q ."),
    row("git init in a folder", TREE, "git init -q x"),
    row("git add", REPOSITORY, "echo n > n.txt; git add n.txt"),
    row("git commit", REPOSITORY, "echo n > n.txt; git add n.txt; git commit -qm third"),
    row("git commit --amend", REPOSITORY, "echo four >> a.txt; git commit -qa --amend -m amended"),
    row("git checkout", REPOSITORY, "git checkout -q topic"),
    row("git branch and tag", REPOSITORY, "git branch b1; git tag t1; git tag -a t2 -m two"),
    row("git merge", REPOSITORY, "git merge -q --no-edit topic"),
    row("git rebase", REPOSITORY, "git checkout -q topic; git rebase -q main"),
    row("git cherry-pick", REPOSITORY, "git cherry-pick topic > /dev/null"),
    row("git revert", REPOSITORY, "git revert --no-edit HEAD > /dev/null"),
    row(
        "git stash",
        REPOSITORY,
        "echo s >> a.txt; git stash -q; echo t > t; git stash -qu; git stash pop -q",
    ),
    row("git reset --hard", REPOSITORY, "echo s >> a.txt; git reset -q --hard HEAD~1"),
    row("git clean", REPOSITORY, "mkdir junk; echo j > junk/j; echo k > k; git clean -qfd; echo l > l"),
    row("git mv and rm", REPOSITORY, "git mv a.txt moved.txt; git rm -q lib/l.txt"),
    row("git mv a folder", REPOSITORY, "git mv lib library"),
    row(
        "git apply",
        REPOSITORY,
        "git diff topic main -- a.txt > p; git checkout -q topic; git apply p; rm p",
    ),
    row("git gc", REPOSITORY, "git gc -q"),
    row("git clone into the project", REPOSITORY, "git clone -q . clone"),
];

/// Package managers and compilers.
pub(super) const PACKAGES: &[Row] = &[
    row("npm init", "true", "npm init -y > /dev/null").with(&["npm"]),
    row(
        "npm install from a folder",
        "mkdir dep; echo '{\"name\":\"dep\",\"version\":\"1.0.0\"}' > dep/package.json; echo '{\"name\":\"p\",\"version\":\"1.0.0\"}' > package.json",
        "npm install --offline --no-audit --no-fund ./dep > /dev/null",
    )
    .with(&["npm"]),
    row("npm version", "echo '{\"name\":\"p\",\"version\":\"1.0.0\"}' > package.json", "npm version --no-git-tag-version patch > /dev/null").with(&["npm"]),
    row("node writes", TREE, "node -e \"const fs=require('fs'); fs.mkdirSync('n/m',{recursive:true}); fs.writeFileSync('n/m/f','x'); fs.renameSync('a.txt','n/a.txt'); fs.rmSync('docs',{recursive:true})\"").with(&["node"]),
    row("gcc", "printf 'int main(){return 0;}\\n' > m.c", "gcc -o m m.c").with(&["gcc"]),
    row("cargo new", "true", "cargo new -q --vcs none hello").with(&["cargo"]),
    row("cargo build", "cargo init -q --vcs none --name hello .", "cargo build -q --offline").with(&["cargo"]),
    row("python -m venv", "true", "python3 -m venv --without-pip env").with(&["python3"]),
];

/// Many files and large ones.
pub(super) const LARGE: &[Row] = &[
    row(
        "10,000 small files",
        "true",
        "python3 -c \"import os\nfor i in range(10000):\n d=f'f/{i//100}'\n os.makedirs(d, exist_ok=True)\n open(f'{d}/{i}','w').write(str(i))\"",
    )
    .with(&["python3"]),
    row(
        "1,000 changed files",
        "mkdir f; for i in $(seq 1000); do echo $i > f/$i; done",
        "for i in $(seq 1000); do echo changed $i > f/$i; done",
    ),
    row("a sparse file of 1 GiB", TREE, "truncate -s 1G sparse; printf end | dd of=sparse bs=1 seek=1073741000 conv=notrunc status=none"),
];

/// A tree in which some files and folders are closed to their owner, as git keeps its objects.
const CLOSED: &str = "mkdir -p d g p/q r; echo 1 > d/ro; echo 2 > d/other; echo x > p/x; echo y > p/q/y; echo r > r/r; \
    chmod 444 d/ro p/x; chmod 555 p/q p r";

/// Commands on files and folders that their owner may not write. Root may write everything, so these are for an ordinary user.
pub(super) const READ_ONLY: &[Row] = &[
    row("mv a read-only file", CLOSED, "mv d/ro e"),
    row("mv over a read-only file", CLOSED, "mv -f d/other d/ro"),
    row("mv a folder with a read-only file", CLOSED, "mv d e"),
    row("link to a read-only file", CLOSED, "ln d/ro hl"),
    row("write to a read-only file", CLOSED, "chmod u+w d/ro; echo 2 > d/ro; chmod 444 d/ro"),
    row("rm a read-only file", CLOSED, "rm -f d/ro"),
    row("touch a read-only file", CLOSED, "touch -d 2026-01-01 d/ro"),
    row("cp -a a read-only folder", CLOSED, "cp -a p p2"),
    row("mv a read-only folder", CLOSED, "mv p p2"),
    row("mv a folder with a read-only folder", CLOSED, "mkdir s; chmod 755 p; mv p s/; chmod 555 s/p"),
    row("write into a read-only folder", CLOSED, "chmod 755 p; echo 1 > p/y; chmod 555 p"),
    row(
        "write deep into read-only folders",
        CLOSED,
        "chmod 755 p/q; mkdir p/q/n; echo 1 > p/q/n/y; chmod 555 p/q",
    ),
    row("write into a folder and close it further", CLOSED, "chmod 755 p; echo 1 > p/y; chmod 500 p"),
    row("rm from a read-only folder", CLOSED, "chmod 755 p; rm -f p/x; chmod 555 p"),
    row("replace in a read-only folder", CLOSED, "chmod 755 p; echo new > p/t; mv -f p/t p/x; chmod 555 p"),
    row("rm -rf a read-only folder", CLOSED, "chmod -R u+w p; rm -rf p"),
    row("a read-only folder becomes a file", CLOSED, "chmod u+w r; rm -rf r; echo file > r"),
    row(
        "a read-only folder is made anew",
        CLOSED,
        "chmod u+w r; rm -rf r; mkdir r; echo n > r/n; chmod 555 r",
    ),
    row("open a read-only folder", CLOSED, "chmod 755 p; echo 1 > p/y"),
    row(
        "mv a folder with a repository",
        "mkdir g; cd g; git init -q -b main .; echo 1 > a; git add .; git commit -qm first",
        "mv g h",
    )
    .with(&["git"]),
];
