//! Name and sources of a new operator, as given on the command line.

use std::path::PathBuf;

use clap::Args;

use super::names::{parse_group, parse_kind, parse_package, parse_plural, parse_version};
use super::template::Template;

/// Name and sources of a new operator.
#[derive(Debug, Args)]
pub struct New {
    /// Name of the package, of its folder and of its program.
    #[arg(value_name = "NAME", value_parser = parse_package)]
    pub name: String,

    /// Kind of the resource, as in Website.
    #[arg(long, value_name = "KIND", value_parser = parse_kind)]
    pub kind: String,

    /// API group of the kind: a domain of yours.
    #[arg(long, value_name = "GROUP", value_parser = parse_group)]
    pub group: String,

    /// Plural of the kind in lower case. Without it, that of the usual rules of English.
    #[arg(long, value_name = "PLURAL", value_parser = parse_plural)]
    pub plural: Option<String>,

    /// Template of the new operator.
    #[arg(long, value_enum, default_value_t)]
    pub template: Template,

    /// Build it of this checkout of the repository. Needed as long as its packages are not published.
    #[arg(long, value_name = "CHECKOUT", conflicts_with = "version")]
    pub path: Option<PathBuf>,

    /// Build it of the published packages of this version, as Cargo takes it: 0.1, =0.1.2. No version is published yet.
    #[arg(long, value_name = "VERSION", value_parser = parse_version)]
    pub version: Option<String>,
}
