//! A length of time: `30s`, or `spec.interval else 30s min 5s` where the object says how long.

use super::cursor::{Cursor, Fault, join};
use crate::ast::Length;

const OTHERWISE: &str = "`else 30s`, what counts where the object says nothing that can be read";

pub(super) fn length(cursor: &mut Cursor) -> Result<Length, Fault> {
    if cursor.word().is_none() {
        let otherwise = cursor.time()?;
        return Ok(Length {
            span: cursor.previous(),
            path: None,
            otherwise,
            least: None,
        });
    }
    let path = cursor.path()?;
    let first = path.root().span();
    if cursor.eat_word("else").is_none() {
        return Err(cursor.fault(OTHERWISE));
    }
    let otherwise = cursor.time()?;
    let least = match cursor.eat_word("min") {
        Some(_) => Some(cursor.time()?),
        None => None,
    };
    Ok(Length {
        span: join(first, cursor.previous()),
        path: Some(path),
        otherwise,
        least,
    })
}
