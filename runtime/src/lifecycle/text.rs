//! Strings, numbers and optional values of Kubernetes types behind one trait, as lookup paths and
//! messages read them.

/// A path's value: text, or none.
pub trait Text {
    /// The text; `None` for a missing or empty one.
    fn text(&self) -> Option<String>;
}

impl Text for String {
    fn text(&self) -> Option<String> {
        (!self.is_empty()).then(|| self.clone())
    }
}

impl Text for str {
    fn text(&self) -> Option<String> {
        (!self.is_empty()).then(|| self.to_owned())
    }
}

impl<T: Text> Text for Option<T> {
    fn text(&self) -> Option<String> {
        self.as_ref().and_then(Text::text)
    }
}

impl<T: Text + ?Sized> Text for &T {
    fn text(&self) -> Option<String> {
        (**self).text()
    }
}

impl Text for i32 {
    fn text(&self) -> Option<String> {
        Some(self.to_string())
    }
}

impl Text for i64 {
    fn text(&self) -> Option<String> {
        Some(self.to_string())
    }
}
