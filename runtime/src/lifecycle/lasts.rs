//! Length of time in a field of a Kubernetes type, as `every` and `overdue` read it.

use crate::machine::length::Said;

/// A path's value: a length of time, or nothing.
pub trait Lasts {
    /// Returns the length of time; `None` for a missing or empty one.
    fn lasts(&self) -> Option<Said>;
}

impl Lasts for String {
    fn lasts(&self) -> Option<Said> {
        self.as_str().lasts()
    }
}

impl Lasts for str {
    fn lasts(&self) -> Option<Said> {
        (!self.is_empty()).then(|| Said::Text(self.to_owned()))
    }
}

/// `metav1.Duration` as `kube` knows it.
impl Lasts for kube::core::Duration {
    fn lasts(&self) -> Option<Said> {
        Some(Said::Text(self.to_string()))
    }
}

impl<T: Lasts> Lasts for Option<T> {
    fn lasts(&self) -> Option<Said> {
        self.as_ref().and_then(Lasts::lasts)
    }
}

impl<T: Lasts + ?Sized> Lasts for &T {
    fn lasts(&self) -> Option<Said> {
        (**self).lasts()
    }
}

impl Lasts for i32 {
    fn lasts(&self) -> Option<Said> {
        Some(Said::Seconds(i64::from(*self)))
    }
}

impl Lasts for i64 {
    fn lasts(&self) -> Option<Said> {
        Some(Said::Seconds(*self))
    }
}

impl Lasts for u32 {
    fn lasts(&self) -> Option<Said> {
        Some(Said::Seconds(i64::from(*self)))
    }
}

/// Saturates at the largest value, because a number that does not fit is too long in any case.
impl Lasts for u64 {
    fn lasts(&self) -> Option<Said> {
        Some(Said::Seconds(i64::try_from(*self).unwrap_or(i64::MAX)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_a_number_and_a_duration_say_how_long() {
        let text = |text: &str| Some(Said::Text(text.to_owned()));
        assert_eq!("1h30m".to_owned().lasts(), text("1h30m"));
        assert_eq!(Some("1h".to_owned()).lasts(), text("1h"));
        assert_eq!(Some(String::new()).lasts(), None);
        assert_eq!(None::<i64>.lasts(), None);
        assert_eq!(90_i32.lasts(), Some(Said::Seconds(90)));
        assert_eq!(u64::MAX.lasts(), Some(Said::Seconds(i64::MAX)));
        let duration: kube::core::Duration = "1h30m".parse().unwrap();
        assert_eq!(duration.lasts(), text("5400s"));
    }
}
