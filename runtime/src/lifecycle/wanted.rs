//! Fields of our object that decide if an optional object exists, as `if spec.host` reads them.

use std::collections::{BTreeMap, BTreeSet};

/// The value of a path behind `if`: it wants the object to exist, or it does not.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not decide if an object exists",
    label = "the field behind `if` must be an `Option`, a `bool`, or a text, list or map",
    note = "implement `lifecycle_runtime::lifecycle::wanted::Wanted` for a type of your own"
)]
pub trait Wanted {
    /// Returns true if the object is wanted.
    fn is_wanted(&self) -> bool;
}

/// Wanted if there is a value, whatever it is.
impl<T> Wanted for Option<T> {
    fn is_wanted(&self) -> bool {
        self.is_some()
    }
}

impl Wanted for bool {
    fn is_wanted(&self) -> bool {
        *self
    }
}

impl Wanted for String {
    fn is_wanted(&self) -> bool {
        !self.is_empty()
    }
}

impl<T> Wanted for Vec<T> {
    fn is_wanted(&self) -> bool {
        !self.is_empty()
    }
}

impl<T> Wanted for BTreeSet<T> {
    fn is_wanted(&self) -> bool {
        !self.is_empty()
    }
}

impl<K, V> Wanted for BTreeMap<K, V> {
    fn is_wanted(&self) -> bool {
        !self.is_empty()
    }
}

impl<T: Wanted + ?Sized> Wanted for Box<T> {
    fn is_wanted(&self) -> bool {
        (**self).is_wanted()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_wanted_where_the_field_has_a_value() {
        assert!(Some(false).is_wanted() && !None::<bool>.is_wanted());
        assert!(true.is_wanted() && !false.is_wanted());
        assert!("a".to_owned().is_wanted() && !String::new().is_wanted());
        assert!(vec![1].is_wanted() && !Vec::<u8>::new().is_wanted());
        assert!(BTreeSet::from([1]).is_wanted() && !BTreeSet::<u8>::new().is_wanted());
        assert!(BTreeMap::from([(1, 2)]).is_wanted() && !BTreeMap::<u8, u8>::new().is_wanted());
        assert!(Box::new(true).is_wanted() && !Box::new(None::<u8>).is_wanted());
    }
}
