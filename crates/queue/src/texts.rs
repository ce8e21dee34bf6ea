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

    /// Returns whether `user` keeps a text with that hash, or its beginning.
    pub(crate) async fn has_text(
        &self,
        streams: &Streams,
        user: &str,
        hash: ContentHash,
    ) -> Result<bool, QueueError> {
        let first = names::piece(&token(user), &hash, 0);
        Ok(self.last(&streams.texts, &first).await?.is_some())
    }

    /// Returns the text with that hash that `user` keeps.
    pub(crate) async fn text(
        &self,
        streams: &Streams,
        user: &str,
        hash: ContentHash,
    ) -> Result<String, QueueError> {
        let missing = |what: &dyn Display| {
            self.refuses(format!("has no text {} of {user}: {what}", hash.short()))
        };
        let user = token(user);
        let mut bytes = Vec::new();
        for at in 0.. {
            let piece = self
                .last(&streams.texts, &names::piece(&user, &hash, at))
                .await?;
            let piece = piece.ok_or_else(|| missing(&format!("piece {at} is not there")))?;
            let piece = piece.payload;
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
        String::from_utf8(bytes).map_err(|error| missing(&error))
    }
}
