//! Filling the folders that can be written. Bounded by `--bytes` and `--files`.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::answer::{Answer, Step, Stop, held};
use crate::arguments::Arguments;
use crate::kernel::call;
use crate::probe::{Class, Ending, Probe};

const fn limit(name: &'static str, tries: &'static str, run: fn(&Arguments) -> Answer) -> Probe {
    Probe::plain(Class::Limit, name, tries, run).ending(Ending::Stopped)
}

pub(crate) const PROBES: &[Probe] = &[
    limit("disk-scratch", "fills the scratch folder", scratch),
    limit("disk-scratch-reserve", "reserves room in the scratch folder", reserve),
    limit("disk-scratch-tiny", "makes many tiny files in the scratch folder", scratch_tiny),
    limit("disk-data", "fills the data folder", data),
    limit("disk-data-many", "fills the data folder by many files", data_many),
    limit("disk-data-removed", "fills it with files that have no name any more", data_removed),
    limit("disk-data-tiny", "makes many tiny files in the data folder", data_tiny),
    limit("disk-data-reserve", "reserves room in the data folder", data_reserve),
    limit("disk-sparse", "makes one file that looks huge", sparse),
];

/// No bound may be larger, whatever is asked for.
const MAX_BYTES: u64 = 2 << 30;
const MAX_FILES: u64 = 200_000;

/// How many names one file gets.
const NAMES_OF_ONE: u64 = 100;

pub(super) fn bytes(arguments: &Arguments) -> Result<u64, Stop> {
    arguments.number("bytes").map(|bytes| bytes.min(MAX_BYTES))
}

/// A folder of this probe's own in one that can be written; removed when it is done.
pub(super) struct Corner(pub(super) PathBuf);

impl Corner {
    pub(super) fn new(folder: &Path) -> Result<Self, Stop> {
        let corner = folder.join("probe-fill");
        let _ = std::fs::remove_dir_all(&corner);
        std::fs::create_dir(&corner).prepare("make a folder")?;
        Ok(Self(corner))
    }
}

impl Drop for Corner {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Who sums up folders looks several times a second; what is gone before was not there.
pub(super) fn hold() {
    std::thread::sleep(std::time::Duration::from_millis(1500));
}

/// Writes so many bytes into a folder, in files of at most this size, each of which is handed on when it is full.
pub(super) fn fill(wanted: u64, largest: u64, folder: &Path, mut done: impl FnMut(&Path, File)) -> Answer {
    let mut written = 0_u64;
    let mut number = 0;
    while written < wanted {
        let path = folder.join(number.to_string());
        let size = largest.min(wanted - written);
        let file = fill_file(&path, size)?;
        written += size;
        done(&path, file);
        number += 1;
    }
    hold();
    Ok(format!("{written} bytes"))
}

/// Makes a file with so many bytes.
pub(super) fn fill_file(path: &Path, size: u64) -> Result<File, Stop> {
    let chunk = vec![0x5f_u8; 1 << 20];
    // To be read, too: it may be mapped afterwards.
    let mut options = File::options();
    let options = options.read(true).write(true).create(true).truncate(true);
    let mut file = options.open(path).attempt("make a file")?;
    let mut left = size;
    while left > 0 {
        let piece = left.min(chunk.len() as u64) as usize;
        let length = file.write(&chunk[..piece]).attempt(&format!("{left} bytes before its end"))?;
        left -= length as u64;
    }
    Ok(file)
}

fn scratch(arguments: &Arguments) -> Answer {
    let corner = Corner::new(&Arguments::scratch())?;
    fill(bytes(arguments)?, 8 << 20, &corner.0, |_, _| ())
}

fn data(arguments: &Arguments) -> Answer {
    let corner = Corner::new(&arguments.path("data")?)?;
    fill(bytes(arguments)?, u64::MAX, &corner.0, |_, _| ())
}

fn data_many(arguments: &Arguments) -> Answer {
    let corner = Corner::new(&arguments.path("data")?)?;
    fill(bytes(arguments)?, 4 << 20, &corner.0, |_, _| ())
}

fn data_removed(arguments: &Arguments) -> Answer {
    let corner = Corner::new(&arguments.path("data")?)?;
    let mut kept = Vec::new();
    fill(bytes(arguments)?, 4 << 20, &corner.0, |path, file| {
        // Whoever sums up names sees nothing of it.
        let _ = std::fs::remove_file(path);
        kept.push(file);
    })
}

fn reserve_in(folder: &Path, arguments: &Arguments) -> Answer {
    use std::os::fd::AsRawFd as _;
    let corner = Corner::new(folder)?;
    let wanted = bytes(arguments)?;
    let each = 8 << 20;
    let mut kept = Vec::new();
    while kept.len() as u64 * each < wanted {
        let file = File::create(corner.0.join(kept.len().to_string())).attempt("make a file")?;
        call(libc::SYS_fallocate, &[file.as_raw_fd() as usize, 0, 0, each as usize])
            .attempt(&format!("after {} bytes", kept.len() as u64 * each))?;
        kept.push(file);
    }
    hold();
    Ok(format!("{} bytes", kept.len() as u64 * each))
}

fn reserve(arguments: &Arguments) -> Answer {
    reserve_in(&Arguments::scratch(), arguments)
}

fn data_reserve(arguments: &Arguments) -> Answer {
    reserve_in(&arguments.path("data")?, arguments)
}

fn tiny_in(folder: &Path, arguments: &Arguments) -> Answer {
    let corner = Corner::new(folder)?;
    let wanted = arguments.number("files")?.min(MAX_FILES);
    // Most are further names of a file: some file systems take a millisecond for a new one, and it is names that have to
    // be counted.
    let mut first = corner.0.join("0");
    for number in 0..wanted {
        let path = corner.0.join(number.to_string());
        let made = if number % NAMES_OF_ONE == 0 {
            first.clone_from(&path);
            File::create(path).map(drop)
        } else {
            std::fs::hard_link(&first, path)
        };
        made.attempt(&format!("file {number}"))?;
    }
    hold();
    Ok(format!("{wanted} names"))
}

fn scratch_tiny(arguments: &Arguments) -> Answer {
    tiny_in(&Arguments::scratch(), arguments)
}

fn data_tiny(arguments: &Arguments) -> Answer {
    tiny_in(&arguments.path("data")?, arguments)
}

fn sparse(arguments: &Arguments) -> Answer {
    let corner = Corner::new(&arguments.path("data")?)?;
    let path = corner.0.join("sparse");
    // A file of nothing but its size; what reads it or copies it pays for all of it.
    let size = 64_u64 << 30;
    let file = File::create(&path).prepare("make a file")?;
    file.set_len(size).attempt("ftruncate")?;
    let found = file.metadata().prepare("stat")?.len();
    if found == size { Ok(format!("{size} bytes")) } else { held(format!("{found} bytes")) }
}
