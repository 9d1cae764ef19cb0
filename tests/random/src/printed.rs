//! Description of a lifecycle as the macro prints it, read back as the data that drivers run. The
//! tests thereby cover the output that users get.

use lifecycle_runtime::machine::ir;
use proc_macro2::TokenStream;
use syn::{Expr, Item, Lit};

/// The `IR` among the items that the macro expands to.
///
/// # Panics
/// Panics if there is no lifecycle, or it does not have the form that the macro prints. In the
/// latter case this file is outdated.
pub fn read(items: TokenStream) -> &'static ir::Lifecycle {
    read_with(items, &|_| panic!("calls are those of volumes"))
}

/// Reads the description of a volume, whose calls are read by another function.
pub(crate) fn read_with(
    items: TokenStream,
    call: &dyn Fn(&Expr) -> ir::Call,
) -> &'static ir::Lifecycle {
    let file: syn::File = syn::parse2(items).expect("the macro prints items");
    let constant = file.items.iter().find_map(|item| match item {
        Item::Const(constant) if constant.ident == "IR" => Some(&*constant.expr),
        _ => None,
    });
    let Some(Expr::Block(block)) = constant else {
        panic!("the macro prints `IR` as a block");
    };
    let last = block.block.stmts.iter().rev().find_map(|stmt| match stmt {
        syn::Stmt::Expr(last, None) => Some(last),
        _ => None,
    });
    let last = last.expect("the block has a value");
    leak(lifecycle(last, call))
}

/// A lifecycle is read once and lives as long as its test.
fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

/// Returns the expression that a reference leads to.
fn inner(expr: &Expr) -> &Expr {
    match expr {
        Expr::Reference(to) => inner(&to.expr),
        Expr::Group(group) => inner(&group.expr),
        Expr::Paren(paren) => inner(&paren.expr),
        other => other,
    }
}

pub(crate) fn field<'a>(of: &'a Expr, name: &str) -> &'a Expr {
    let Expr::Struct(of) = inner(of) else {
        panic!("`{name}` is a field of a struct");
    };
    let found = of
        .fields
        .iter()
        .find(|field| matches!(&field.member, syn::Member::Named(n) if n == name));
    &found
        .unwrap_or_else(|| panic!("there is no field `{name}`"))
        .expr
}

pub(crate) fn list<T>(expr: &Expr, read: impl Fn(&Expr) -> T) -> &'static [T] {
    let Expr::Array(array) = inner(expr) else {
        panic!("this is a list");
    };
    Vec::leak(array.elems.iter().map(read).collect())
}

/// Reads `ir::Table::new(&[..])`.
fn table<I, T>(expr: &Expr, read: impl Fn(&Expr) -> T) -> ir::Table<I, T> {
    ir::Table::new(list(only_argument(expr), read))
}

/// Reads an id: `ir::StateId(3)`.
pub(crate) fn id<I: ir::Id>(expr: &Expr) -> I {
    I::from_position(parse_number(only_argument(expr)))
}

fn only_argument(expr: &Expr) -> &Expr {
    match variant(expr).1.as_slice() {
        [argument] => argument,
        _ => panic!("this is a call with one argument"),
    }
}

pub(crate) fn text(expr: &Expr) -> &'static str {
    match inner(expr) {
        Expr::Lit(lit) => match &lit.lit {
            Lit::Str(text) => Box::leak(text.value().into_boxed_str()),
            _ => panic!("this is a text"),
        },
        // A constant of the author: a label.
        Expr::Path(path) => {
            let last = path.path.segments.last().expect("a path has a last part");
            Box::leak(last.ident.to_string().to_lowercase().into_boxed_str())
        }
        _ => panic!("this is a text"),
    }
}

pub(crate) fn parse_number<T: std::str::FromStr<Err: std::fmt::Display>>(expr: &Expr) -> T {
    match inner(expr) {
        Expr::Lit(lit) => match &lit.lit {
            Lit::Int(int) => int.base10_parse().expect("the number fits"),
            _ => panic!("this is a number"),
        },
        _ => panic!("this is a number"),
    }
}

pub(crate) fn truth(expr: &Expr) -> bool {
    matches!(inner(expr), Expr::Lit(lit) if matches!(&lit.lit, Lit::Bool(yes) if yes.value))
}

/// Returns the last part of a path, and its arguments.
pub(crate) fn variant(expr: &Expr) -> (String, Vec<&Expr>) {
    let last = |path: &Expr| match inner(path) {
        Expr::Path(path) => path
            .path
            .segments
            .last()
            .map(|s| s.ident.to_string())
            .unwrap_or_default(),
        _ => panic!("this is a path"),
    };
    match inner(expr) {
        Expr::Call(call) => (last(&call.func), call.args.iter().collect()),
        Expr::Struct(of) => {
            let name = of.path.segments.last().map(|s| s.ident.to_string());
            (name.unwrap_or_default(), vec![expr])
        }
        other => (last(other), Vec::new()),
    }
}

