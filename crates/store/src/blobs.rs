//! Blobs: texts by content hash.

use crate::error::StoreError;
use crate::files::{check_file, check_folder, read_file, sync_file_system};
use crate::pack::{Form, MAX_TEXT_BYTES, PACK_FILE, Pack};
use autocomp_core::{ByHash, ContentHash};
use std::cell::RefCell;
use std::collections::{HashSet, VecDeque};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Shorter texts are kept as they are: packing them saves nothing.
const LEAST_PACKED_BYTES: usize = 200;

/// The folder of texts; beside the pack lie those of runs that older programs made, in a file
/// each.
pub(crate) const BLOBS: &str = "blobs";

/// The texts of a run. Cheap to clone; usable from many threads.
#[derive(Clone, Debug)]
pub struct Blobs {
    /// The run folder.
    folder: PathBuf,
    texts: Arc<Mutex<Texts>>,
}

#[derive(Debug)]
struct Texts {
    pack: Pack,
    /// Texts in files of their own that are there and whole.
    sound_files: HashSet<ContentHash>,
    /// Whether some of these may not be on the disk yet.
    has_unsynced_files: bool,
    /// Texts that were put or read lately.
    recent: Recent,
    /// The pack was made and its name may not be on the disk yet.
    is_new: bool,
    /// Whether there may be texts in files of their own.
    has_files: bool,
}

/// Texts that were used lately, up to a size.
#[derive(Debug, Default)]
struct Recent {
    texts: ByHash<Arc<str>>,
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
    /// Uses the texts of a run folder. Only one writer at a time may put any.
    ///
    /// # Errors
    /// The folder of texts or the pack is a link, a pipe or a device.
    pub(crate) fn new(folder: &Path, is_written: bool) -> Result<Self, StoreError> {
        let has_folder = check_folder(folder, BLOBS)?;
        let is_new = !(has_folder && check_file(folder, PACK_FILE, is_written)?);
        let root = folder.join(BLOBS);
        let entries = has_folder.then(|| fs::read_dir(&root).ok()).flatten();
        let mut kinds = entries
            .into_iter()
            .flatten()
            .filter_map(|entry| entry.ok()?.file_type().ok());
        let texts = Texts {
            has_files: kinds.any(|kind| kind.is_dir()),
            is_new,
            pack: Pack::new(folder, is_written),
            sound_files: HashSet::new(),
            has_unsynced_files: false,
            recent: Recent::default(),
        };
        Ok(Self {
            folder: folder.to_owned(),
            texts: Arc::new(Mutex::new(texts)),
        })
    }

    /// Returns the file that a program of format 3 or older kept a text in, by its path below the
    /// run folder.
    fn file_of(hash: ContentHash) -> String {
        let name = hash.to_string();
        format!("{BLOBS}/{}/{name}", &name[..2])
    }

    /// Returns whether there is such a file.
    fn has_file(&self, hash: ContentHash) -> bool {
        check_file(&self.folder, &Self::file_of(hash), false).unwrap_or_default()
    }

    fn texts(&self) -> MutexGuard<'_, Texts> {
        // Whoever panicked has left nothing half done: what can fail comes first.
        self.texts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a text and returns its name. Does nothing if it is there already
    /// and whole. It is in the file when the event that refers to it is
    /// [committed](crate::RunWriter::commit).
    ///
    /// # Errors
    /// No room, or no permission to write.
    pub fn put(&self, content: &[u8]) -> Result<ContentHash, StoreError> {
        let hash = ContentHash::of(content);
        let is_there = {
            let mut texts = self.texts();
            if let Ok(text) = str::from_utf8(content) {
                texts.recent.keep(hash, text);
            }
            if texts.pack.is_sound(&hash) || texts.sound_files.contains(&hash) {
                return Ok(hash);
            }
            texts.pack.has(&hash) || (texts.has_files && self.has_file(hash))
        };
        // A power cut may have left a text without its content.
        if is_there && self.get(hash).is_ok() {
            self.note(hash);
            return Ok(hash);
        }
        let packed = if content.len() < LEAST_PACKED_BYTES {
            None
        } else {
            let path = || self.folder.join(PACK_FILE);
            Some(pack(content).map_err(|error| StoreError::from_io("pack", &path(), &error))?)
        };
        let mut texts = self.texts();
        // Another thread may have been faster.
        if !texts.pack.is_sound(&hash) {
            match &packed {
                Some(packed) if packed.len() < content.len() => {
                    texts.pack.add(hash, Form::Packed, packed)?;
                }
                _ => texts.pack.add(hash, Form::Plain, content)?,
            }
        }
        Ok(hash)
    }

