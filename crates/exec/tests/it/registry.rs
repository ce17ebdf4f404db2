//! A registry on this machine that speaks as the real ones do: files by their paths, over plain HTTP.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use metier_exec::{NetworkAccess, Registries, Registry};
use metier_proxy::Outside;

/// Writes a wheel, a package of npm and the lists of both into a folder, by the programs' own means.
const PACKAGES: &str = r#"
import base64, hashlib, io, json, os, sys, tarfile, zipfile
base = sys.argv[1]
def put(path, data):
    path = os.path.join(base, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'wb') as file: file.write(data)
def wheel(name, version, body, needs=()):
    file = f'{name}-{version}-py3-none-any.whl'
    info = f'{name}-{version}.dist-info'
    files = {f'{name}.py': body, f'{info}/WHEEL': 'Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
             f'{info}/METADATA': f'Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n' + ''.join(f'Requires-Dist: {n}\n' for n in needs)}
    files[f'{info}/RECORD'] = ''.join(f'{path},,\n' for path in [*files, f'{info}/RECORD'])
    out = io.BytesIO()
    with zipfile.ZipFile(out, 'w') as archive:
        for path, text in files.items(): archive.writestr(path, text)
    put(f'files/{file}', out.getvalue())
    put(f'simple/{name}/index.html', f'<a href="/files/{file}">{file}</a>'.encode())
wheel('greeting', '1.2.0', 'def greet():\n    import helperlib\n    return "hello from " + helperlib.WHO\n', ['helperlib'])
wheel('helperlib', '0.1', 'WHO = "helperlib"\n')
put('simple/sourceonly/index.html', b'<a href="/files/sourceonly-1.0.tar.gz">sourceonly-1.0.tar.gz</a>')
out = io.BytesIO()
manifest = {'name': 'padding', 'version': '1.0.0', 'main': 'index.js', 'scripts': {'postinstall': 'touch "$npm_config_cache/ran"'}}
with tarfile.open(fileobj=out, mode='w:gz') as archive:
    for path, text in {'package/package.json': json.dumps(manifest), 'package/index.js': 'module.exports = (t) => "..." + t;\n'}.items():
        entry = tarfile.TarInfo(path); entry.size = len(text)
        archive.addfile(entry, io.BytesIO(text.encode()))
put('padding/-/padding-1.0.0.tgz', out.getvalue())
integrity = 'sha512-' + base64.b64encode(hashlib.sha512(out.getvalue()).digest()).decode()
dist = {'tarball': 'http://npm.example/padding/-/padding-1.0.0.tgz', 'integrity': integrity}
put('padding/index.html', json.dumps({'name': 'padding', 'dist-tags': {'latest': '1.0.0'}, 'versions': {'1.0.0': {**manifest, 'hasInstallScript': True, 'dist': dist}}}).encode())
"#;

/// Who answers for every name.
pub(crate) struct Town {
    place: SocketAddr,
    /// Names that were looked up.
    pub(crate) asked: Arc<Mutex<Vec<String>>>,
}

impl Town {
    /// Puts the packages into this folder and serves it.
    pub(crate) fn open(folder: &std::path::Path) -> Self {
        let mut python = Command::new("python3");
        let mut python = python.arg("-").arg(folder).stdin(Stdio::piped()).spawn().unwrap();
        python.stdin.take().unwrap().write_all(PACKAGES.as_bytes()).unwrap();
        assert!(python.wait().unwrap().success());
        let mut files = BTreeMap::new();
        collect(folder, folder, &mut files);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let place = listener.local_addr().unwrap();
        let files = Arc::new(files);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let files = Arc::clone(&files);
                thread::spawn(move || serve(&stream, &files));
            }
        });
        Self { place, asked: Arc::default() }
    }

    /// The registries of this town.
    pub(crate) fn registries() -> Registries {
        Registries {
            python: Registry::new("http://pypi.example/simple", &[("pypi.example", 80)]).unwrap(),
            node: Registry::new("http://npm.example/", &[("npm.example", 80)]).unwrap(),
        }
    }

    /// The way there.
    pub(crate) fn way(&self) -> NetworkAccess {
        let outside = Streets { place: self.place, asked: Arc::clone(&self.asked) };
        NetworkAccess { outside: Arc::new(outside), approver: None }
    }
}

struct Streets {
    place: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Outside for Streets {
    fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        self.asked.lock().unwrap().push(name.to_owned());
        Ok(vec![IpAddr::V4(Ipv4Addr::new(203, 0, 113, 7))])
    }

    fn connect(&self, _: SocketAddr, timeout: Duration) -> io::Result<TcpStream> {
        TcpStream::connect_timeout(&self.place, timeout)
    }
}

fn collect(base: &std::path::Path, folder: &std::path::Path, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(base, &path, files);
        } else {
            let name = path.strip_prefix(base).unwrap().to_str().unwrap().to_owned();
            let name = name.strip_suffix("index.html").unwrap_or(&name);
            files.insert(name.trim_end_matches('/').to_owned(), std::fs::read(&path).unwrap());
        }
    }
}

fn serve(mut stream: &TcpStream, files: &BTreeMap<String, Vec<u8>>) {
    let mut lines = BufReader::new(stream).lines();
    let Some(Ok(first)) = lines.next() else { return };
    for line in lines.by_ref().map_while(Result::ok) {
        if line.is_empty() {
            break;
        }
    }
    let path = first.split(' ').nth(1).unwrap_or_default().trim_matches('/');
    let (status, body) = match files.get(path) {
        Some(body) => ("200 OK", body.as_slice()),
        None => ("404 Not Found", b"".as_slice()),
    };
    let kind = match (path.starts_with("simple"), path.contains('.')) {
        (true, _) => "text/html",
        (_, true) => "application/octet-stream",
        _ => "application/json",
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
}
