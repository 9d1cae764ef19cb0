//! A client of the management agent of skupper-router: one connection, and one request at a time.
//! Each request has a time limit. The client checks each answer and drops answers that no open
//! request waits for. A lost connection ends the client; its owner connects again.

use std::fmt::{self, Display, Formatter};
use std::pin::pin;
use std::time::Duration;

use fe2o3_amqp::connection::ConnectionHandle;
use fe2o3_amqp::link::RecvError;
use fe2o3_amqp::session::SessionHandle;
use fe2o3_amqp::types::messaging::{
    ApplicationProperties, Body, Message, MessageId, Outcome, Properties, Source,
};
use fe2o3_amqp::types::primitives::{OrderedMap, SimpleValue, Value as Amqp};
use fe2o3_amqp::{Connection, Receiver, Sender, Session};
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, timeout, timeout_at};

use super::changes::Operation;
pub use super::reply::Garbage;
use super::reply::{Pages, attributes, rows, status};
use super::schema::managed_type;
use super::values::map_to_amqp;
use super::{Attributes, Entity};

/// The address of the agent in every router.
const AGENT: &str = "$management";

/// The largest answer that is read, in bytes.
const MAX_ANSWER: u64 = 32 << 20;

/// The longest silence of a router, in milliseconds; it sends empty frames when it has nothing else to send.
const MAX_SILENCE: u32 = 16_000;

/// The most pages of one query.
const MAX_PAGES: usize = 10_000;

/// Any error of the protocol below.
type Cause = Box<dyn std::error::Error + Send + Sync>;

/// The agent to connect to, and the bounds of requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The host of the agent.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// How long a request may take, and the connecting.
    pub limit: Duration,
    /// How many rows a query requests at a time.
    pub page: u16,
    /// The name of this client in the router's list of connections.
    pub container: String,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            host: "localhost".to_owned(),
            port: 5672,
            limit: Duration::from_secs(5),
            page: 500,
            container: "lifecycle-router-adaptor".to_owned(),
        }
    }
}

/// The operation of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Creates an entity.
    Create,
    /// Gives attributes of an entity other values.
    Update,
    /// Deletes an entity.
    Delete,
    /// Reads all entities of a type.
    Query,
    /// Reads one entity.
    Read,
}

impl Display for Verb {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Create => "CREATE",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
            Self::Query => "QUERY",
            Self::Read => "READ",
        })
    }
}

/// The operation and the object of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// The operation.
    pub verb: Verb,
    /// The type of the entity, as a document names it.
    pub entity: String,
    /// The name of the entity; absent for a query.
    pub name: Option<String>,
}

impl Display for Subject {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { verb, entity, name } = self;
        match name {
            Some(name) => write!(f, "{verb} {entity} `{name}`"),
            None => write!(f, "{verb} {entity}"),
        }
    }
}

/// Why a request failed.
#[derive(Debug, Error)]
pub enum Error {
    /// The connection to the agent failed.
    #[error(
        "cannot connect to the management agent of the router at {host}:{port}: check that the router runs and has a listener `amqp` there"
    )]
    Connect {
        /// The host.
        host: String,
        /// The port.
        port: u16,
        /// The reason.
        #[source]
        source: Cause,
    },
    /// Connecting took too long.
    #[error(
        "the management agent of the router at {host}:{port} did not complete a connection within {limit:?}: check that the router is not overloaded"
    )]
    ConnectLate {
        /// The host.
        host: String,
        /// The port.
        port: u16,
        /// The limit.
        limit: Duration,
    },
    /// The connection ended before the answer. The router may have applied the request nevertheless.
    #[error(
        "{subject}: the connection to the router was lost before it answered; connect again and query"
    )]
    Lost {
        /// The request.
        subject: Subject,
        /// The reason.
        #[source]
        source: Cause,
    },
    /// The answer did not come in time. The router may have applied the request nevertheless.
    #[error("{subject}: the router did not answer within {limit:?}; query before a repetition")]
    Late {
        /// The request.
        subject: Subject,
        /// The limit.
        limit: Duration,
    },
    /// The router did not take the request.
    #[error("{subject}: the router did not accept the request but answered `{outcome}`; repeat it")]
    NotAccepted {
        /// The request.
        subject: Subject,
        /// The outcome of the message.
        outcome: &'static str,
    },
    /// The agent answered with a status that is none of success.
    #[error("{subject}: the router refused it with status {code}: {description}")]
    Refused {
        /// The request.
        subject: Subject,
        /// The status.
        code: u16,
        /// The description of the status.
        description: String,
    },
    /// The answer is of no use. The router may have applied the request nevertheless.
    #[error("{subject}: the answer of the router is not as the protocol has it")]
    Garbage {
        /// The request.
        subject: Subject,
        /// The problem.
        #[source]
        source: Garbage,
    },
}

