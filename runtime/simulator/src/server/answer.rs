//! Answers of handlers before they become replies. Knows codes and bodies, not their origin.

use bytes::Bytes;
use serde_json::Value;

use super::failure::Failure;
use super::{Chunks, Content, Reply, Server};

/// An answer of a handler.
pub(crate) struct Answer {
    code: u16,
    warnings: Vec<String>,
    body: Body,
}

/// Begins the body of a watch, once it is known which server it reads.
type Begin = Box<dyn FnOnce(Server) -> Chunks + Send>;

enum Body {
    Json(Bytes),
    Text(String),
    Watch(Begin),
}

impl Answer {
    /// JSON that is written already.
    pub(crate) fn bytes(code: u16, body: impl Into<Bytes>) -> Self {
        Self {
            code,
            warnings: Vec::new(),
            body: Body::Json(body.into()),
        }
    }

    pub(crate) fn json(code: u16, body: &Value) -> Self {
        Self::bytes(code, body.to_string())
    }

    pub(crate) fn text(code: u16, body: &str) -> Self {
        Self {
            code,
            warnings: Vec::new(),
            body: Body::Text(body.to_owned()),
        }
    }

    pub(crate) fn watch(begin: impl FnOnce(Server) -> Chunks + Send + 'static) -> Self {
        Self {
            code: 200,
            warnings: Vec::new(),
            body: Body::Watch(Box::new(begin)),
        }
    }

    pub(crate) fn warn(mut self, warnings: Vec<String>) -> Self {
        self.warnings = warnings;
        self
    }

    pub(super) fn reply(self, server: &Server) -> Reply {
        let kind = match self.body {
            Body::Json(_) | Body::Watch(_) => "application/json",
            Body::Text(_) => "text/plain; charset=utf-8",
        };
        let mut headers = vec![("content-type", kind.to_owned())];
        headers.extend(self.warnings.into_iter().map(|warning| {
            let quoted = warning.replace('\\', "\\\\").replace('"', "\\\"");
            ("warning", format!("299 - \"{quoted}\""))
        }));
        let content = match self.body {
            Body::Json(bytes) => Content::Whole(bytes),
            Body::Text(text) => Content::Whole(text.into()),
            Body::Watch(begin) => Content::Watch(begin(server.clone())),
        };
        Reply {
            status: self.code,
            headers,
            content,
        }
    }
}

impl From<Failure> for Answer {
    fn from(failure: Failure) -> Self {
        Self::json(failure.code, &failure.json())
    }
}
