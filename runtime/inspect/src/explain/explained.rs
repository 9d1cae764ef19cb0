//! Lifecycle that can be explained. It matches the operator's, except for data known only to the
//! operator's process.

use std::sync::Arc;

use k8s_openapi::api::core::v1::PersistentVolumeClaim;
use lifecycle_runtime::Machine;
use lifecycle_runtime::lifecycle::Kind;
use lifecycle_runtime::lifecycle::object::Input;
use lifecycle_runtime::machine::ir::Lifecycle;
use lifecycle_runtime::operator::Naming;

/// Returns the name of the object created for a claim, if one is created.
type NameOf = fn(&PersistentVolumeClaim) -> Option<String>;

/// A lifecycle that can be explained.
#[derive(Clone)]
pub struct Explained {
    pub(crate) machine: Arc<dyn Machine>,
    pub(crate) naming: Naming,
    /// Inputs that only the operator can compare with the desired object, and the reason.
    pub(crate) apart: Vec<(&'static str, &'static str)>,
    /// Of a volume: the name of its driver.
    driver: Option<&'static str>,
    /// Of a volume: the kinds of objects that are made for a claim when a Pod mounts it.
    pub(crate) made: Vec<(Kind, NameOf)>,
}

impl std::fmt::Debug for Explained {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Explained")
            .field("lifecycle", &self.ir().path)
            .field("naming", &self.naming)
            .finish_non_exhaustive()
    }
}

impl Explained {
    /// Returns a lifecycle under the names by which its operator runs it.
    pub fn new(machine: Arc<dyn Machine>, naming: Naming) -> Self {
        Self {
            machine,
            naming,
            apart: Vec::new(),
            driver: None,
            made: Vec::new(),
        }
    }

    /// Returns a volume that a driver of this name creates for claims. A claim is explained by the
    /// driver's current reply.
    pub fn of_claims(machine: Arc<dyn Machine>, naming: Naming, driver: &'static str) -> Self {
        Self {
            driver: Some(driver),
            ..Self::new(machine, naming)
        }
    }

    /// Excludes an input from the comparison, with a reason, because only the operator's process
    /// knows the desired object. Then the status alone reports whether the input is as desired.
    #[must_use]
    pub fn not_compared(mut self, input: &'static str, why: &'static str) -> Self {
        self.apart.push((input, why));
        self
    }

    /// An object of this kind is made for a claim when a Pod mounts it, in its namespace and under this name: a bound claim is then explained by that object.
    #[must_use]
    pub fn made_for_claims<K: Input>(mut self, name: NameOf) -> Self {
        self.made.push((Kind::for_type::<K>(), name));
        self
    }

    /// Returns the kind of its objects: `skupper.io/Site`. For a volume it returns only the name.
    pub fn qualified_name(&self) -> String {
        match self.kind() {
            Some(kind) => format!("{}/{}", kind.group, kind.kind),
            None => self.ir().name.to_owned(),
        }
    }

    /// Returns the unique path of the lifecycle: the module that declares it, and its name.
    pub fn path(&self) -> &'static str {
        self.ir().path
    }

    pub(crate) fn ir(&self) -> &'static Lifecycle {
        self.machine.ir()
    }

    /// The kind of its objects; of a volume that of claims, if there are any.
    pub(crate) fn kind(&self) -> Option<Kind> {
        let claims = self
            .driver
            .map(|_| Kind::for_type::<PersistentVolumeClaim>());
        self.machine.subject().or(claims)
    }

    /// Returns the driver, for a lifecycle that explains claims.
    pub(crate) fn driver(&self) -> Option<&'static str> {
        self.driver
    }

    /// Why an input is not compared, if it is not.
    pub(crate) fn apart(&self, input: usize) -> Option<&'static str> {
        let name = self.ir().inputs[input].name;
        let found = self.apart.iter().find(|(of, _)| *of == name);
        found.map(|(_, why)| *why)
    }
}