impl Error {
    /// True if the client is of no use any more: connect again.
    pub fn is_lost(&self) -> bool {
        match self {
            Self::Connect { .. } | Self::ConnectLate { .. } | Self::Lost { .. } => true,
            Self::Late { .. }
            | Self::NotAccepted { .. }
            | Self::Refused { .. }
            | Self::Garbage { .. } => false,
        }
    }
}

/// A connection to the agent.
#[derive(Debug)]
pub struct Client {
    receiver: Receiver,
    sender: Sender,
    session: SessionHandle<()>,
    connection: ConnectionHandle<()>,
    /// The address of answers.
    reply_to: String,
    /// The requests so far.
    requests: u64,
    limit: Duration,
    page: u16,
}

impl Client {
    /// Connects to the agent.
    ///
    /// # Errors
    /// Returns an error if no process listens there, speaks AMQP, or answers in time.
    pub async fn connect(options: &Options) -> Result<Self, Error> {
        let connected = timeout(options.limit, open(options)).await;
        let (host, port) = (options.host.clone(), options.port);
        match connected {
            Ok(Ok(client)) => Ok(client),
            Ok(Err(source)) => Err(Error::Connect { host, port, source }),
            Err(_) => Err(Error::ConnectLate {
                host,
                port,
                limit: options.limit,
            }),
        }
    }

    /// Gives the requests from now on another time limit.
    pub fn set_limit(&mut self, limit: Duration) {
        self.limit = limit;
    }

