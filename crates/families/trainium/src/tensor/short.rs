//! Lists that are short nearly always: they lie where they are used, without an allocation.

use std::ops::{Deref, DerefMut};

/// A list whose first `N` items need no memory of their own.
#[derive(Clone)]
pub struct Short<T, const N: usize> {
    length: usize,
    near: [T; N],
    /// All items as soon as there have been more than `N`; empty before.
    far: Vec<T>,
}

impl<T: Copy + Default, const N: usize> Short<T, N> {
    /// A list of nothing.
    pub fn new() -> Self {
        Self {
            length: 0,
            near: [T::default(); N],
            far: Vec::new(),
        }
    }

    /// Adds an item behind the last one.
    pub fn push(&mut self, item: T) {
        if self.far.is_empty() {
            if let Some(place) = self.near.get_mut(self.length) {
                *place = item;
                self.length += 1;
                return;
            }
            self.far.extend_from_slice(&self.near);
        }
        self.far.push(item);
    }

    /// Adds items behind the last one.
    pub fn extend_from_slice(&mut self, items: &[T]) {
        items.iter().for_each(|item| self.push(*item));
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

    fn deref(&self) -> &[T] {
        match self.far.is_empty() {
            true => &self.near[..self.length],
            false => &self.far,
        }
    }
}

impl<T, const N: usize> DerefMut for Short<T, N> {
    fn deref_mut(&mut self) -> &mut [T] {
        match self.far.is_empty() {
            true => &mut self.near[..self.length],
            false => &mut self.far,
        }
    }
}

impl<T: Copy + Default, const N: usize> FromIterator<T> for Short<T, N> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut list = Self::new();
        items.into_iter().for_each(|item| list.push(item));
        list
    }
}

impl<'a, T, const N: usize> IntoIterator for &'a Short<T, N> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, T, const N: usize> IntoIterator for &'a mut Short<T, N> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

impl<T: std::fmt::Debug, const N: usize> std::fmt::Debug for Short<T, N> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<T: PartialEq, const N: usize> PartialEq for Short<T, N> {
    fn eq(&self, other: &Self) -> bool {
        self[..] == other[..]
    }
}