pub(crate) fn option<T>(expr: &Expr, read: impl Fn(&Expr) -> T) -> Option<T> {
    let (_, arguments) = variant(expr);
    arguments.first().map(|value| read(value))
}

fn pair<A, B>(expr: &Expr, first: impl Fn(&Expr) -> A, second: impl Fn(&Expr) -> B) -> (A, B) {
    let Expr::Tuple(tuple) = inner(expr) else {
        panic!("this is a pair");
    };
    (first(&tuple.elems[0]), second(&tuple.elems[1]))
}

fn lifecycle(of: &Expr, call: &dyn Fn(&Expr) -> ir::Call) -> ir::Lifecycle {
    ir::Lifecycle {
        name: text(field(of, "name")),
        path: "",
        doc: text(field(of, "doc")),
        inputs: list(field(of, "inputs"), input),
        values: list(field(of, "values"), |value| ir::Value {
            name: text(field(value, "name")),
            given: option(field(value, "given"), pred),
            mint: option(field(value, "mint"), |mint| ir::Mint {
                keeper: parse_number(field(mint, "keeper")),
                until: option(field(mint, "until"), pred),
            }),
        }),
        vars: list(field(of, "vars"), var),
        order: list(field(of, "order"), node),
        nevers: list(field(of, "nevers"), pred),
        states: table(field(of, "states"), state),
        regions: table(field(of, "regions"), region),
        effects: list(field(of, "effects"), effect),
        promises: list(field(of, "promises"), |promise| ir::Promise {
            name: text(field(promise, "name")),
            // The claimant of a promise is a type, and there are none here.
            claim: None,
            when: pred(field(promise, "when")),
            sets: sets(field(promise, "sets")),
        }),
        steps: list(field(of, "steps"), |step| ir::Step {
            effect: parse_number(field(step, "effect")),
            when: option(field(step, "when"), pred),
            until: pred(field(step, "until")),
        }),
        abandoned: list(field(of, "abandoned"), |one| ir::Abandoned {
            when: pred(field(one, "when")),
            why: text(field(one, "why")),
        }),
        retired: list(field(of, "retired"), retired),
        edges: list(field(of, "edges"), |edge| ir::Edge {
            from: id(field(edge, "from")),
            to: id(field(edge, "to")),
            causes: list(field(edge, "causes"), cause),
        }),
        waits: &[],
        conditions: list(field(of, "conditions"), |condition| ir::Condition {
            name: text(field(condition, "name")),
            doc: text(field(condition, "doc")),
            clauses: list(field(condition, "clauses"), clause),
        }),
        ready: {
            let ready = field(of, "ready");
            ir::RollUp {
                from: list(field(ready, "from"), parse_number),
                reason: text(field(ready, "reason")),
                message: list(field(ready, "message"), part),
            }
        },
        implicit: option(field(of, "implicit"), |implicit| ir::Implicit {
            condition: parse_number(field(implicit, "condition")),
            reason: text(field(implicit, "reason")),
        }),
        kstatus: truth(field(of, "kstatus")),
        texts: list(field(of, "texts"), text),
        times: list(field(of, "times"), text),
        fields: list(field(of, "fields"), |one| ir::Field {
            name: text(field(one, "name")),
            what: field_of(field(one, "what")),
        }),
        columns: list(field(of, "columns"), |column| ir::Column {
            name: text(field(column, "name")),
            json_path: option(field(column, "json_path"), text),
        }),
        volume: truth(field(of, "volume")),
        calls: list(field(of, "calls"), call),
    }
}

fn cause(of: &Expr) -> ir::Cause {
    let (what, arguments) = variant(of);
    match (what.as_str(), arguments.as_slice()) {
        ("Effect", [effect]) => ir::Cause::Effect(parse_number(effect)),
        ("Promise", [promise]) => ir::Cause::Promise(parse_number(promise)),
        ("Gone", [input]) => ir::Cause::Gone(parse_number(input)),
        ("Again", [input]) => ir::Cause::Again(parse_number(input)),
        ("Answer", [input]) => ir::Cause::Answer(parse_number(input)),
        ("Claim", []) => ir::Cause::Claim,
        (other, _) => panic!("`{other}` is no cause of a transition"),
    }
}