    /// Closes the connection, in order if the router takes part within the limit of a request.
    pub async fn close(mut self) {
        let close = async {
            self.sender.close().await?;
            self.receiver.close().await?;
            self.session.end().await?;
            self.connection.close().await?;
            Ok::<(), Cause>(())
        };
        match timeout(self.limit, close).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                tracing::debug!(%error, "the connection to the router did not close in order")
            }
            Err(_) => tracing::debug!("the router did not close the connection in time"),
        }
    }

    /// Reads all entities of a type, named as in the schema of the router without its prefix: `tcpListener`, `router.address`, `connection`.
    ///
    /// # Errors
    /// The request fails.
    pub async fn query(&mut self, entity: &str) -> Result<Vec<Attributes>, Error> {
        let subject = Subject {
            verb: Verb::Query,
            entity: entity.to_owned(),
            name: None,
        };
        let body: Attributes = [("attributeNames".to_owned(), serde_json::json!([]))]
            .into_iter()
            .collect();
        let count = usize::from(self.page);
        let mut pages = Pages::default();
        for _ in 0..MAX_PAGES {
            // No agent has more rows than that.
            let offset = i32::try_from(pages.offset()).unwrap_or(i32::MAX);
            let more = [
                ("entityType", managed_type(entity).into()),
                ("offset", SimpleValue::Int(offset)),
                ("count", SimpleValue::Int(i32::from(self.page))),
            ];
            let answer = self.request(&subject, &more, &body).await?;
            let page = attributes(answer).and_then(rows);
            let page = page.map_err(|source| garbage(&subject, source))?;
            if !pages.add(page, count) {
                return Ok(pages.into_rows());
            }
        }
        Err(garbage(&subject, Garbage::Endless(MAX_PAGES)))
    }

    /// Reads one entity.
    ///
    /// # Errors
    /// The request fails.
    pub async fn read(&mut self, entity: Entity, name: &str) -> Result<Attributes, Error> {
        let subject = subject(Verb::Read, entity, name);
        let answer = self.request(&subject, &[], &Attributes::new()).await?;
        attributes(answer).map_err(|source| garbage(&subject, source))
    }

    /// Creates an entity.
    ///
    /// # Errors
    /// The request fails.
    pub async fn create(
        &mut self,
        entity: Entity,
        name: &str,
        attributes: &Attributes,
    ) -> Result<(), Error> {
        let subject = subject(Verb::Create, entity, name);
        self.request(&subject, &[], attributes).await.map(drop)
    }

    /// Gives attributes of an entity other values.
    ///
    /// # Errors
    /// The request fails.
    pub async fn update(
        &mut self,
        entity: Entity,
        name: &str,
        attributes: &Attributes,
    ) -> Result<(), Error> {
        let subject = subject(Verb::Update, entity, name);
        self.request(&subject, &[], attributes).await.map(drop)
    }

    /// Deletes an entity.
    ///
    /// # Errors
    /// The request fails.
    pub async fn delete(&mut self, entity: Entity, name: &str) -> Result<(), Error> {
        let subject = subject(Verb::Delete, entity, name);
        let answer = self.request(&subject, &[], &Attributes::new()).await;
        answer.map(drop)
    }

    /// Sends an operation.
    ///
    /// # Errors
    /// The request fails.
    pub async fn apply(&mut self, operation: &Operation) -> Result<(), Error> {
        match operation {
            Operation::Delete { entity, name } => self.delete(*entity, name).await,
            Operation::Update {
                entity,
                name,
                attributes,
            } => self.update(*entity, name, attributes).await,
            Operation::Create {
                entity,
                name,
                attributes,
            } => self.create(*entity, name, attributes).await,
        }
    }

    /// Sends a request and returns the body of its answer.
    async fn request(
        &mut self,
        subject: &Subject,
        more: &[(&str, SimpleValue)],
        body: &Attributes,
    ) -> Result<Body<Amqp>, Error> {
        let deadline = Instant::now() + self.limit;
        let answer = timeout_at(deadline, self.exchange(subject, more, body)).await;
        answer.unwrap_or_else(|_| {
            Err(Error::Late {
                subject: subject.clone(),
                limit: self.limit,
            })
        })
    }

    /// Sends a request and waits for its answer. Dropped at any point, it leaves the client usable: a later answer has no request.
    async fn exchange(
        &mut self,
        subject: &Subject,
        more: &[(&str, SimpleValue)],
        body: &Attributes,
    ) -> Result<Body<Amqp>, Error> {
        self.requests += 1;
        let id = self.requests.to_string();
        let message = self.message(subject, more, body, &id);
        let lost = |source: Cause| Error::Lost {
            subject: subject.clone(),
            source,
        };
        // Both at once: when a connection ends, a message that is sent never has an outcome, but the link of answers ends.
        let mut sending = pin!(self.sender.send(message));
        let mut is_sent = false;
        loop {
            let answer = tokio::select! {
                outcome = &mut sending, if !is_sent => {
                    is_sent = true;
                    let outcome = outcome.map_err(|error| lost(error.into()))?;
                    if let Some(outcome) = failure(&outcome) {
                        let subject = subject.clone();
                        return Err(Error::NotAccepted { subject, outcome });
                    }
                    continue;
                }
                answer = self.receiver.recv::<Body<Amqp>>() => answer,
            };
            match answer {
                Ok(delivery) => match evaluate(subject, &id, delivery.into_message()) {
                    Some(result) => return result,
                    None => tracing::debug!(%subject, "an answer has no open request"),
                },
                Err(RecvError::MessageDecode(undecodable)) => {
                    // It may be the answer, and no other will come.
                    let problem = Garbage::Undecodable(undecodable.source.to_string());
                    let rejected = self.receiver.reject(undecodable.info, None).await;
                    rejected.map_err(|error| lost(error.into()))?;
                    return Err(garbage(subject, problem));
                }
                Err(error) => return Err(lost(error.into())),
            }
        }
    }

    fn message(
        &self,
        subject: &Subject,
        more: &[(&str, SimpleValue)],
        body: &Attributes,
        id: &str,
    ) -> Message<Body<Amqp>> {
        let mut properties: OrderedMap<String, SimpleValue> = OrderedMap::new();
        let mut set = |name: &str, value: SimpleValue| properties.insert(name.to_owned(), value);
        set("operation", subject.verb.to_string().into());
        if let Some(name) = &subject.name {
            set("type", managed_type(&subject.entity).into());
            set("name", name.clone().into());
        }
        for (name, value) in more {
            set(name, value.clone());
        }
        Message::builder()
            .properties(
                Properties::builder()
                    .to(AGENT)
                    .reply_to(self.reply_to.clone())
                    .correlation_id(id.to_owned())
                    .build(),
            )
            .application_properties(ApplicationProperties(properties))
            .body(Body::from(map_to_amqp(body)))
            .build()
    }
}

