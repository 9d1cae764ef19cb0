//! The language: accepted input, findings with their places, and generated code. `cargo test
//! --workspace --test language expand` runs one of the parts.

mod language {
    mod advice;
    mod allows;
    mod change;
    mod counts;
    mod damage;
    mod declarations;
    mod derived;
    mod edges;
    mod expand;
    mod fixtures;
    mod fragments;
    mod gallery;
    mod graph;
    mod groups;
    mod guide;
    mod ignored;
    mod kstatus;
    mod large;
    mod learning;
    mod list_of_checks;
    mod minting;
    mod mutants;
    mod nesting;
    mod once;
    mod optional;
    mod outside;
    mod ownership;
    mod page;
    mod pages;
    mod properties;
    mod readme;
    mod reference;
    mod regions;
    mod renamed;
    mod settling;
    mod shipped;
    mod sketches;
    mod slips;
    mod spans;
    mod suspended;
    mod symptoms;
    mod teardown;
    mod time;
    mod together;
    mod types;
    mod untrue;
    mod volumes;
}