fn retired(of: &Expr) -> ir::Retired {
    let (what, arguments) = variant(of);
    match (what.as_str(), arguments.as_slice()) {
        ("Finalizer", [name]) => ir::Retired::Finalizer(option(name, text)),
        ("Record", [record]) => ir::Retired::Record {
            name: text(field(record, "name")),
            now: option(field(record, "now"), text),
        },
        ("Annotation", [record]) => ir::Retired::Annotation {
            key: text(field(record, "key")),
            now: option(field(record, "now"), text),
        },
        ("Condition", [name]) => ir::Retired::Condition(text(name)),
        ("Field", [name]) => ir::Retired::Field(text(name)),
        (other, _) => panic!("nothing that is retired is {other}"),
    }
}

fn input(of: &Expr) -> ir::Input {
    let mode = match variant(field(of, "mode")).0.as_str() {
        "Watched" => ir::Mode::Watched,
        "Owned" => ir::Mode::Owned,
        "Shared" => ir::Mode::Shared,
        "Part" => ir::Mode::Part,
        "Record" => ir::Mode::Record,
        "Noted" => ir::Mode::Noted,
        "Poll" => ir::Mode::Poll,
        "Probe" => ir::Mode::Probe,
        "Clock" => ir::Mode::Clock,
        "Group" => ir::Mode::Group,
        other => panic!("there is no mode {other}"),
    };
    let (lookup, arguments) = variant(field(of, "lookup"));
    let lookup = match (lookup.as_str(), arguments.as_slice()) {
        ("Name", [path]) => ir::Lookup::Name(text(path)),
        ("Labels", [keys]) => ir::Lookup::Labels(list(keys, text)),
        ("Names", []) => ir::Lookup::Names,
        ("Refs", []) => ir::Lookup::Refs,
        ("Owner", []) => ir::Lookup::Owner,
        ("Namespace", []) => ir::Lookup::Namespace,
        ("Ref", []) => ir::Lookup::Ref,
        ("Equal", []) => ir::Lookup::Equal,
        ("Key", []) => ir::Lookup::Key,
        (other, _) => panic!("there is no lookup {other}"),
    };
    ir::Input {
        name: text(field(of, "name")),
        doc: text(field(of, "doc")),
        mode,
        many: truth(field(of, "many")),
        kind: text(field(of, "kind")),
        lookup,
        only_if: option(field(of, "only_if"), text),
        every: option(field(of, "every"), length),
        provider: option(field(of, "provider"), text),
        given: option(field(of, "given"), pred),
        var: option(field(of, "var"), parse_number),
        owner: option(field(of, "owner"), parse_number),
        controller: truth(field(of, "controller")),
        exclusive: list(field(of, "exclusive"), text),
        retain: option(field(of, "retain"), pred),
        retired: option(field(of, "retired"), |leaves| {
            match variant(leaves).0.as_str() {
                "Deleted" => ir::Leaves::Deleted,
                "Released" => ir::Leaves::Released,
                other => panic!("nothing is {other}"),
            }
        }),
        noted: option(field(of, "noted"), parse_number),
        group: option(field(of, "group"), parse_number),
        optional: truth(field(of, "optional")),
    }
}

fn length(of: &Expr) -> ir::Length {
    ir::Length {
        said: option(field(of, "said"), parse_number),
        otherwise: parse_number(field(of, "otherwise")),
        least: parse_number(field(of, "least")),
    }
}

fn var(of: &Expr) -> ir::Var {
    let (origin, arguments) = variant(field(of, "origin"));
    let origin = match (origin.as_str(), arguments.as_slice()) {
        ("Input", [input]) => ir::Origin::Input(parse_number(input)),
        ("Fact", []) => ir::Origin::Fact,
        ("Refused", [effect]) => ir::Origin::Refused(parse_number(effect)),
        ("Deleting", []) => ir::Origin::Deleting,
        ("Claimed", []) => ir::Origin::Claimed,
        (other, _) => panic!("there is no origin {other}"),
    };
    ir::Var {
        name: text(field(of, "name")),
        doc: text(field(of, "doc")),
        origin,
        values: list(field(of, "values"), text),
        answers: parse_number(field(of, "answers")),
        given: list(field(of, "given"), |guard| ir::Guard {
            pred: pred(field(guard, "pred")),
            otherwise: parse_number(field(guard, "otherwise")),
        }),
        free: option(field(of, "free"), parse_number),
        timed: truth(field(of, "timed")),
        reads: list(field(of, "reads"), parse_number),
    }
}

fn node(of: &Expr) -> ir::Node {
    let (node, arguments) = variant(of);
    let at = parse_number(arguments[0]);
    match node.as_str() {
        "Input" => ir::Node::Input(at),
        "Value" => ir::Node::Value(at),
        "Var" => ir::Node::Var(at),
        other => panic!("there is no node {other}"),
    }
}

