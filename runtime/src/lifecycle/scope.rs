//! Compatibility of scopes, known to rustc: the owners that an object may have, and the objects
//! that it may reference by name alone. Generated code checks scopes here, because only the types
//! carry them.

use k8s_openapi::{ClusterResourceScope, NamespaceResourceScope};
use kube::Resource;

/// Scopes whose objects may have an owner of that scope. The garbage collector looks for an owner
/// in the namespace of its dependent, or among cluster-scoped objects.
#[diagnostic::on_unimplemented(
    message = "an object in a namespace cannot own one without a namespace: the garbage collector would delete that",
    label = "has no namespace, and its owner is in one",
    note = "declare it `part`, or name an owner without a namespace: `owned Kind of other`"
)]
pub trait OwnedBy<Owner> {}

impl OwnedBy<NamespaceResourceScope> for NamespaceResourceScope {}
impl<Owned> OwnedBy<ClusterResourceScope> for Owned {}

/// Scopes whose objects an object of that scope can identify by name alone.
#[diagnostic::on_unimplemented(
    message = "a name alone does not determine the namespace of this object, because the resource has none",
    label = "lies in a namespace",
    note = "find one object `by ref`, where a method returns namespace and name, or several `by labels` or `by owner`"
)]
pub trait NamedBy<Subject> {}

impl NamedBy<ClusterResourceScope> for ClusterResourceScope {}
impl<Named> NamedBy<NamespaceResourceScope> for Named {}

/// Compiles where an object of the first kind may be owned by one of the second.
pub const fn owned_by<K: Resource, Owner: Resource>()
where
    K::Scope: OwnedBy<Owner::Scope>,
{
}

/// Compiles where an object of the second kind may call one of the first by its name alone.
pub const fn named_by<K: Resource, Subject: Resource>()
where
    K::Scope: NamedBy<Subject::Scope>,
{
}
