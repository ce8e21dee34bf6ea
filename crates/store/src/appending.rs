//! Events on their way into the journal: written by the caller, or on a thread of
//! their own while the caller goes on.

use crate::blobs::Blobs;
use crate::error::StoreError;
use crate::journal::{Journal, Stored};
use autocomp_core::Event;
use std::thread::{self, JoinHandle};

/// An event and when it happened.
#[derive(Debug)]
struct Happened {
    event: Event,
    at_ms: u64,
    elapsed_ms: u64,
}

/// Where the journal is.
#[derive(Debug)]
enum Hand {
    Here(Box<Journal>),
    /// A thread writes.
    Away(JoinHandle<(Box<Journal>, Written)>),
    /// Only while it changes hands.
    Nowhere,
}

/// What a thread has written, and why not everything, if so.
type Written = (Vec<Stored>, Result<(), StoreError>);

/// Appends events in the order in which they come.
#[derive(Debug)]
pub(crate) struct Appending {
    hand: Hand,
    blobs: Blobs,
    /// Events that nobody writes yet.
    waiting: Vec<Happened>,
    /// Events in the journal that were not asked for yet.
    written: Vec<Stored>,
    /// Event up to which texts are on the disk, if that is to be noted.
    safe: Option<u64>,
    last_seq: u64,
}

impl Appending {
    pub(crate) fn new(journal: Journal, blobs: Blobs) -> Self {
        Self {
            last_seq: journal.last_seq(),
            hand: Hand::Here(Box::new(journal)),
            blobs,
            waiting: Vec::new(),
            written: Vec::new(),
            safe: None,
        }
    }

    /// Takes an event that is to be written with the next ones.
    pub(crate) fn append(&mut self, event: Event, at_ms: u64, elapsed_ms: u64) {
        self.last_seq += 1;
        self.waiting.push(Happened {
            event,
            at_ms,
            elapsed_ms,
        });
    }

    /// Has it noted with the next events that the texts of all events up to `seq` are on the
    /// disk.
    pub(crate) fn note_safe(&mut self, seq: u64) {
        self.safe = Some(seq);
    }

    /// Returns the number of the last event, written or not.
    pub(crate) fn last_seq(&self) -> u64 {
        self.last_seq
    }

    /// Returns how many events nobody writes yet.
    pub(crate) fn n_waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Returns the events that were written since the last call.
    pub(crate) fn take_written(&mut self) -> Vec<Stored> {
        std::mem::take(&mut self.written)
    }

    /// Returns the last of them; the others can still be asked for.
    pub(crate) fn take_last(&mut self) -> Option<Stored> {
        self.written.pop()
    }

    /// Returns whether every event is written.
    pub(crate) fn is_idle(&self) -> bool {
        self.waiting.is_empty() && matches!(self.hand, Hand::Here(_))
    }

    /// Writes everything, texts without an event included.
    pub(crate) fn finish(&mut self) -> Result<(), StoreError> {
        self.take_back()?;
        let (events, safe) = (std::mem::take(&mut self.waiting), self.safe.take());
        let blobs = self.blobs.clone();
        let written = write(self.journal(), &blobs, events, safe);
        self.take(written)
    }

    /// Has a thread write what waits, unless one is writing still.
    pub(crate) fn begin(&mut self) -> Result<(), StoreError> {
        if let Hand::Away(thread) = &self.hand
            && !thread.is_finished()
        {
            return Ok(());
        }
        self.take_back()?;
        if self.waiting.is_empty() {
            return Ok(());
        }
        let (events, safe) = (std::mem::take(&mut self.waiting), self.safe.take());
        let blobs = self.blobs.clone();
        if let Hand::Here(mut journal) = std::mem::replace(&mut self.hand, Hand::Nowhere) {
            self.hand = Hand::Away(thread::spawn(move || {
                let written = write(&mut journal, &blobs, events, safe);
                (journal, written)
            }));
        }
        Ok(())
    }

    /// Closes the journal. The texts of all its events are on the disk.
    pub(crate) fn close(mut self) -> Result<(), StoreError> {
        self.finish()?;
        match std::mem::replace(&mut self.hand, Hand::Nowhere) {
            Hand::Here(journal) => journal.close(),
            Hand::Away(_) | Hand::Nowhere => unreachable!("the journal is here"),
        }
    }

    fn journal(&mut self) -> &mut Journal {
        match &mut self.hand {
            Hand::Here(journal) => journal,
            Hand::Away(_) | Hand::Nowhere => unreachable!("the journal was taken back"),
        }
    }

    /// Waits for the thread that writes.
    fn take_back(&mut self) -> Result<(), StoreError> {
        match std::mem::replace(&mut self.hand, Hand::Nowhere) {
            Hand::Away(thread) => {
                let joined = thread.join();
                let (journal, written) = joined.expect("writing does not panic");
                self.hand = Hand::Here(journal);
                self.take(written)
            }
            hand => {
                self.hand = hand;
                Ok(())
            }
        }
    }

    /// Takes what was written. None of the events after one that could not be may follow.
    fn take(&mut self, (mut written, result): Written) -> Result<(), StoreError> {
        self.written.append(&mut written);
        if result.is_err() {
            self.waiting.clear();
            self.last_seq = self.journal().last_seq();
        }
        result
    }
}

impl Drop for Appending {
    fn drop(&mut self) {
        // The folder is given back afterwards, and nobody may write then.
        let _ = self.take_back();
    }
}

/// Writes events until one cannot be; those before it are kept.
fn write(
    journal: &mut Journal,
    blobs: &Blobs,
    events: Vec<Happened>,
    safe: Option<u64>,
) -> Written {
    let mut written = Vec::with_capacity(events.len());
    // An event is never there without its texts.
    let mut result = blobs.flush();
    for happened in events {
        if result.is_err() {
            break;
        }
        match journal.append(happened.event, happened.at_ms, happened.elapsed_ms) {
            Ok(stored) => written.push(stored),
            Err(error) => result = Err(error),
        }
    }
    let committed = journal.commit();
    if committed.is_err() {
        // Nothing of it is in the journal.
        written.clear();
    }
    let result = result.and(committed).and_then(|()| match safe {
        Some(seq) => journal.checkpoint(seq),
        None => Ok(()),
    });
    (written, result)
}
