//! Random lifecycles on the real runtime. The driver that ships executes the description that the
//! macro prints, on the simulated API server and on paused time. Each step is checked against the
//! meaning of the lifecycle, as the oracle defines it.

#![deny(missing_docs)]
#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "Rust has more expressions than the macro prints, and a way of lookup is asked for one at a time"
)]
#![allow(clippy::print_stderr, reason = "a run can be told step by step")]

pub mod author;
pub mod cluster;
pub mod declared;
pub mod dice;
pub mod hours;
pub mod machine;
pub mod meant;
pub mod mutants;
pub mod outside;
pub mod planted;
pub mod printed;
pub mod reality;
pub mod run;
pub mod things;
pub mod volume;
pub mod watched;

#[cfg(test)]
mod tests {
    use lifecycle_macros_core::model::Verdict as Checked;
    use lifecycle_runtime::machine::verdict::Verdict as Observed;

    #[test]
    fn the_checker_and_the_runtime_have_the_same_verdicts() {
        let checked = Checked::ALL
            .iter()
            .map(|one| (one.as_str(), one.is_usable()));
        let observed = Observed::ALL
            .iter()
            .map(|one| (one.as_str(), one.is_usable()));
        assert!(checked.eq(observed));
        for name in Checked::ALL.iter().map(|one| one.as_str()) {
            assert_eq!(Checked::from_name(name).map(Checked::as_str), Some(name));
            assert_eq!(Observed::from_name(name).map(Observed::as_str), Some(name));
        }
    }
}
