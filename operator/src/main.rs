//! `lifecycle-operator`: the command line.

fn main() {}
