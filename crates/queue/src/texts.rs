//! Long texts: kept in a stream, in pieces, below who keeps them and their hash.
//!
//! Nobody needs the right to have the server send a message of the stream to a subject of choice
//! (`DIRECT.GET` or a consumer with a subject to deliver to), by which a user could answer jobs in
//! the name of a worker: what `STREAM.MSG.GET` returns is wrapped by the server.

use crate::error::QueueError;
use crate::names::{self, token};
use crate::server::Server;
use crate::streams::Streams;
use autocomp_core::ContentHash;
use std::fmt::Display;

/// What a piece holds, bytes; the last one of a text holds less.
const PIECE: usize = 256 << 10;

/// The longest text that is fetched, bytes: as long as the longest reply that is believed.
const LONGEST_TEXT: usize = 1 << 30;

impl Server {
    /// Keeps a text below the own name and its hash, which is returned.
    pub(crate) async fn store(
        &self,
        streams: &Streams,
        text: &str,
    ) -> Result<ContentHash, QueueError> {
        let hash = ContentHash::of(text.as_bytes());
        if self.text(streams, self.user(), hash).await.is_ok() {
            return Ok(hash);
        }
        let mut rest = text.as_bytes();
        for at in 0.. {
            let (piece, left) = rest.split_at(rest.len().min(PIECE));
            self.keep(names::piece(self.user(), &hash, at), piece)
                .await?;
            if piece.len() < PIECE {
                break;
            }
            rest = left;
        }
        Ok(hash)
    }

    /// Returns the text with that hash that `user` keeps.
    pub(crate) async fn text(
        &self,
        streams: &Streams,
        user: &str,
        hash: ContentHash,
    ) -> Result<String, QueueError> {
        let text = self.text_if_there(streams, user, hash).await?;
        text.ok_or_else(|| self.lacks_text(user, hash, &"piece 0 is not there"))
    }

    /// Says what the server lacks of a text.
    pub(crate) fn lacks_text(
        &self,
        user: &str,
        hash: ContentHash,
        what: &dyn Display,
    ) -> QueueError {
        self.refuses(format!("has no text {} of {user}: {what}", hash.short()))
    }

    /// Returns the text with that hash that `user` keeps; nothing if not even its beginning is
    /// there.
    pub(crate) async fn text_if_there(
        &self,
        streams: &Streams,
        user: &str,
        hash: ContentHash,
    ) -> Result<Option<String>, QueueError> {
        let missing = |what: &dyn Display| self.lacks_text(user, hash, what);
        let user = token(user);
        let mut bytes = Vec::new();
        for at in 0.. {
            let piece = self
                .last(&streams.texts, &names::piece(&user, &hash, at))
                .await?;
            let piece = match piece {
                Some(piece) => piece.payload,
                None if at == 0 => return Ok(None),
                None => return Err(missing(&format!("piece {at} is not there"))),
            };
            bytes.extend_from_slice(&piece);
            if piece.len() < PIECE {
                break;
            }
            if LONGEST_TEXT < bytes.len() {
                return Err(missing(&"it is longer than 1 GiB"));
            }
        }
        if ContentHash::of(&bytes) != hash {
            return Err(missing(&"what is there has another hash"));
        }
        let text = String::from_utf8(bytes);
        text.map(Some).map_err(|error| missing(&error))
    }
}
