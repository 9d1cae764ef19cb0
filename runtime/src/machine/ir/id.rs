//! Typed positions in the lists of a lifecycle, and the lists that they index.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, Index};
use std::slice;

/// Position in a [`Table`].
pub trait Id: Copy {
    /// Returns the id of a position.
    fn from_position(position: usize) -> Self;
    /// Returns the position.
    fn position(self) -> usize;
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub usize);

        impl Id for $name {
            fn from_position(position: usize) -> Self {
                Self(position)
            }

            fn position(self) -> usize {
                self.0
            }
        }
    )* };
}
ids! {
    /// Position in [`super::Lifecycle::states`].
    StateId,
    /// Position in [`super::Lifecycle::regions`].
    RegionId,
}

/// List of a lifecycle, in order of declaration, with the type of its positions.
pub struct Table<I: 'static, T: 'static> {
    items: &'static [T],
    id: PhantomData<fn(I) -> I>,
}

impl<I, T> Table<I, T> {
    /// Returns the table of these items.
    pub const fn new(items: &'static [T]) -> Self {
        Self {
            items,
            id: PhantomData,
        }
    }

    /// Returns the items as a plain slice, which constant evaluation can index.
    pub const fn as_slice(self) -> &'static [T] {
        self.items
    }

    /// Returns the items in order.
    pub fn iter(self) -> slice::Iter<'static, T> {
        self.items.iter()
    }
}

impl<I: Id, T> Table<I, T> {
    /// Returns all ids in order.
    pub fn ids(self) -> impl DoubleEndedIterator<Item = I> + ExactSizeIterator {
        (0..self.items.len()).map(I::from_position)
    }

    /// Returns each item with its id, in order.
    pub fn entries(self) -> impl DoubleEndedIterator<Item = (I, &'static T)> + ExactSizeIterator {
        self.ids().zip(self.items)
    }

    /// Returns the id of the first item that fits.
    pub fn position(self, fits: impl FnMut(&'static T) -> bool) -> Option<I> {
        self.items.iter().position(fits).map(I::from_position)
    }
}

impl<I: Id, T> Index<I> for Table<I, T> {
    type Output = T;

    fn index(&self, id: I) -> &T {
        &self.items[id.position()]
    }
}

impl<I, T> Deref for Table<I, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.items
    }
}

impl<I, T> IntoIterator for Table<I, T> {
    type Item = &'static T;
    type IntoIter = slice::Iter<'static, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}

impl<I, T> Clone for Table<I, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<I, T> Copy for Table<I, T> {}

impl<I, T: fmt::Debug> fmt::Debug for Table<I, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.items.fmt(f)
    }
}
