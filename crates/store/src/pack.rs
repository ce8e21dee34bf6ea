//! The pack: the texts of a run, one after the other in one file.
//!
//! A record is a head of [`HEAD`] bytes and the text as it is kept. Records are
//! only ever added at the end, and those that wait are written at once, so that
//! a text costs no call of the system of its own. Whoever reads while another
//! process writes reads on from where it stopped. What a process that died or a
//! power cut leaves behind the last whole record is cut off by the next writer.

use crate::error::StoreError;
use crate::files::{Use, check_file, open_file};
use autocomp_core::{ByHash, ContentHash};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Bytes of a record's head: the hash of the text, how many bytes follow, how
/// they are kept, and a check of all this.
const HEAD: usize = 40;

/// The file, by its path below the run folder.
pub(crate) const PACK_FILE: &str = "blobs/pack";

/// Longest text, in bytes: a guard against damaged or forged files.
pub(crate) const MAX_TEXT_BYTES: u32 = 64 << 20;

/// Bytes that wait at most before they are written without being asked for.
const MOST_WAITING: usize = 4 << 20;

/// How a text is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// As it is.
    Plain,
    /// Compressed with zstd.
    Packed,
}

/// Where a text is.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// Of the text itself, behind the head.
    offset: u64,
    length: u32,
    form: Form,
    /// Whether this process wrote it, or has read it whole.
    is_sound: bool,
}

/// The file, what is known to be in it, and what is still to be written.
#[derive(Debug)]
pub(crate) struct Pack {
    folder: PathBuf,
    path: PathBuf,
    file: Option<File>,
    places: ByHash<Place>,
    /// Where the last whole record that was read or written ends.
    end: u64,
    /// Records that follow there.
    waiting: Vec<u8>,
    is_written: bool,
}