pub(crate) fn pred(of: &Expr) -> ir::Pred {
    let (pred_of, arguments) = variant(of);
    match (pred_of.as_str(), arguments.as_slice()) {
        ("Is", [var, values]) => ir::Pred::Is(parse_number(var), parse_number(values)),
        ("All", [all]) => ir::Pred::All(list(all, pred)),
        ("Any", [any]) => ir::Pred::Any(list(any, pred)),
        ("Not", [not]) => ir::Pred::Not(leak(pred(not))),
        (other, _) => panic!("there is no predicate {other}"),
    }
}

fn state(of: &Expr) -> ir::State {
    let phase = match variant(field(of, "phase")).0.as_str() {
        "Pending" => ir::Phase::Pending,
        "Ready" => ir::Phase::Ready,
        "Error" => ir::Phase::Error,
        "Suspended" => ir::Phase::Suspended,
        "Ignored" => ir::Phase::Ignored,
        other => panic!("there is no phase {other}"),
    };
    ir::State {
        name: text(field(of, "name")),
        doc: text(field(of, "doc")),
        goal: truth(field(of, "goal")),
        when: pred(field(of, "when")),
        phase,
        even_deleting: truth(field(of, "even_deleting")),
        wakes: option(field(of, "wakes"), |wakes| list(wakes, source)),
        overdue: length(field(of, "overdue")),
        region: option(field(of, "region"), id),
    }
}

fn region(of: &Expr) -> ir::Region {
    ir::Region {
        name: text(field(of, "name")),
        doc: text(field(of, "doc")),
        counts: truth(field(of, "counts")),
    }
}

pub(crate) fn source(of: &Expr) -> ir::Source {
    let (source, arguments) = variant(of);
    match (source.as_str(), arguments.as_slice()) {
        ("This", []) => ir::Source::This,
        ("Request", []) => ir::Source::Request,
        ("Input", [at]) => ir::Source::Input(parse_number(at)),
        ("Value", [at]) => ir::Source::Value(parse_number(at)),
        ("Fact", [at]) => ir::Source::Fact(parse_number(at)),
        (other, _) => panic!("no source is given {other}"),
    }
}

fn sets(of: &Expr) -> &'static [&'static [(usize, u8)]] {
    list(of, |alternative| {
        list(alternative, |set| pair(set, parse_number, parse_number))
    })
}

fn effect(of: &Expr) -> ir::Effect {
    let verb = match variant(field(of, "verb")).0.as_str() {
        "Apply" => ir::Verb::Apply,
        "Delete" => ir::Verb::Delete,
        "Call" => ir::Verb::Call,
        "Adopt" => ir::Verb::Adopt,
        "Create" => ir::Verb::Create,
        "Note" => ir::Verb::Note,
        other => panic!("there is no verb {other}"),
    };
    ir::Effect {
        name: text(field(of, "name")),
        doc: text(field(of, "doc")),
        verb,
        each: truth(field(of, "each")),
        target: parse_number(field(of, "target")),
        from: list(field(of, "from"), source),
        when: option(field(of, "when"), pred),
        sets: sets(field(of, "sets")),
        affects: list(field(of, "affects"), parse_number),
        undo: option(field(of, "undo"), parse_number),
        is_undo: truth(field(of, "is_undo")),
        is_step: truth(field(of, "is_step")),
        refused: parse_number(field(of, "refused")),
        keeps: truth(field(of, "keeps")),
        region: option(field(of, "region"), id),
    }
}

fn clause(of: &Expr) -> ir::Clause {
    let says = match variant(field(of, "says")).0.as_str() {
        "True" => ir::Says::True,
        "False" => ir::Says::False,
        "Unknown" => ir::Says::Unknown,
        "Absent" => ir::Says::Absent,
        "Omit" => ir::Says::Omit,
        other => panic!("no clause says {other}"),
    };
    ir::Clause {
        says,
        reason: text(field(of, "reason")),
        message: option(field(of, "message"), |message| list(message, part)),
        event: option(field(of, "event"), text),
        when: option(field(of, "when"), pred),
    }
}

fn part(of: &Expr) -> ir::Part {
    let (part, arguments) = variant(of);
    match part.as_str() {
        "Text" => ir::Part::Text(text(arguments[0])),
        "Path" => ir::Part::Path(parse_number(arguments[0])),
        other => panic!("there is no part {other}"),
    }
}

fn field_of(of: &Expr) -> ir::FieldOf {
    let (what, arguments) = variant(of);
    match what.as_str() {
        "Method" => ir::FieldOf::Method {
            last_reported: truth(field(arguments[0], "last_reported")),
        },
        "Phase" => ir::FieldOf::Phase,
        "Reason" => ir::FieldOf::Reason,
        "Message" => ir::FieldOf::Message,
        other => panic!("there is no field {other}"),
    }
}
