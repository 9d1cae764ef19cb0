//! `api-reader FILE`: prints the public items of a library, one a line, from the JSON that rustdoc
//! wrote of it. Leaves out blanket and auto impls. The suite `packages` runs it and
//! reports the differences.

use std::io::{self, Write};
use std::process::ExitCode;

use public_api::Builder;

fn main() -> ExitCode {
    let Some(file) = std::env::args_os().nth(1) else {
        eprintln!("say of which file: api-reader target/doc/lifecycle_http.json");
        return ExitCode::FAILURE;
    };
    let read = Builder::from_rustdoc_json(file)
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .build();
    let lines = match read {
        Ok(api) => api
            .items()
            .map(|item| format!("{item}\n"))
            .collect::<String>(),
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    match io::stdout().write_all(lines.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_closed) => ExitCode::FAILURE,
    }
}
