//! Outcome of a third-party test, and the reason why it does not pass. This module does not run the
//! tests.

use std::collections::BTreeMap;

/// How a test ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The test passes.
    Passed,
    /// It runs, and does not.
    Failed,
    /// The test covers something that the simulated cluster declares as unsupported.
    NotSimulated,
    /// The test queries a container that it starts.
    CannotRun,
}

/// Prefixes of test names, without that of their group, and the reasons why the tests do not pass.
type Reasons = &'static [(&'static str, &'static str)];

const CANNOT_RUN: Reasons = &[
    (
        "AdmissionWebhook",
        "each asks a webhook in a container that it starts",
    ),
    ("Aggregator", "it asks an API server in a container"),
    (
        "CustomResourceConversionWebhook",
        "each asks a webhook in a container that it starts",
    ),
    (
        "CustomResourceFieldSelectors",
        "it has objects converted by a webhook in a container",
    ),
];

const NOT_SIMULATED: Reasons = &[
    (
        "API priority and fairness",
        "a simulated server is never busy, and does not serve these kinds",
    ),
    (
        "MutatingAdmissionPolicy [Privileged:ClusterAdmin] should mutate",
        "policies are kept, and nothing is held against them",
    ),
    (
        "ResourceQuota should apply changes",
        "quotas are kept, and nothing is counted",
    ),
    (
        "ResourceQuota should create",
        "quotas are kept, and nothing is counted",
    ),
    (
        "ResourceQuota should verify",
        "quotas are kept, and nothing is counted",
    ),
    (
        "Servers with support for API chunking should support continue",
        "it waits until history is forgotten, which is counted in changes here and not in minutes",
    ),
    (
        "ValidatingAdmissionPolicy [Privileged:ClusterAdmin] should allow",
        "policies are kept, and nothing is held against them",
    ),
    (
        "ValidatingAdmissionPolicy [Privileged:ClusterAdmin] should validate",
        "policies are kept, and nothing is held against them",
    ),
];

const NOT_SERVED: &str =
    "APIServices, CertificateSigningRequests, TokenReviews and `autoscaling/v1` are not served";
const YAML: &str = "it applies YAML, of which the simulated server reads what is JSON";

const FAILED: Reasons = &[
    (
        "AggregatedDiscovery should support aggregated discovery interface [",
        NOT_SERVED,
    ),
    (
        "AggregatedDiscovery should support raw aggregated discovery endpoint",
        NOT_SERVED,
    ),
    (
        "CustomResourceDefinition resources [Privileged:ClusterAdmin] custom resource defaulting",
        "a default that a definition gets later is not shown by objects that were stored before",
    ),
    (
        "CustomResourcePublishOpenAPI [Privileged:ClusterAdmin] works for CRD with validation schema",
        "`kubectl explain` describes the metadata of each kind in words of others, which are not in our tree",
    ),
    (
        "CustomResourcePublishOpenAPI [Privileged:ClusterAdmin] works for CRD without validation schema",
        "version 2 of OpenAPI says of a kind without a schema that unknown fields are kept",
    ),
    ("Discovery should locate", NOT_SERVED),
    ("FieldValidation should create/apply", YAML),
    ("FieldValidation should detect duplicates in a CR", YAML),
    (
        "FieldValidation should detect unknown metadata fields in both",
        YAML,
    ),
];

impl Outcome {
    pub(super) const ALL: [Self; 4] = [
        Self::Passed,
        Self::Failed,
        Self::NotSimulated,
        Self::CannotRun,
    ];

    /// Of a test that need not be run to know.
    pub(super) fn known(name: &str) -> Option<Self> {
        let known = [Self::NotSimulated, Self::CannotRun];
        known.into_iter().find(|one| one.reason(name).is_some())
    }

    /// Of a test that ran, by the word of its report.
    pub(super) fn from_state(state: &str) -> Self {
        match state {
            "passed" => Self::Passed,
            _ => Self::Failed,
        }
    }

    /// The word in the list.
    pub(super) fn keyword(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::NotSimulated => "not simulated",
            Self::CannotRun => "cannot run",
        }
    }

    /// Returns the word that the page uses for the outcome.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::NotSimulated => "about what is not simulated",
            Self::CannotRun => "cannot run, for want of containers",
        }
    }

    pub(super) fn read(word: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|outcome| outcome.keyword() == word)
    }

    /// Why a test of this name ends so, if that is known.
    pub(super) fn reason(self, name: &str) -> Option<(&'static str, &'static str)> {
        let reasons = match self {
            Self::Passed => return None,
            Self::Failed => FAILED,
            Self::NotSimulated => NOT_SIMULATED,
            Self::CannotRun => CANNOT_RUN,
        };
        let name = name.trim_start_matches(super::GROUP);
        reasons
            .iter()
            .find(|(begin, _)| name.starts_with(begin))
            .copied()
    }
}

/// Returns the tests that do not pass, by category: the category, its reason and its count.
///
/// # Panics
/// Panics if the reason of one of them is unknown, or a reason applies to none.
pub(super) fn groups(
    outcomes: &BTreeMap<String, Outcome>,
) -> Vec<(&'static str, &'static str, usize)> {
    let mut groups: BTreeMap<(usize, &str, &str), usize> = BTreeMap::new();
    for (name, outcome) in outcomes.iter().filter(|(_, one)| **one != Outcome::Passed) {
        let (group, why) = outcome
            .reason(name)
            .unwrap_or_else(|| panic!("why does it not pass: {name}"));
        *groups.entry((*outcome as usize, group, why)).or_default() += 1;
    }
    let known = [FAILED, NOT_SIMULATED, CANNOT_RUN].map(<[_]>::len);
    assert_eq!(
        groups.len(),
        known.iter().sum::<usize>(),
        "a reason of none"
    );
    groups
        .into_iter()
        .map(|((_, group, why), number)| (group, why, number))
        .collect()
}
