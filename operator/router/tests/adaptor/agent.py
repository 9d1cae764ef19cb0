"""A management agent over AMQP 1.0 for tests of the adaptor, on Debian's python3-qpid-proton.

It prints `port N` when it listens on loopback. Each line on its standard input is one command, answered by one
line: `ok`, `error TEXT`, or JSON. It ends when its standard input does. See `Agent.command` for the commands.
"""

import json
import sys
import threading
import uuid

from proton import Message, int32, uint, ulong
from proton.handlers import MessagingHandler, Reject, Release
from proton.reactor import ApplicationEvent, Container, EventInjector

PREFIX = "io.skupper.router."

# Of each attribute: its kind, its default, and marks: `u` can be updated, `r` is read-only, `!` is required.
SCHEMA = {
    "listener": {
        "host": ("text", ""), "port": ("text", "amqp"), "socketAddressFamily": ("text", None),
        "role": ("text", "normal"), "cost": ("number", 1), "sslProfile": ("text", None),
        "saslMechanisms": ("text", None), "authenticatePeer": ("flag", False),
        "requireEncryption": ("flag", False), "requireSsl": ("flag", False),
        "maxFrameSize": ("number", 16384), "maxSessions": ("number", 32768),
        "maxSessionFrames": ("number", None), "idleTimeoutSeconds": ("number", 16),
        "initialHandshakeTimeoutSeconds": ("number", 0), "stripAnnotations": ("text", "both"),
        "linkCapacity": ("number", None), "failoverUrls": ("text", None), "healthz": ("flag", True),
        "metrics": ("flag", True), "websockets": ("flag", True), "http": ("flag", False),
        "httpRootDir": ("text", None), "messageLoggingComponents": ("text", "none"),
        "policyVhost": ("text", None),
    },
    "connector": {
        "host": ("text", "127.0.0.1"), "port": ("text", "amqp"), "socketAddressFamily": ("text", None),
        "role": ("text", "normal"), "cost": ("number", 1), "sslProfile": ("text", None),
        "proxyProfile": ("text", None), "saslMechanisms": ("text", None), "allowRedirect": ("flag", True),
        "maxFrameSize": ("number", 16384), "maxSessions": ("number", 32768),
        "maxSessionFrames": ("number", None), "idleTimeoutSeconds": ("number", 16),
        "stripAnnotations": ("text", "both"), "linkCapacity": ("number", None),
        "verifyHostname": ("flag", True), "saslUsername": ("text", None), "saslPassword": ("text", None),
        "messageLoggingComponents": ("text", "none"), "policyVhost": ("text", None),
    },
    "sslProfile": {
        "ciphers": ("text", None, "u"), "protocols": ("text", None, "u"), "caCertFile": ("text", None, "u"),
        "certFile": ("text", None, "u"), "privateKeyFile": ("text", None, "u"), "password": ("text", None, "u"),
        "uidFormat": ("text", None), "uidNameMappingFile": ("text", None), "ordinal": ("number", None, "u"),
        "oldestValidOrdinal": ("number", None, "u"),
    },
    "proxyProfile": {
        "host": ("text", None, "u"), "port": ("text", None, "u"), "username": ("text", None, "u"),
        "password": ("text", None, "u"),
    },
    "tcpListener": {
        "address": ("text", None), "host": ("text", ""), "backlog": ("number", 0), "port": ("text", None, "!"),
        "multiAddressStrategy": ("text", "none"), "siteId": ("text", None), "sslProfile": ("text", None),
        "authenticatePeer": ("flag", False), "observer": ("text", "auto", "u"),
        "operStatus": ("text", None, "r"), "connectionMsg": ("text", None, "r"),
        "connectionsOpened": ("number", None, "r"), "connectionsClosed": ("number", None, "r"),
    },
    "tcpConnector": {
        "address": ("text", None, "!"), "host": ("text", "127.0.0.1"), "port": ("text", None, "!"),
        "siteId": ("text", None), "processId": ("text", None), "sslProfile": ("text", None),
        "verifyHostname": ("flag", True), "connectionsOpened": ("number", None, "r"),
        "connectionsClosed": ("number", None, "r"),
    },
    "listenerAddress": {
        "address": ("text", None, "!"), "value": ("number", None, "!"), "listener": ("text", None, "!"),
        "connectionsOpened": ("number", None, "r"),
    },
    "router": {"id": ("text", None), "mode": ("text", "standalone")},
    "site": {"location": ("text", None), "provider": ("text", None), "version": ("text", None),
             "platform": ("text", None), "namespace": ("text", None)},
    "log": {"module": ("text", None, "!"), "enable": ("text", None, "u")},
    "router.config.address": {"prefix": ("text", None), "distribution": ("text", None)},
    "router.address": {name: ("any", None, "r") for name in (
        "key", "distribution", "inProcess", "subscriberCount", "remoteCount", "watch")},
    "connection": {name: ("any", None, "r") for name in (
        "host", "role", "dir", "container", "opened", "active", "operStatus", "isEncrypted")},
}
OPERATIONS = {
    "listener": "CREATE DELETE READ", "connector": "CREATE DELETE READ",
    "sslProfile": "CREATE UPDATE DELETE READ", "proxyProfile": "CREATE UPDATE DELETE READ",
    "tcpListener": "CREATE UPDATE DELETE READ", "tcpConnector": "CREATE DELETE READ",
    "listenerAddress": "CREATE DELETE READ", "log": "UPDATE READ",
}
# These alone heed `offset` and `count`, as with the real router, where another part answers for them.
PAGED = ("router.address", "connection")
TEXTS = {200: "OK", 201: "Created", 204: "No Content"}


