//! Requests of `kubectl` besides the objects themselves: discovery, OpenAPI, and answers in the
//! form of tables. Runs before and after the handlers; decides nothing about any object.

use bytes::Bytes;
use futures::StreamExt;
use serde_json::Value;

use super::discovery;
use super::failure::Failure;
use super::kinds::Kinds;
use super::openapi;
use super::openapi2;
use super::protobuf;
use super::request::ApiRequest;
use super::table::Form;
use super::{Chunks, Content, Reply, Server};
use crate::printers::Printer;
use lifecycle_client::clock::Clock;

/// Answers a request directly, or passes it to the handler and converts the reply to the requested
/// form.
pub(crate) fn serve(
    server: &Server,
    asked: &ApiRequest<'_>,
    handle: impl FnOnce(&ApiRequest<'_>) -> Reply,
) -> Reply {
    if asked.content_type == protobuf::MEDIA_TYPE {
        return match protobuf::decode(asked.body) {
            Some(object) => {
                let body = object.to_string();
                let asked = ApiRequest {
                    content_type: "application/json".to_owned(),
                    body: body.as_bytes(),
                    ..asked.clone()
                };
                respond(server, &asked, handle)
            }
            None => refused(Failure::bad_request(
                "the object provided is unrecognized: it is no object of a kind that is known",
            )),
        };
    }
    respond(server, asked, handle)
}

fn respond(
    server: &Server,
    asked: &ApiRequest<'_>,
    handle: impl FnOnce(&ApiRequest<'_>) -> Reply,
) -> Reply {
    let known = {
        let state = server.lock();
        match answer(asked, &state.kinds) {
            Some(reply) => Err(reply),
            None => wish(asked, &state.kinds),
        }
    };
    match known {
        Err(reply) => reply,
        Ok(None) => handle(asked),
        Ok(Some(wish)) => wish.grant(handle(asked), server),
    }
}

/// The answer to a question about the server itself; nothing if the path names none.
fn answer(asked: &ApiRequest<'_>, kinds: &Kinds) -> Option<Reply> {
    if asked.method != http::Method::GET {
        return None;
    }
    if asked.path.trim_end_matches('/') == "/openapi/v2" {
        return Some(openapi2::reply(&asked.accept, kinds));
    }
    let found = discovery::answer(&asked.path, &asked.accept, kinds);
    if let Some((media_type, body)) = found {
        return Some(json_reply(200, media_type, &body));
    }
    let mut reply = json_reply(
        200,
        "application/json",
        &openapi::answer(&asked.path, kinds)?,
    );
    if asked.query.has("hash") {
        // A client that names the hash of a document never needs to request it again.
        let forever = "public, max-age=31536000, immutable".to_owned();
        reply.headers.push(("cache-control", forever));
    }
    Some(reply)
}

fn json_reply(status: u16, media_type: &str, body: &Value) -> Reply {
    Reply {
        status,
        headers: vec![("content-type", media_type.to_owned())],
        content: Content::Whole(body.to_string().into()),
    }
}

fn refused(failure: Failure) -> Reply {
    json_reply(failure.code, "application/json", &failure.json())
}

/// Requested form of a reply, and its printer.
struct ResponseFormat {
    form: Form,
    printer: Printer,
}

/// Returns the requested form of the answer, if it is not the plain objects.
///
/// # Errors
/// Returns the requested form, or a refusal if that form is not available.
fn wish(asked: &ApiRequest<'_>, kinds: &Kinds) -> Result<Option<ResponseFormat>, Reply> {
    let include = asked.query.text("includeObject");
    let form = Form::from_accept(Some(&asked.accept), Some(include))
        .map_err(|message| refused(Failure::bad_request(message)))?;
    let target = asked.target.as_ref().filter(|_| form != Form::Objects);
    let kind = target.and_then(|target| Some((target, kinds.get(&target.group, &target.plural)?)));
    if kind.is_some_and(|(_, kind)| kind.virtual_only) && matches!(form, Form::Table(..)) {
        // A resource that is not stored has no rows.
        return match Form::has_other(&asked.accept) {
            true => Ok(None),
            false => Err(refused(Failure::not_acceptable())),
        };
    }
    Ok(kind.map(|(target, kind)| {
        let declared = kind
            .version(&target.version)
            .and_then(|version| version.declared.clone());
        let columns = declared
            .as_ref()
            .and_then(|declared| declared["additionalPrinterColumns"].as_array());
        let columns = columns.map_or(&[][..], Vec::as_slice);
        let printer = if kind.custom {
            // A definition with unreadable paths is refused before it is served.
            Printer::declared(columns).unwrap_or_else(|_| Printer::builtin("", ""))
        } else {
            Printer::builtin(&kind.group, &kind.kind)
        };
        ResponseFormat { form, printer }
    }))
}

impl ResponseFormat {
    /// A reply in the form that was wished for.
    fn grant(self, reply: Reply, server: &Server) -> Reply {
        let content = match reply.content {
            Content::Whole(body) => Content::Whole(self.format_body(body, server)),
            Content::Watch(chunks) => Content::Watch(self.watch(chunks, server.clone())),
        };
        Reply { content, ..reply }
    }

    fn format_body(&self, body: Bytes, server: &Server) -> Bytes {
        match serde_json::from_slice(&body) {
            Ok(value) => self
                .form
                .apply(value, &self.printer, server.now())
                .to_string()
                .into(),
            // The body is a page for people, such as the one for an unknown path.
            Err(_) => body,
        }
    }

    fn watch(self, chunks: Chunks, server: Server) -> Chunks {
        let mut first = true;
        chunks
            .map(move |chunk| {
                let mut formed = Vec::new();
                for line in chunk
                    .split(|byte| *byte == b'\n')
                    .filter(|line| !line.is_empty())
                {
                    self.event(line, &server, first, &mut formed);
                    first = false;
                }
                formed.into()
            })
            .boxed()
    }

    fn event(&self, line: &[u8], server: &Server, first: bool, out: &mut Vec<u8>) {
        let event: Result<Value, _> = serde_json::from_slice(line);
        match event {
            Ok(mut event) => {
                let object = event["object"].take();
                event["object"] =
                    self.form
                        .apply_to_event(object, &self.printer, server.now(), first);
                out.extend_from_slice(event.to_string().as_bytes());
            }
            Err(_) => out.extend_from_slice(line),
        }
        out.push(b'\n');
    }
}
