//! Lists that are short nearly always: they lie where they are used, without an allocation.

use std::ops::{Deref, DerefMut};

/// A list whose first `N` items need no memory of their own.
#[derive(Clone)]
pub struct Short<T, const N: usize> {
    near: [T; N],
    /// How many of `near` are items.
    length: u32,
    /// All items as soon as there have been more than `N`.
    #[expect(
        clippy::box_collection,
        reason = "the list is copied more often than it is long"
    )]
    far: Option<Box<Vec<T>>>,
}

impl<T: Copy + Default, const N: usize> Short<T, N> {
    /// A list of nothing.
    #[inline]
    pub fn new() -> Self {
        Self {
            near: [T::default(); N],
            length: 0,
            far: None,
        }
    }

    /// Adds an item behind the last one.
    #[inline]
    pub fn push(&mut self, item: T) {
        match (&mut self.far, self.near.get_mut(self.length as usize)) {
            (None, Some(place)) => {
                *place = item;
                self.length += 1;
            }
            (far, _) => far
                .get_or_insert_with(|| Box::new(self.near.to_vec()))
                .push(item),
        }
    }

    /// Adds items behind the last one.
    pub fn extend_from_slice(&mut self, items: &[T]) {
        items.iter().for_each(|item| self.push(*item));
    }

    /// Keeps the items that `keep` says so of.
    pub fn retain(&mut self, mut keep: impl FnMut(&T) -> bool) {
        if let Some(far) = &mut self.far {
            far.retain(keep);
            return;
        }
        let mut kept = 0;
        for at in 0..self.length as usize {
            if keep(&self.near[at]) {
                self.near[kept] = self.near[at];
                kept += 1;
            }
        }
        self.length = kept as u32;
    }

    /// Changes the list as a vector; for what is done seldom.
    pub fn edit(&mut self, change: impl FnOnce(&mut Vec<T>)) {
        let mut all = self.to_vec();
        change(&mut all);
        *self = all.into_iter().collect();
    }
}

impl<T: Copy + Default, const N: usize> Default for Short<T, N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T, const N: usize> Deref for Short<T, N> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match &self.far {
            None => &self.near[..self.length as usize],
            Some(far) => far,
        }
    }
}

impl<T, const N: usize> DerefMut for Short<T, N> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.far {
            None => &mut self.near[..self.length as usize],
            Some(far) => far,
        }
    }
}

impl<T: Copy + Default, const N: usize> FromIterator<T> for Short<T, N> {
    #[inline]
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut list = Self::new();
        let mut items = items.into_iter();
        for place in &mut list.near {
            let Some(item) = items.next() else {
                return list;
            };
            *place = item;
            list.length += 1;
        }
        items.for_each(|item| list.push(item));
        list
    }
}

impl<T: Copy + Default, const N: usize> From<&[T]> for Short<T, N> {
    fn from(items: &[T]) -> Self {
        items.iter().copied().collect()
    }
}

impl<T: Copy + Default, const N: usize> From<Vec<T>> for Short<T, N> {
    fn from(items: Vec<T>) -> Self {
        items[..].into()
    }
}

impl<T: Copy + Default, const N: usize, const M: usize> From<[T; M]> for Short<T, N> {
    fn from(items: [T; M]) -> Self {
        items[..].into()
    }
}

impl<'a, T, const N: usize> IntoIterator for &'a Short<T, N> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, T, const N: usize> IntoIterator for &'a mut Short<T, N> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

impl<T: std::fmt::Debug, const N: usize> std::fmt::Debug for Short<T, N> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<T: Eq, const N: usize> Eq for Short<T, N> {}

impl<T: std::hash::Hash, const N: usize> std::hash::Hash for Short<T, N> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self[..].hash(state);
    }
}

impl<T: PartialEq, const N: usize> PartialEq for Short<T, N> {
    fn eq(&self, other: &Self) -> bool {
        self[..] == other[..]
    }
}