class Refusal(Exception):
    """A status that is none of success."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status = status
        self.text = text


def convert(name, kind, value):
    """An attribute as the router keeps it."""
    if value is None or kind == "any":
        return value
    if kind == "number":
        if isinstance(value, bool):
            raise Refusal(400, f"invalid integer {value} of attribute '{name}'")
        try:
            return int(value)
        except (TypeError, ValueError):
            raise Refusal(400, f"invalid integer {value} of attribute '{name}'") from None
    if kind == "flag":
        known = {"true": True, "yes": True, "false": False, "no": False}
        found = known.get(str(value).lower())
        if found is None:
            raise Refusal(400, f"invalid boolean {value} of attribute '{name}'")
        return found
    return str(value)


class Store:
    """The entities, by type and name."""

    def __init__(self):
        self.entities = {}
        self.occupied = {}
        self.forget()

    def forget(self):
        """Has the entities that a router has from its start, and no other."""
        self.entities = {short: {} for short in SCHEMA}
        fixed = [
            ("router", {"name": "router/self", "id": "self", "mode": "interior"}),
            ("site", {"name": "west", "platform": "kubernetes"}),
            ("log", {"name": "log/ROUTER", "module": "ROUTER", "enable": "info+"}),
            ("router.config.address", {"name": "mc", "prefix": "mc", "distribution": "multicast"}),
            ("listener", {"name": "@9090", "port": 9090, "http": True, "httpRootDir": "disabled"}),
            ("listener", {"name": "amqp", "host": "localhost", "port": 5672}),
            ("listener", {"name": "amqps", "port": 5671, "saslMechanisms": "EXTERNAL", "authenticatePeer": True}),
            ("connector", {"name": "auto-mesh-peer", "role": "inter-router", "port": 55671}),
        ]
        for short, attributes in fixed:
            self.put(short, attributes)

    def put(self, short, given):
        """Stores an entity with its defaults."""
        attributes = {"name": given["name"], "identity": f"{short}/{given['name']}", "type": PREFIX + short}
        for name, definition in SCHEMA[short].items():
            value = convert(name, definition[0], given.get(name, definition[1]))
            if value is not None:
                attributes[name] = value
        self.entities[short][given["name"]] = attributes
        return attributes

    def create(self, short, name, body):
        for kept in self.entities.values():
            if name in kept:
                raise Refusal(400, f"adding {name} duplicates unique attribute 'name'")
        for key in body:
            if key in ("name", "type"):
                continue
            definition = SCHEMA[short].get(key)
            if definition is None:
                raise Refusal(400, f"Unknown attribute '{key}' for '{PREFIX}{short}'")
            if "r" in marks(definition):
                raise Refusal(400, f"Cannot set attribute '{key}' in CREATE")
        for key, definition in SCHEMA[short].items():
            if "!" in marks(definition) and body.get(key) is None:
                raise Refusal(400, f"Missing required attribute '{key}'")
        attributes = self.put(short, {**body, "name": name})
        if short == "tcpListener":
            # Like the real router, it tries to have the socket once.
            why = self.occupied.get(attributes["port"], "")
            attributes.update(operStatus="down", connectionMsg=why, connectionsOpened=0, connectionsClosed=0)
        if short == "tcpConnector":
            attributes.update(connectionsOpened=0, connectionsClosed=0)
        return attributes

    def update(self, short, name, body):
        attributes = self.find(short, name)
        for key, value in body.items():
            definition = SCHEMA[short].get(key)
            if key in ("name", "type") or definition is None:
                if attributes.get(key) != value:
                    raise Refusal(400, f"EntityType({PREFIX}{short}) has no attribute '{key}' to update")
            elif "u" not in marks(definition) and attributes.get(key) != value:
                raise Refusal(400, f"Cannot update attribute '{key}' in UPDATE")
        changed = {key: convert(key, SCHEMA[short][key][0], value)
                   for key, value in body.items() if key in SCHEMA[short]}
        attributes.update(changed)
        if short == "sslProfile" and (attributes.get("oldestValidOrdinal") or 0) > (attributes.get("ordinal") or 0):
            # Like the real router: the values stay.
            why = f"ordinal must be >= oldestValidOrdinal (sslProfile '{name}')"
            raise Refusal(500, f"CError: Configuration: {why}")
        return attributes

    def find(self, short, name):
        found = self.entities[short].get(name)
        if found is None:
            raise Refusal(404, f"No entity with name={name}")
        return found

    def query(self, short, wanted, offset, count):
        names = wanted or ["name", "identity", "type", *SCHEMA[short]]
        for name in names:
            if name not in ("name", "identity", "type") and name not in SCHEMA[short]:
                raise Refusal(404, f"Unknown attributes ['{name}'] for type {PREFIX}{short}")
        rows = [[entity.get(name) for name in names] for entity in self.entities[short].values()]
        if short in PAGED:
            start = int(offset or 0)
            rows = rows[start:] if count is None else rows[start:start + int(count)]
        return {"attributeNames": names, "results": rows}


def is_flow(address):
    return isinstance(address, str) and address.startswith(("mc/sfe.", "sfe."))


def marks(definition):
    return definition[2] if len(definition) > 2 else ""


def short_type(value):
    if not isinstance(value, str) or not value:
        raise Refusal(400, "No 'type' property")
    short = value[len(PREFIX):] if value.startswith(PREFIX) else value
    if short not in SCHEMA:
        raise Refusal(400, f"No such entity type '{value}'")
    return short


class Agent(MessagingHandler):
    """The server. All of it runs in the thread of the container."""

    def __init__(self, port, injector):
        super().__init__()
        self.port = port
        self.injector = injector
        self.store = Store()
        self.senders = {}
        self.listeners = []
        self.routers = {}
        self.connections = []
        self.requests = []
        self.refusals = []
        self.held = []
        self.modes = []
        self.stalled = False
        self.nameless = False

    def on_start(self, event):
        self.container = event.container
        self.acceptor = event.container.acceptor("127.0.0.1", self.port)
        event.container.selectable(self.injector)
        say(f"port {self.acceptor._selectable._delegate.getsockname()[1]}")

    def on_connection_opening(self, event):
        self.connections.append(event.connection)

    def on_link_opening(self, event):
        link = event.link
        if link.is_sender:
            address = link.remote_source.address
            if link.remote_source.dynamic:
                address = f"amqp:/_topo/0/self/temp.{uuid.uuid4().hex[:12]}"
            link.source.address = None if self.nameless else address
            self.senders[address] = link
            if is_flow(address):
                self.listeners.append((address, link))
        else:
            link.target.address = link.remote_target.address

    def on_link_closing(self, event):
        self.listeners = [pair for pair in self.listeners if pair[1] != event.link]

    def to_all(self, address, data):
        """Sends the bytes of a message to everybody who listens to an address."""
        for listened, sender in self.listeners:
            if listened == address:
                delivery = sender.delivery(sender.delivery_tag())
                sender.stream(data)
                sender.advance()
                delivery.settle()

    def on_flow(self, address, message):
        router = self.routers.get(address.removeprefix("sfe."))
        if router is not None:
            self.records(address.removeprefix("sfe."), router)
        self.to_all(address, message.encode())

    def records(self, router, records):
        address = f"mc/sfe.{router}"
        body = [{uint(int(code)): uint(value) if code == "0" else ulong(value) if isinstance(value, int) else value
                 for code, value in record.items()} for record in records]
        self.to_all(address, Message(address=address, subject="RECORD", body=body).encode())

    def beacons(self):
        """Announces all routers, whose names of properties are symbols."""
        for router in self.routers:
            address = f"mc/sfe.{router}"
            beacon = {"v": uint(1), "sourceType": "ROUTER", "id": router, "address": address, "direct": f"sfe.{router}"}
            heartbeat = {"v": uint(1), "now": ulong(1), "id": router}
            for to, subject, properties in (("mc/sfe.all", "BEACON", beacon), (address, "HEARTBEAT", heartbeat)):
                data = Message(address=to, subject=subject, properties=properties).encode()
                for name in properties:
                    text = bytes([len(name)]) + name.encode()
                    data = data.replace(b"\xa1" + text, b"\xa3" + text)
                self.to_all(to, data)

    def on_message(self, event):
        request = event.message
        address = event.link.remote_target.address
        if is_flow(address):
            self.on_flow(address, request)
            return
        properties = request.properties or {}
        operation = properties.get("operation")
        asked = properties.get("type") if operation != "QUERY" else properties.get("entityType")
        self.requests.append({
            "operation": operation, "type": asked, "name": properties.get("name"),
            "offset": properties.get("offset"), "count": properties.get("count"), "body": request.body,
        })
        if self.stalled:
            return
        if self.modes and self.modes[0] in ("reject", "modify"):
            if self.modes.pop(0) == "reject":
                raise Reject()
            raise Release()
        try:
            status, body = self.handle(operation, properties, request.body)
            text = TEXTS[status]
        except Refusal as refusal:
            status, text, body = refusal.status, refusal.text, {}
        reply = Message(
            address=request.reply_to, correlation_id=request.correlation_id,
            properties={"statusCode": int32(status), "statusDescription": text}, body=body)
        self.answer(reply)

    def handle(self, operation, properties, body):
        if operation == "QUERY":
            short = short_type(properties.get("entityType"))
            self.refuse(operation, short)
            if not isinstance(body, dict):
                raise Refusal(400, "the body of QUERY is no map")
            return 200, self.store.query(
                short, body.get("attributeNames"), properties.get("offset"), properties.get("count"))
        short = short_type(properties.get("type"))
        name = properties.get("name")
        try:
            self.refuse(operation, short)
        except Refusal as refusal:
            if (operation, short, refusal.status) == ("UPDATE", "sslProfile", 500):
                # Like the real router, which stores values before it acts on them.
                self.store.update(short, name, body)
            raise
        if not name:
            raise Refusal(400, f"{short}: No name or identity provided")
        if operation not in OPERATIONS.get(short, "READ").split():
            raise Refusal(501, f"Operation '{operation}' not implemented for '{PREFIX}{short}'")
        if operation == "CREATE":
            return 201, self.store.create(short, name, body)
        if operation == "UPDATE":
            return 200, self.store.update(short, name, body)
        if operation == "DELETE":
            self.store.find(short, name)
            del self.store.entities[short][name]
            return 204, {}
        return 200, self.store.find(short, name)

    def refuse(self, operation, short):
        for refusal in self.refusals:
            if refusal[0] in ("*", operation) and refusal[1] == short:
                self.refusals.remove(refusal)
                raise Refusal(refusal[2], refusal[3])

    def answer(self, reply):
        mode = self.modes.pop(0) if self.modes else None
        if mode == "late":
            self.held.append(reply)
            return
        held, self.held = self.held, []
        for late in held:
            self.send(late)
        if mode == "twice":
            self.send(reply)
        if mode == "foreign":
            self.send(Message(address=reply.address, correlation_id="foreign", properties=reply.properties,
                              body=reply.body))
            self.send(Message(address=reply.address, properties=reply.properties, body=reply.body))
        if mode and mode.startswith("garbage "):
            spoil(reply, mode.split(" ", 1)[1])
        self.send(reply)

    def send(self, message):
        sender = self.senders.get(message.address)
        if sender is None:
            return
        if message.properties == "raw":
            delivery = sender.delivery(sender.delivery_tag())
            sender.stream(b"\x00\x53\x77\xd1\x00\x00")
            sender.advance()
            delivery.settle()
            return
        sender.send(message)

    def on_connection_closed(self, event):
        self.lost(event.connection)

    def on_disconnected(self, event):
        self.lost(event.connection)

    def lost(self, connection):
        self.listeners = [pair for pair in self.listeners if pair[1].connection != connection]
        if connection in self.connections:
            self.connections.remove(connection)

    def on_end(self, _event):
        self.acceptor.close()
        self.injector.close()
        self.container.stop()

    def on_command(self, event):
        try:
            say(self.command(event.subject))
        except Exception as error:  # The test reads why.
            say(f"error {type(error).__name__} {error}")

    def command(self, line):
        """Carries out one command.

        stall / resume              answer nothing / answer again
        late / twice / foreign      the next reply waits for the one after it / comes twice / comes behind foreign ones
        garbage KIND                spoils the next reply, see `spoil`
        flush                       sends replies that wait
        reject / modify             does not take the next request, by this outcome
        refuse OPERATION TYPE STATUS TEXT
                                    refuses the next request with this operation (`*` for any) and type
        occupy PORT TEXT / free PORT
                                    a tcpListener that is created at the port fails with the text / does not
        forget                      has the entities of the start alone, as after a restart
        set TYPE NAME JSON          sets attributes of an entity, read-only ones too
        add TYPE JSON               adds an entity of any type
        remove TYPE NAME            removes an entity
        drop / cut                  closes all connections in order / at once
        detach                      closes all links
        nameless / named            gives no address for answers / gives one again
        requests                    the requests so far as JSON, and forgets them
        router ID JSON              has a source of records, or gives it others; they are sent when they are requested
        beacons                     announces all sources of records, and gives a sign of life of each
        dump                        all entities as JSON, by type and name
        """
        word, _, rest = line.partition(" ")
        if word in ("stall", "resume"):
            self.stalled = word == "stall"
        elif word in ("late", "twice", "foreign", "reject", "modify"):
            self.modes.append(word)
        elif word == "garbage":
            self.modes.append(line)
        elif word == "flush":
            held, self.held = self.held, []
            for late in held:
                self.send(late)
        elif word == "refuse":
            operation, short, status, text = rest.split(" ", 3)
            self.refusals.append((operation, short, int(status), text))
        elif word == "occupy":
            port, text = rest.split(" ", 1)
            self.store.occupied[port] = text
        elif word == "free":
            del self.store.occupied[rest]
        elif word == "forget":
            self.store.forget()
        elif word == "set":
            short, name, given = rest.split(" ", 2)
            self.store.find(short, name).update(json.loads(given))
        elif word == "add":
            short, given = rest.split(" ", 1)
            self.store.put(short, json.loads(given))
        elif word == "remove":
            short, name = rest.split(" ", 1)
            self.store.find(short, name)
            del self.store.entities[short][name]
        elif word == "drop":
            for connection in list(self.connections):
                connection.close()
        elif word == "cut":
            for connection in list(self.connections):
                if connection.transport is not None:
                    connection.transport.close_head()
                    connection.transport.close_tail()
        elif word == "detach":
            for connection in list(self.connections):
                link = connection.link_head(0)
                while link is not None:
                    link.close()
                    link = link.next(0)
        elif word in ("nameless", "named"):
            self.nameless = word == "nameless"
        elif word == "router":
            router, given = rest.split(" ", 1)
            self.routers[router] = json.loads(given)
            self.records(router, self.routers[router])
        elif word == "beacons":
            self.beacons()
        elif word == "requests":
            requests, self.requests = self.requests, []
            return json.dumps(requests)
        elif word == "dump":
            return json.dumps(self.store.entities)
        else:
            raise ValueError(f"no command `{word}`")
        return "ok"


def spoil(reply, kind):
    """Makes garbage of a reply."""
    properties, body = reply.properties, reply.body
    if kind == "body":
        reply.body = "no map"
    elif kind == "empty":
        reply.body = None
    elif kind == "properties":
        reply.properties = None
    elif kind == "status":
        del properties["statusCode"]
    elif kind == "status-type":
        properties["statusCode"] = "two hundred"
    elif kind == "status-range":
        properties["statusCode"] = -(1 << 40)
    elif kind == "lengths":
        body["results"] = [row + ["more"] for row in body["results"]]
    elif kind == "results":
        body["results"] = "none"
    elif kind == "no-results":
        del body["results"]
    elif kind == "row":
        body["results"] = [{"name": "map"}]
    elif kind == "names":
        body["attributeNames"] = [1, 2, 3]
    elif kind == "keys":
        reply.body = {1: "one"}
    elif kind == "undecodable":
        reply.properties = "raw"
    else:
        raise ValueError(f"no garbage `{kind}`")


def say(line):
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def commands(injector):
    for line in sys.stdin:
        injector.trigger(ApplicationEvent("command", subject=line.rstrip("\n")))
    # Whoever started the agent is gone.
    injector.trigger(ApplicationEvent("end"))


def main():
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    injector = EventInjector()
    agent = Agent(port, injector)
    container = Container(agent)
    container.container_id = "agent"
    threading.Thread(target=commands, args=(injector,), daemon=True).start()
    container.run()


if __name__ == "__main__":
    main()
