//! Blobs: texts by content hash.

use crate::error::StoreError;
use autocomp_core::ContentHash;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet, VecDeque};
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Longest text that is read back, in bytes: a guard against damaged or forged files.
const MAX_BLOB_BYTES: u64 = 256 << 20;

/// The texts of a run. Cheap to clone; usable from many threads.
#[derive(Clone, Debug)]
pub struct Blobs {
    root: PathBuf,
    written: Arc<Mutex<Written>>,
}

/// What this process knows of the files.
#[derive(Debug, Default)]
struct Written {
    /// Texts that are there and whole.
    sound: HashSet<ContentHash>,
    /// Files written since the last [`Blobs::sync`].
    unsynced: Vec<PathBuf>,
    /// Texts that were put or read lately.
    recent: Recent,
    /// Folders that are there.
    folders: HashSet<u8>,
}

/// Texts that were used lately, up to a size.
#[derive(Debug, Default)]
struct Recent {
    texts: HashMap<ContentHash, Arc<str>>,
    /// The same, the oldest first.
    order: VecDeque<ContentHash>,
    bytes: usize,
}

/// How much of recent texts is kept in memory, in bytes.
const RECENT_BYTES: usize = 16 << 20;

impl Recent {
    fn keep(&mut self, hash: ContentHash, text: &str) {
        if RECENT_BYTES / 8 < text.len() || self.texts.contains_key(&hash) {
            return;
        }
        self.bytes += text.len();
        self.texts.insert(hash, text.into());
        self.order.push_back(hash);
        while RECENT_BYTES < self.bytes
            && let Some(oldest) = self.order.pop_front()
        {
            let text = self.texts.remove(&oldest);
            self.bytes -= text.map_or(0, |text| text.len());
        }
    }
}

impl Blobs {
    pub(crate) fn new(root: PathBuf) -> Self {
        Self {
            root,
            written: Arc::default(),
        }
    }

    /// Returns the file that holds a text.
    #[must_use]
    pub fn path(&self, hash: ContentHash) -> PathBuf {
        let name = hash.to_string();
        self.root.join(&name[..2]).join(name)
    }

    fn written(&self) -> MutexGuard<'_, Written> {
        // Whoever panicked has left a set and a list, which are never half done.
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a text and returns its name. Does nothing if it is there already
    /// and whole.
    ///
    /// # Errors
    /// No room, or no permission to write.
    pub fn put(&self, content: &[u8]) -> Result<ContentHash, StoreError> {
        let hash = ContentHash::of(content);
        {
            let mut written = self.written();
            if let Ok(text) = str::from_utf8(content) {
                written.recent.keep(hash, text);
            }
            if written.sound.contains(&hash) {
                return Ok(hash);
            }
        }
        let path = self.path(hash);
        // A power cut may have left a file without its content.
        if path.exists() && self.get(hash).is_ok() {
            self.note(hash);
            return Ok(hash);
        }
        self.write(hash, &path, content)
            .map_err(|error| StoreError::from_io("write", &path, &error))?;
        self.note(hash);
        Ok(hash)
    }

    /// Notes that a text is there and whole, but perhaps not yet on the disk.
    pub(crate) fn note(&self, hash: ContentHash) {
        let path = self.path(hash);
        let mut written = self.written();
        if written.sound.insert(hash) {
            written.unsynced.push(path);
        }
    }

    fn write(&self, hash: ContentHash, path: &Path, content: &[u8]) -> io::Result<()> {
        if !self.written().folders.contains(&hash.0[0]) {
            fs::create_dir_all(path.parent().unwrap_or(&self.root))?;
            self.written().folders.insert(hash.0[0]);
        }
        let packed = pack(content)?;
        // A reader sees the whole file or none: written aside, then renamed.
        // The name is unique to process and thread; two writers of one hash
        // write the same bytes.
        let thread = format!("{:?}", std::thread::current().id());
        let thread: String = thread.chars().filter(char::is_ascii_digit).collect();
        let aside = path.with_extension(format!("{}-{thread}.tmp", std::process::id()));
        let written = fs::File::create(&aside)
            .and_then(|mut file| file.write_all(&packed))
            .and_then(|()| fs::rename(&aside, path));
        if written.is_err() {
            // Best effort: the error to report is the one above.
            let _ = fs::remove_file(&aside);
        }
        written
    }

