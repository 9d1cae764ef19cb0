//! Paths of lists in Kubernetes types: generated code walks them, so that a path that leads nowhere or to no list does not compile.

/// Position along a path. An optional value on the way counts as present.
#[derive(Debug)]
pub struct Along<'a, T>(Option<&'a T>);

impl<'a, T> Along<'a, T> {
    /// The beginning of a path.
    pub fn from(object: &'a T) -> Self {
        Self(Some(object))
    }

    /// One part further.
    pub fn field<U>(self, read: impl FnOnce(&'a T) -> &'a U) -> Along<'a, U> {
        Along(self.0.map(read))
    }
}

impl<'a, T> Along<'a, Option<T>> {
    /// Enters an optional value.
    pub fn inside(self) -> Along<'a, T> {
        Along(self.0.and_then(Option::as_ref))
    }
}

impl<'a, T> Along<'a, Vec<T>> {
    /// The end of a path.
    pub fn list(self) -> Option<&'a [T]> {
        self.0.map(Vec::as_slice)
    }
}

/// Fallback for a value that is not optional and thus needs no unwrapping. A method of the type
/// itself takes precedence over one of this trait.
pub trait Inside: Sized {
    /// Stays.
    fn inside(self) -> Self {
        self
    }
}

impl<T> Inside for Along<'_, T> {}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{Service, ServicePort, ServiceSpec};

    use super::*;

    #[test]
    fn a_path_leads_through_what_is_optional_and_what_is_not() {
        let ports = |service: &Service| {
            let spec = Along::from(service).field(|o| &o.spec).inside();
            let list = spec.field(|o| &o.ports).inside().list();
            list.map(<[ServicePort]>::len)
        };
        assert_eq!(ports(&Service::default()), None);
        let full = Service {
            spec: Some(ServiceSpec {
                ports: Some(vec![ServicePort::default()]),
                ..ServiceSpec::default()
            }),
            ..Service::default()
        };
        assert_eq!(ports(&full), Some(1));
        let meta = Along::from(&full).field(|o| &o.metadata).inside();
        let finalizers = meta.field(|o| &o.finalizers).inside().list();
        assert_eq!(finalizers, None);
    }
}
