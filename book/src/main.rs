//! Makes a site of `docs/`: `cargo run -p lifecycle-book`. It goes into `target/book`, or into the folder that is named.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use lifecycle_book::{Book, Error, site};

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    let root = root.expect("this crate is a folder of the repository");
    let named = std::env::args_os().nth(1).map(PathBuf::from);
    let folder = named.unwrap_or_else(|| root.join("target/book"));
    let built = Book::read(&root.join("docs")).and_then(|book| {
        site::build(&book, &folder)?;
        Ok(book.entries.len())
    });
    match built {
        Ok(pages) => said(&format!(
            "{pages} pages: {}",
            folder.join("index.html").display()
        )),
        Err(error) => failed(&error),
    }
}

fn said(line: &str) -> ExitCode {
    match writeln!(io::stdout(), "{line}") {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn failed(error: &Error) -> ExitCode {
    let cause = std::error::Error::source(error).map_or(String::new(), |why| format!(": {why}"));
    // Who reads nothing of it sees how it ended.
    let _ = writeln!(io::stderr(), "{error}{cause}");
    ExitCode::FAILURE
}
