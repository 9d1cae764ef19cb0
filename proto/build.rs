//! Compiles the two `.proto` files; needs no compiler but Rust's.

use std::error::Error;
use std::path::PathBuf;

use prost::Message;

fn main() -> Result<(), Box<dyn Error>> {
    let files = ["csi.proto", "pluginregistration.proto"];
    for file in files {
        println!("cargo::rerun-if-changed={file}");
    }
    let descriptors = protox::compile(files, ["."])?;
    let output = PathBuf::from(std::env::var("OUT_DIR")?);
    std::fs::write(output.join("descriptors.bin"), descriptors.encode_to_vec())?;
    tonic_prost_build::configure()
        .btree_map(".")
        .generate_default_stubs(true)
        .compile_fds(descriptors)?;
    Ok(())
}
