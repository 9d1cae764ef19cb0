//! READMEs of published packages. Their Rust is compiled and run as documentation of
//! `lifecycle-operator`, which is built of all of them.

macro_rules! run {
    ($($name:ident: $path:literal),+ $(,)?) => {
        $(
            #[cfg(doctest)]
            #[doc = include_str!(concat!("../../../../", $path, "/README.md"))]
            pub mod $name {}
        )+

        /// Folders of the packages whose README is run, from the root of the workspace.
        pub(super) const RUN: &[&str] = &[$($path),+];
    };
}

run! {
    cli: "operator/cli",
    client: "runtime/client",
    csi: "runtime/csi",
    generate: "runtime/generate",
    http: "runtime/http",
    inspect: "runtime/inspect",
    listener: "operator/listener",
    macros: "macros",
    macros_core: "macros/core",
    operator: "operator",
    proto: "proto",
    router: "operator/router",
    runtime: "runtime",
    simulator: "runtime/simulator",
    skupper: "operator/skupper",
    specs_listener: "specs/listener",
    specs_skupper: "specs/skupper",
    suite: "runtime/suite",
}
