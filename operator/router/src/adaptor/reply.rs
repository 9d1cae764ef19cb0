//! The answers of the management agent, as far as they can be believed: each part is checked, and the first that is wrong is named.

use std::collections::BTreeSet;

use fe2o3_amqp::types::messaging::{ApplicationProperties, Body};
use fe2o3_amqp::types::primitives::Value as Amqp;
use serde_json::Value;
use thiserror::Error;

use super::Attributes;
use super::values::to_json;

/// Why an answer is of no use.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Garbage {
    /// The reply has no status.
    #[error("it has no `statusCode`, expected one among its application properties")]
    NoStatus,
    /// The status is no number of a status.
    #[error("its `statusCode` is {0}, expected a whole number from 100 to 599")]
    Status(String),
    /// The body is no map.
    #[error("its body is {0}, expected a map with texts as keys")]
    NoMap(&'static str),
    /// The names of the columns of a query are missing, or no texts.
    #[error("its `attributeNames` are no list of texts")]
    Names,
    /// The rows of a query are missing, or no list.
    #[error("its `results` are no list")]
    Results,
    /// A row is no list, or has another length than the names of the columns.
    #[error(
        "row {row} of its `results` is no list of {expected} values, one for each of `attributeNames`"
    )]
    Row {
        /// The row, from 0.
        row: usize,
        /// The number of columns.
        expected: usize,
    },
    /// The message is not AMQP.
    #[error("it cannot be decoded: {0}")]
    Undecodable(String),
    /// A query never comes to its end.
    #[error("it has more than {0} pages")]
    Endless(usize),
}

/// The status of an answer, with its description.
pub(super) fn status(properties: Option<ApplicationProperties>) -> Result<(u16, String), Garbage> {
    let properties = properties.ok_or(Garbage::NoStatus)?;
    let value = |name: &str| {
        let value = properties.get(name).cloned();
        value.map(|value| to_json(Amqp::from(value)))
    };
    let code = value("statusCode").ok_or(Garbage::NoStatus)?;
    let number = code.as_u64().and_then(|code| u16::try_from(code).ok());
    let number = number.filter(|code| (100..600).contains(code));
    let number = number.ok_or_else(|| Garbage::Status(code.to_string()))?;
    let description = value("statusDescription").unwrap_or_default();
    let description = super::schema::plain_text(&description).unwrap_or_default();
    Ok((number, description))
}

/// The body of an answer as attributes. Those without a value are left out.
pub(super) fn attributes(body: Body<Amqp>) -> Result<Attributes, Garbage> {
    let value = match body {
        Body::Value(value) => value.0,
        Body::Data(_) => return Err(Garbage::NoMap("binary data")),
        Body::Sequence(_) => return Err(Garbage::NoMap("a sequence")),
        Body::Empty => return Err(Garbage::NoMap("empty")),
    };
    let Amqp::Map(pairs) = value else {
        return Err(Garbage::NoMap("a single value"));
    };
    let mut attributes = Attributes::new();
    for (name, value) in pairs {
        let Value::String(name) = to_json(name) else {
            return Err(Garbage::NoMap("a map with other keys"));
        };
        let value = to_json(value);
        if !value.is_null() {
            attributes.insert(name, value);
        }
    }
    Ok(attributes)
}

/// The rows of the answer to a query, each as attributes. Those without a value are left out.
pub(super) fn rows(mut body: Attributes) -> Result<Vec<Attributes>, Garbage> {
    let Some(Value::Array(names)) = body.remove("attributeNames") else {
        return Err(Garbage::Names);
    };
    let names: Option<Vec<&str>> = names.iter().map(Value::as_str).collect();
    let names = names.ok_or(Garbage::Names)?;
    let Some(Value::Array(results)) = body.remove("results") else {
        return Err(Garbage::Results);
    };
    let expected = names.len();
    let rows = results.into_iter().enumerate().map(|(row, result)| {
        let Value::Array(values) = result else {
            return Err(Garbage::Row { row, expected });
        };
        if values.len() != expected {
            return Err(Garbage::Row { row, expected });
        }
        let pairs = names.iter().map(|name| (*name).to_owned()).zip(values);
        Ok(pairs.filter(|(_, value)| !value.is_null()).collect())
    });
    rows.collect()
}

/// The rows of a query that comes in pages.
#[derive(Debug, Default)]
pub(super) struct Pages {
    rows: Vec<Attributes>,
    seen: BTreeSet<String>,
    received: usize,
}

impl Pages {
    /// The number of the first row that is still to come.
    pub(super) fn offset(&self) -> usize {
        self.received
    }

    /// Adds a page that was to have `count` rows at most; true if another must be requested.
    ///
    /// Adds a page of rows. For some types the agent returns all rows whatever the count. Then a
    /// page is too long, or is repeated.
    pub(super) fn add(&mut self, page: Vec<Attributes>, count: usize) -> bool {
        let length = page.len();
        self.received += length;
        let mut is_fresh = false;
        for row in page {
            if self.seen.insert(identity(&row)) {
                self.rows.push(row);
                is_fresh = true;
            }
        }
        is_fresh && length == count
    }

    pub(super) fn into_rows(self) -> Vec<Attributes> {
        self.rows
    }
}

/// Returns a text that distinguishes rows.
fn identity(row: &Attributes) -> String {
    let identity = row.get("identity").or_else(|| row.get("name"));
    identity.map_or_else(|| Value::Object(row.clone()).to_string(), Value::to_string)
}

#[cfg(test)]
mod tests;
