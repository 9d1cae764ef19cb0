//! Makes a site of `docs/`: `cargo run -p lifecycle-book`. It goes into `target/book`, or into the folder that is named.

use std::io::Write;
use std::path::{Path, PathBuf};

fn main() -> anyhow::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let named = std::env::args_os().nth(1).map(PathBuf::from);
    let is_option = |path: &PathBuf| path.to_string_lossy().starts_with('-');
    anyhow::ensure!(
        !named.as_ref().is_some_and(is_option),
        "usage: cargo run -p lifecycle-book [-- FOLDER]"
    );
    let site = named.unwrap_or_else(|| root.join("target/book"));
    let pages = lifecycle_book::build(&root.join("docs"), &site)?;
    let index = site.join("index.html").canonicalize()?;
    writeln!(std::io::stdout(), "{pages} pages: {}", index.display())?;
    Ok(())
}