    /// Returns a text.
    ///
    /// # Errors
    /// [`StoreError::CorruptBlob`] if the file is missing, cannot be unpacked,
    /// or holds another text.
    pub fn get(&self, hash: ContentHash) -> Result<Vec<u8>, StoreError> {
        let path = self.path(hash);
        let corrupt = |reason: String| StoreError::CorruptBlob {
            path: path.clone(),
            hash,
            reason,
        };
        let packed = match fs::read(&path) {
            Ok(packed) => packed,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(corrupt("the file is missing".to_owned()));
            }
            Err(error) => return Err(StoreError::from_io("read", &path, &error)),
        };
        let mut content = Vec::new();
        zstd::stream::read::Decoder::new(packed.as_slice())
            .and_then(|decoder| decoder.take(MAX_BLOB_BYTES).read_to_end(&mut content))
            .map_err(|error| corrupt(format!("it cannot be unpacked ({error})")))?;
        if ContentHash::of(&content) != hash {
            return Err(corrupt("its content does not match its name".to_owned()));
        }
        Ok(content)
    }

    /// Returns a text as a string; from memory if this process put or read it
    /// lately.
    ///
    /// # Errors
    /// As [`Blobs::get`], or the text is not UTF-8.
    pub fn get_text(&self, hash: ContentHash) -> Result<String, StoreError> {
        let recent = self.written().recent.texts.get(&hash).map(Arc::clone);
        if let Some(text) = recent {
            return Ok((*text).to_owned());
        }
        let text = String::from_utf8(self.get(hash)?).map_err(|_| StoreError::CorruptBlob {
            path: self.path(hash),
            hash,
            reason: "it is not UTF-8 text".to_owned(),
        })?;
        self.written().recent.keep(hash, &text);
        Ok(text)
    }

    /// Forces the texts written since the last call to the disk.
    pub(crate) fn sync(&self) -> Result<(), StoreError> {
        let paths = std::mem::take(&mut self.written().unsynced);
        if paths.is_empty() {
            return Ok(());
        }
        sync_files(&self.root, &paths)
    }
}

thread_local! {
    /// Making one costs more than packing a kernel.
    static PACKER: RefCell<Option<zstd::bulk::Compressor<'static>>> = const { RefCell::new(None) };
}

fn pack(content: &[u8]) -> io::Result<Vec<u8>> {
    PACKER.with_borrow_mut(|packer| {
        let packer = match packer {
            Some(packer) => packer,
            None => packer.insert(zstd::bulk::Compressor::new(3)?),
        };
        packer.compress(content)
    })
}

/// Forces `paths`, files somewhere under `root`, to the disk. One call for the
/// whole file system costs one commit of its journal; one call for each file
/// costs one each, and with them seconds on a busy disk.
#[cfg(target_os = "linux")]
fn sync_files(root: &Path, _paths: &[PathBuf]) -> Result<(), StoreError> {
    let synced = fs::File::open(root).and_then(|folder| Ok(rustix::fs::syncfs(folder)?));
    synced.map_err(|error| StoreError::from_io("sync", root, &error))
}

#[cfg(not(target_os = "linux"))]
fn sync_files(root: &Path, paths: &[PathBuf]) -> Result<(), StoreError> {
    let mut folders: Vec<&Path> = paths.iter().filter_map(|path| path.parent()).collect();
    folders.push(root);
    folders.sort();
    folders.dedup();
    for path in paths.iter().map(PathBuf::as_path).chain(folders) {
        fs::File::open(path)
            .and_then(|file| file.sync_all())
            .map_err(|error| StoreError::from_io("sync", path, &error))?;
    }
    Ok(())
}
