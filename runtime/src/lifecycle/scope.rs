//! Which scopes fit together, known to rustc: who may own whom, and who may call whom by a name alone. The types say it, so generated code asks here.

use k8s_openapi::{ClusterResourceScope, NamespaceResourceScope};
use kube::Resource;

/// Scopes whose objects may have an owner of that scope: the garbage collector looks for an owner in the namespace of what it owns, or among those
/// that have none.
#[diagnostic::on_unimplemented(
    message = "an object in a namespace cannot own one without a namespace: the garbage collector would delete that",
    label = "has no namespace, and its owner is in one",
    note = "declare it `part`, or name an owner without a namespace: `owned Kind of other`"
)]
pub trait OwnedBy<Owner> {}

impl OwnedBy<NamespaceResourceScope> for NamespaceResourceScope {}
impl<Owned> OwnedBy<ClusterResourceScope> for Owned {}

/// Scopes whose objects are known by a name alone to an object of that scope.
#[diagnostic::on_unimplemented(
    message = "a name alone does not say in which namespace this is, for the resource is in none",
    label = "lies in a namespace",
    note = "find one `by ref`, where a method says namespace and name, and several `by labels` or `by owner`"
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
