//! A duration: `30s`, or `spec.interval else 30s min 5s` for one that the object holds.

use super::cursor::{Cursor, Fault, join};
use crate::ast::Length;

const OTHERWISE: &str = "`else 30s`, the duration if the object has none that can be read";

pub(super) fn length(cursor: &mut Cursor) -> Result<Length, Fault> {
    if cursor.peek_ident().is_none() {
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