    /// Notes that a text is there and whole, but perhaps not yet on the disk.
    pub(crate) fn note(&self, hash: ContentHash) {
        let mut texts = self.texts();
        if texts.pack.has(&hash) {
            texts.pack.set_sound(&hash);
        } else if texts.sound_files.insert(hash) {
            texts.has_unsynced_files = true;
        }
    }

    /// Reads what another process, or an earlier one, has kept.
    pub(crate) fn read_on(&self) -> Result<(), StoreError> {
        self.texts().pack.read_on()
    }

    /// Returns whether there is a text of that name, whole or not.
    pub(crate) fn has(&self, hash: ContentHash) -> bool {
        self.texts().pack.has(&hash) || self.has_file(hash)
    }

    /// Removes what a process that died has left half written.
    pub(crate) fn cut(&self) -> Result<(), StoreError> {
        self.texts().pack.cut()
    }

    /// Writes the texts that were put since the last call.
    pub(crate) fn flush(&self) -> Result<(), StoreError> {
        self.texts().pack.flush()
    }

    /// Returns a text.
    ///
    /// # Errors
    /// [`StoreError::CorruptBlob`] if it is missing, cannot be unpacked, or is
    /// another text.
    pub fn get(&self, hash: ContentHash) -> Result<Vec<u8>, StoreError> {
        let kept = {
            let mut texts = self.texts();
            if !texts.pack.has(&hash) {
                texts.pack.read_on()?;
            }
            let path = texts.pack.path().to_owned();
            texts.pack.get(&hash).map(|kept| (path, kept))
        };
        let (path, kept) = match kept {
            Some(kept) => kept,
            None => {
                let name = Self::file_of(hash);
                let read = read_file(&self.folder, &name, MAX_TEXT_BYTES.into());
                let path = self.folder.join(&name);
                let missing = || StoreError::Missing { path: path.clone() };
                let kept = read.and_then(|bytes| Ok((bytes.ok_or_else(missing)?, Form::Packed)));
                (path, kept)
            }
        };
        let corrupt = |reason: String| StoreError::CorruptBlob {
            path: path.clone(),
            hash,
            reason,
        };
        let (bytes, form) = match kept {
            Err(StoreError::Missing { .. }) => return Err(corrupt("it is missing".to_owned())),
            kept => kept?,
        };
        let content = match form {
            Form::Plain => bytes,
            Form::Packed => {
                let mut content = Vec::new();
                zstd::stream::read::Decoder::new(bytes.as_slice())
                    .and_then(|decoder| {
                        decoder
                            .take(MAX_TEXT_BYTES.into())
                            .read_to_end(&mut content)
                    })
                    .map_err(|error| corrupt(format!("it cannot be unpacked ({error})")))?;
                content
            }
        };
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
        let recent = self.texts().recent.texts.get(&hash).map(Arc::clone);
        if let Some(text) = recent {
            return Ok((*text).to_owned());
        }
        let text = String::from_utf8(self.get(hash)?).map_err(|_| StoreError::CorruptBlob {
            path: self.folder.join(PACK_FILE),
            hash,
            reason: "it is not UTF-8 text".to_owned(),
        })?;
        self.texts().recent.keep(hash, &text);
        Ok(text)
    }

    /// Forces the texts written so far to the disk; others may be put meanwhile.
    pub(crate) fn sync(&self) -> Result<(), StoreError> {
        let (file, has_files, is_new) = {
            let mut texts = self.texts();
            let has_files = std::mem::take(&mut texts.has_unsynced_files);
            let is_new = std::mem::take(&mut texts.is_new);
            (texts.pack.handle()?, has_files, is_new)
        };
        let root = self.folder.join(BLOBS);
        let synced = file.sync_data().and_then(|()| {
            if is_new {
                fs::File::open(&root)?.sync_all()?;
            }
            if has_files {
                // One call for the whole file system costs one commit of its journal; one call
                // for each file costs one each, and with them seconds on a busy disk.
                sync_file_system(&fs::File::open(&root)?)?;
            }
            Ok(())
        });
        synced.map_err(|error| StoreError::from_io("sync", &self.folder.join(PACK_FILE), &error))
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
            None => packer.insert(zstd::bulk::Compressor::new(1)?),
        };
        packer.compress(content)
    })
}
