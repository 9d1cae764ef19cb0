//! What `kubectl` asks for besides the objects themselves: discovery, OpenAPI, and answers in the form of tables.
//! Stands before and behind the handlers; decides nothing about any object.

use bytes::Bytes;
use futures::StreamExt;
use serde_json::Value;

use super::discovery;
use super::failure::Failure;
use super::kinds::Kinds;
use super::openapi;
use super::openapi2;
use super::protobuf;
use super::request::Asked;
use super::table::Form;
use super::{Chunks, Content, Reply, Server};
use crate::printers::Printer;
use lifecycle_client::clock::Clock;

/// Answers a request by itself, or has it handled and gives the answer the form that is asked for.
pub(crate) fn serve(
    server: &Server,
    asked: &Asked<'_>,
    handle: impl FnOnce(&Asked<'_>) -> Reply,
) -> Reply {
    if asked.content_type == protobuf::MEDIA_TYPE {
        return match protobuf::decode(asked.body) {
            Some(object) => {
                let body = object.to_string();
                let asked = Asked {
                    content_type: "application/json".to_owned(),
                    body: body.as_bytes(),
                    ..asked.clone()
                };
                answered(server, &asked, handle)
            }
            None => refused(Failure::bad_request(
                "the object provided is unrecognized: it is no object of a kind that is known",
            )),
        };
    }
    answered(server, asked, handle)
}

fn answered(server: &Server, asked: &Asked<'_>, handle: impl FnOnce(&Asked<'_>) -> Reply) -> Reply {
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
fn answer(asked: &Asked<'_>, kinds: &Kinds) -> Option<Reply> {
    if asked.method != http::Method::GET {
        return None;
    }
    if asked.path.trim_end_matches('/') == "/openapi/v2" {
        return Some(openapi2::reply(&asked.accept, kinds));
    }
    let found = discovery::answer(&asked.path, &asked.accept, kinds);
    if let Some((media_type, body)) = found {
        return Some(whole(200, media_type, &body));
    }
    let mut reply = whole(
        200,
        "application/json",
        &openapi::answer(&asked.path, kinds)?,
    );
    if asked.query.has("hash") {
        // Whoever names the hash of a document need not ask for it again.
        let forever = "public, max-age=31536000, immutable".to_owned();
        reply.headers.push(("cache-control", forever));
    }
    Some(reply)
}

fn whole(status: u16, media_type: &str, body: &Value) -> Reply {
    Reply {
        status,
        headers: vec![("content-type", media_type.to_owned())],
        content: Content::Whole(body.to_string().into()),
    }
}

fn refused(failure: Failure) -> Reply {
    whole(failure.code, "application/json", &failure.json())
}

/// How the answer to a request is to be formed: in which form, and printed by what.
struct Wish {
    form: Form,
    printer: Printer,
}

/// What a request wishes for, where that is anything but the objects as they are.
///
/// # Errors
/// It wishes for what there is not: the reply says so.
fn wish(asked: &Asked<'_>, kinds: &Kinds) -> Result<Option<Wish>, Reply> {
    let include = asked.query.text("includeObject");
    let form = Form::wanted(Some(&asked.accept), Some(include))
        .map_err(|message| refused(Failure::bad_request(message)))?;
    let target = asked.target.as_ref().filter(|_| form != Form::Objects);
    let kind = target.and_then(|target| Some((target, kinds.get(&target.group, &target.plural)?)));
    if kind.is_some_and(|(_, kind)| kind.virtual_only) && matches!(form, Form::Table(..)) {
        // What is not stored has no rows.
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
            // A definition whose paths cannot be read is refused before it is served.
            Printer::declared(columns).unwrap_or_else(|_| Printer::builtin("", ""))
        } else {
            Printer::builtin(&kind.group, &kind.kind)
        };
        Wish { form, printer }
    }))
}

impl Wish {
    /// A reply in the form that was wished for.
    fn grant(self, reply: Reply, server: &Server) -> Reply {
        let content = match reply.content {
            Content::Whole(body) => Content::Whole(self.whole(body, server)),
            Content::Watch(chunks) => Content::Watch(self.watch(chunks, server.clone())),
        };
        Reply { content, ..reply }
    }

    fn whole(&self, body: Bytes, server: &Server) -> Bytes {
        match serde_json::from_slice(&body) {
            Ok(value) => self
                .form
                .apply(value, &self.printer, server.now())
                .to_string()
                .into(),
            // A page for people, such as the one that says that there is none.
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