/// Opens a connection with both links.
async fn open(options: &Options) -> Result<Client, Cause> {
    let stream = tokio::net::TcpStream::connect((options.host.as_str(), options.port)).await?;
    stream.set_nodelay(true)?;
    let mut connection = handshake(options, stream).await?;
    let mut session = Session::begin(&mut connection).await?;
    let sender = Sender::attach(&mut session, "requests", AGENT).await?;
    let receiver = Receiver::builder()
        .name("answers")
        .source(Source::builder().dynamic(true).build())
        .max_message_size(MAX_ANSWER)
        .auto_accept(true)
        .attach(&mut session)
        .await?;
    let source = receiver.source().as_ref();
    let reply_to = source.and_then(|source| source.address.clone());
    let reply_to = reply_to.ok_or("the router gave no address for answers")?;
    Ok(Client {
        receiver,
        sender,
        session,
        connection,
        reply_to,
        requests: 0,
        limit: options.limit,
        page: options.page.max(1),
    })
}

/// Opens a connection on a stream, without SASL. The listener does not require SASL. The router
/// resolves its own name before it begins with SASL, which takes long if no resolver knows the
/// name.
pub(super) async fn handshake<S>(
    options: &Options,
    stream: S,
) -> Result<ConnectionHandle<()>, Cause>
where
    S: AsyncRead + AsyncWrite + fmt::Debug + Send + Unpin + 'static,
{
    let connection = Connection::builder()
        .container_id(options.container.as_str())
        .hostname(options.host.as_str())
        .scheme("amqp")
        .idle_time_out(MAX_SILENCE)
        .open_with_stream(stream)
        .await?;
    Ok(connection)
}

/// The result of a request, if this is the answer to it.
fn evaluate(
    subject: &Subject,
    id: &str,
    answer: Message<Body<Amqp>>,
) -> Option<Result<Body<Amqp>, Error>> {
    let correlation = answer.properties.and_then(|it| it.correlation_id)?;
    if correlation != MessageId::String(id.to_owned()) {
        return None;
    }
    Some(match status(answer.application_properties) {
        Ok((200..300, _)) => Ok(answer.body),
        Ok((code, description)) => Err(Error::Refused {
            subject: subject.clone(),
            code,
            description,
        }),
        Err(source) => Err(garbage(subject, source)),
    })
}

fn subject(verb: Verb, entity: Entity, name: &str) -> Subject {
    Subject {
        verb,
        entity: entity.name().to_owned(),
        name: Some(name.to_owned()),
    }
}

fn garbage(subject: &Subject, source: Garbage) -> Error {
    let subject = subject.clone();
    Error::Garbage { subject, source }
}

/// Returns the name of an outcome that means that a message has not arrived.
fn failure(outcome: &Outcome) -> Option<&'static str> {
    match outcome {
        Outcome::Accepted(_) => None,
        Outcome::Rejected(_) => Some("rejected"),
        Outcome::Released(_) => Some("released"),
        Outcome::Modified(_) => Some("modified"),
    }
}
