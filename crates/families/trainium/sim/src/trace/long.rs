//! Lists that grow long: they lie in pieces, so that nothing is moved when they grow.

use std::ops::{Index, IndexMut};

/// Items of a piece.
const PIECE: usize = 512;
/// Items for which the first piece has room from the start.
const FIRST: usize = 64;

/// A list in pieces, all of which but the last are full.
#[derive(Clone, Debug)]
pub struct Long<T>(Vec<Vec<T>>);

impl<T> Default for Long<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Long<T> {
    /// Number of items.
    pub fn len(&self) -> usize {
        let last = self.0.last().map_or(0, Vec::len);
        self.0.len().saturating_sub(1) * PIECE + last
    }

    /// Whether there is no item.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds an item behind the last one.
    #[inline]
    pub fn push(&mut self, item: T) {
        match self.0.last_mut() {
            Some(last) if last.len() < PIECE => last.push(item),
            last => {
                // The first piece grows, since many lists are short.
                let room = if last.is_some() { PIECE } else { FIRST };
                let mut piece = Vec::with_capacity(room);
                piece.push(item);
                self.0.push(piece);
            }
        }
    }

    /// The item at a position.
    pub fn get(&self, at: usize) -> Option<&T> {
        self.0.get(at / PIECE)?.get(at % PIECE)
    }

    /// The last item.
    pub fn last_mut(&mut self) -> Option<&mut T> {
        self.0.last_mut()?.last_mut()
    }

    /// All items in order.
    pub fn iter(&self) -> std::iter::Flatten<std::slice::Iter<'_, Vec<T>>> {
        self.0.iter().flatten()
    }

    /// Keeps the items that `keep`, which may change them, says so of.
    pub fn retain_mut(&mut self, mut keep: impl FnMut(&mut T) -> bool) {
        let mut kept = 0;
        for piece in 0..self.0.len() {
            for at in 0..self.0[piece].len() {
                if keep(&mut self.0[piece][at]) {
                    self.swap(kept, (piece, at));
                    kept += 1;
                }
            }
        }
        self.0.truncate(kept.div_ceil(PIECE));
        if let (Some(last), false) = (self.0.last_mut(), kept % PIECE == 0) {
            last.truncate(kept % PIECE);
        }
    }

    /// Swaps an item with one that does not lie before it.
    fn swap(&mut self, one: usize, (piece, at): (usize, usize)) {
        if one / PIECE == piece {
            self.0[piece].swap(one % PIECE, at);
        } else {
            let (before, from) = self.0.split_at_mut(piece);
            std::mem::swap(&mut before[one / PIECE][one % PIECE], &mut from[0][at]);
        }
    }
}

impl<T> Index<usize> for Long<T> {
    type Output = T;

    #[inline]
    fn index(&self, at: usize) -> &T {
        &self.0[at / PIECE][at % PIECE]
    }
}

impl<T> IndexMut<usize> for Long<T> {
    #[inline]
    fn index_mut(&mut self, at: usize) -> &mut T {
        &mut self.0[at / PIECE][at % PIECE]
    }
}

impl<T> Extend<T> for Long<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        items.into_iter().for_each(|item| self.push(item));
    }
}

impl<T> FromIterator<T> for Long<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut list = Self::default();
        list.extend(items);
        list
    }
}

impl<T> IntoIterator for Long<T> {
    type Item = T;
    type IntoIter = std::iter::Flatten<std::vec::IntoIter<Vec<T>>>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter().flatten()
    }
}

impl<'a, T> IntoIterator for &'a Long<T> {
    type Item = &'a T;
    type IntoIter = std::iter::Flatten<std::slice::Iter<'a, Vec<T>>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, T> IntoIterator for &'a mut Long<T> {
    type Item = &'a mut T;
    type IntoIter = std::iter::Flatten<std::slice::IterMut<'a, Vec<T>>>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter_mut().flatten()
    }
}