impl Pack {
    /// Uses the file of a run folder, which need not exist. Nothing is read or written yet.
    pub(crate) fn new(folder: &Path, is_written: bool) -> Self {
        Self {
            path: folder.join(PACK_FILE),
            folder: folder.to_owned(),
            file: None,
            places: ByHash::default(),
            end: 0,
            waiting: Vec::new(),
            is_written,
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    fn file(&mut self) -> Result<&File, StoreError> {
        let file = match self.file.take() {
            Some(file) => file,
            None if self.is_written => open_file(&self.folder, PACK_FILE, Use::Make)?,
            None => open_file(&self.folder, PACK_FILE, Use::Read)?,
        };
        Ok(self.file.insert(file))
    }

    /// Does something with the file.
    fn with_file<T>(
        &mut self,
        action: &'static str,
        work: impl FnOnce(&File) -> io::Result<T>,
    ) -> Result<T, StoreError> {
        let done = work(self.file()?);
        done.map_err(|error| StoreError::from_io(action, &self.path, &error))
    }

    /// Reads what has been added since the last time; nothing if there is no file.
    pub(crate) fn read_on(&mut self) -> Result<(), StoreError> {
        if self.file.is_none() && !check_file(&self.folder, PACK_FILE, self.is_written)? {
            return Ok(());
        }
        if !self.waiting.is_empty() {
            // The only writer knows what there is.
            return Ok(());
        }
        let mut end = self.end;
        let found = self.with_file("read", |file| places_after(file, &mut end))?;
        // Of two records of one text the later one counts: it was written
        // because the earlier one was damaged.
        self.places.extend(found);
        self.end = end;
        Ok(())
    }

    /// Removes what follows the last whole record.
    pub(crate) fn cut(&mut self) -> Result<(), StoreError> {
        let end = self.end;
        self.with_file("shorten", |file| {
            if end < file.metadata()?.len() {
                file.set_len(end)?;
            }
            Ok(())
        })
    }

    pub(crate) fn has(&self, hash: &ContentHash) -> bool {
        self.places.contains_key(hash)
    }

    pub(crate) fn is_sound(&self, hash: &ContentHash) -> bool {
        self.places.get(hash).is_some_and(|place| place.is_sound)
    }

    pub(crate) fn set_sound(&mut self, hash: &ContentHash) {
        if let Some(place) = self.places.get_mut(hash) {
            place.is_sound = true;
        }
    }

    /// Returns a text as it is kept.
    pub(crate) fn get(
        &mut self,
        hash: &ContentHash,
    ) -> Option<Result<(Vec<u8>, Form), StoreError>> {
        let Place {
            offset,
            length,
            form,
            ..
        } = *self.places.get(hash)?;
        if let Some(at) = offset.checked_sub(self.end) {
            let at = at as usize;
            return Some(Ok((self.waiting[at..at + length as usize].to_vec(), form)));
        }
        let read = self.with_file("read", |file| {
            let mut bytes = vec![0; length as usize];
            file.read_exact_at(&mut bytes, offset)?;
            Ok(bytes)
        });
        Some(read.map(|bytes| (bytes, form)))
    }

    /// Adds a text, which is in the file after the next [`Pack::flush`]. It is
    /// sound from now on.
    pub(crate) fn add(
        &mut self,
        hash: ContentHash,
        form: Form,
        bytes: &[u8],
    ) -> Result<(), StoreError> {
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        if MAX_TEXT_BYTES < length {
            return Err(StoreError::TooLarge {
                path: self.path.clone(),
                most: MAX_TEXT_BYTES.into(),
            });
        }
        let offset = self.end + (self.waiting.len() + HEAD) as u64;
        self.waiting.extend(head_of(&hash, length, form));
        self.waiting.extend_from_slice(bytes);
        let place = Place {
            offset,
            length,
            form,
            is_sound: true,
        };
        self.places.insert(hash, place);
        if MOST_WAITING < self.waiting.len() {
            self.flush()?;
        }
        Ok(())
    }

    /// Writes what waits.
    pub(crate) fn flush(&mut self) -> Result<(), StoreError> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let waiting = std::mem::take(&mut self.waiting);
        let end = self.end;
        let written = self.with_file("write", |file| file.write_all_at(&waiting, end));
        // Kept for another attempt, which begins at the same place.
        self.waiting = waiting;
        written?;
        self.end += self.waiting.len() as u64;
        self.waiting.clear();
        Ok(())
    }

    /// Returns the file, to be forced to the disk while others go on.
    pub(crate) fn handle(&mut self) -> Result<File, StoreError> {
        self.with_file("open", File::try_clone)
    }
}

/// Returns the texts in the file from `end` on, and moves `end` behind them. A text that is longer
/// than any that is written ends them like a damaged one.
fn places_after(file: &File, end: &mut u64) -> io::Result<Vec<(ContentHash, Place)>> {
    let mut found = Vec::new();
    let length = file.metadata()?.len();
    if length <= *end {
        return Ok(found);
    }
    let mut reader = BufReader::with_capacity(1 << 20, file);
    reader.seek(SeekFrom::Start(*end))?;
    let mut head = [0; HEAD];
    while *end + HEAD as u64 <= length {
        reader.read_exact(&mut head)?;
        let Some((hash, length_of_text, form)) = read_head(&head) else {
            break;
        };
        let offset = *end + HEAD as u64;
        let next = offset + u64::from(length_of_text);
        if length < next || MAX_TEXT_BYTES < length_of_text {
            break;
        }
        reader.seek_relative(i64::from(length_of_text))?;
        let place = Place {
            offset,
            length: length_of_text,
            form,
            is_sound: false,
        };
        found.push((hash, place));
        *end = next;
    }
    Ok(found)
}

fn head_of(hash: &ContentHash, length: u32, form: Form) -> [u8; HEAD] {
    let mut head = [0; HEAD];
    head[..32].copy_from_slice(&hash.0);
    head[32..36].copy_from_slice(&length.to_le_bytes());
    head[36] = match form {
        Form::Plain => 0,
        Form::Packed => 1,
    };
    let check = ContentHash::of(&head[..37]);
    head[37..].copy_from_slice(&check.0[..3]);
    head
}

/// Returns what a head says, unless it is none.
fn read_head(head: &[u8; HEAD]) -> Option<(ContentHash, u32, Form)> {
    let mut hash = [0; 32];
    hash.copy_from_slice(&head[..32]);
    let mut length = [0; 4];
    length.copy_from_slice(&head[32..36]);
    let form = match head[36] {
        0 => Form::Plain,
        1 => Form::Packed,
        _ => return None,
    };
    let (hash, length) = (ContentHash(hash), u32::from_le_bytes(length));
    (head_of(&hash, length, form) == *head).then_some((hash, length, form))
}
