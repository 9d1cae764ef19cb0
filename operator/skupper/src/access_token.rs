//! Reconciliation of an AccessToken. It is redeemed once, and the returned credentials become a
//! Secret and Links of the Site.

pub mod answers;

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::ResourceExt;
use lifecycle_runtime::lifecycle::{CallError, Noted};
use lifecycle_runtime::{Because, Desired, ObjectRef, Readable, This};
use lifecycle_specs_skupper::access_token::{
    AccessToken, AccessTokenLogic, AccessTokenSpec, Answer, ApplyHome, CreateLinks, CreateSecret,
    Given, GivenLink, Reply, Stage, Validity,
};
use lifecycle_specs_skupper::fragments::Overseen;
use lifecycle_specs_skupper::link::Link;
use lifecycle_specs_skupper::site::Site;
use serde_json::json;

use answers::{Answers, Request};

use crate::config::router_config;
use crate::grants::ask::{self, TokenEndpoint};
use crate::grants::{answer, terms};
use crate::namespace::active_site;
use crate::namespace::controller_id::ControllerId;

/// Label on objects that a token has created: the uid of the token.
pub const TOKEN: &str = "internal.skupper.io/token";
/// On the Secret of a token: the Links that it makes.
const LINKS: &str = "internal.skupper.io/links";

/// Client of grant servers.
pub trait Redeems: Send + Sync + 'static {
    /// Redeems a token of this name at its grant server, for a site with this uid. Every failure is
    /// an answer: it is reported at once, and the request is repeated unless it is refused for
    /// good.
    fn redeem(
        &self,
        spec: &AccessTokenSpec,
        name: &str,
        site: &str,
    ) -> impl Future<Output = Reply> + Send;
}

/// Client that sends requests over TLS.
#[derive(Clone, Copy, Debug, Default)]
pub struct Https;

impl Redeems for Https {
    async fn redeem(&self, spec: &AccessTokenSpec, name: &str, site: &str) -> Reply {
        match ask::redeem_token(spec, name, site).await {
            Ok(given) => Reply::Given(given),
            Err(error) if error.is_final() => Reply::Refused(ask::error_message(&error)),
            Err(error) => Reply::Denied(ask::error_message(&error)),
        }
    }
}

/// Reconciles AccessTokens.
#[derive(Clone, Debug)]
pub struct Tokens<R> {
    /// This controller.
    pub controller_id: ControllerId,
    /// Service that redeems tokens.
    pub redeems: R,
    /// Record of the tokens that were refused for good.
    pub answers: Answers,
}

fn name<'a>(this: This<'a, AccessToken>) -> &'a str {
    this.meta.name.as_deref().unwrap_or_default()
}

/// Returns true if a token has made an object.
fn is_of<K: kube::Resource>(this: This<'_, AccessToken>, object: &K) -> bool {
    let annotations = object.meta().annotations.as_ref();
    let of = annotations.and_then(|all| all.get(TOKEN));
    of.is_some() && of == this.meta.uid.as_ref()
}

/// The Links that the Secret of a token makes.
fn links(secret: &Secret) -> Vec<GivenLink> {
    let annotations = secret.metadata.annotations.as_ref();
    let text = annotations.and_then(|all| all.get(LINKS));
    let links = text.and_then(|text| serde_json::from_str(text).ok());
    links.unwrap_or_default()
}

/// The Secret of a token that was given this.
fn build_secret(this: This<'_, AccessToken>, given: &Given) -> Desired<Secret> {
    let data = given.files.iter();
    let data = data.map(|(name, text)| (name, ByteString(text.clone().into_bytes())));
    let cost = this.spec.link_cost.filter(|cost| *cost > 0);
    let link = |link: &GivenLink| GivenLink {
        cost: cost.or(link.cost),
        ..link.clone()
    };
    let links: Vec<GivenLink> = given.links.iter().map(link).collect();
    Desired::from_json(json!({
        "metadata": {
            "name": name(this),
            "annotations": { TOKEN: this.meta.uid, LINKS: json!(links).to_string() },
        },
        "type": "kubernetes.io/tls",
        "data": data.collect::<BTreeMap<_, _>>(),
    }))
}

/// The Links of a token.
fn build_links(
    this: This<'_, AccessToken>,
    secret: &Secret,
) -> impl Iterator<Item = Desired<Link>> {
    links(secret).into_iter().map(move |link| {
        let mut spec = json!({ "endpoints": link.endpoints, "tlsCredentials": name(this) });
        if let Some(cost) = link.cost {
            spec["cost"] = json!(cost);
        }
        Desired::from_json(json!({
            "metadata": { "name": link.name, "annotations": { TOKEN: this.meta.uid } },
            "spec": spec,
        }))
    })
}

fn validity(this: This<'_, AccessToken>) -> Because<Validity> {
    let spec = this.spec;
    let lacks = [
        ("url", spec.url.is_empty()),
        ("code", spec.code.is_empty()),
        ("ca", spec.ca.is_empty()),
    ];
    let lines = lacks.iter().filter(|(_, lacks)| *lacks);
    let lines: Vec<String> = lines
        .map(|(name, _)| format!("spec.{name} is required"))
        .collect();
    if !lines.is_empty() {
        return Because::new(Validity::Incomplete, lines.join("\n"));
    }
    if TokenEndpoint::read(&spec.url).is_none() {
        return Because::new(Validity::BadUrl, ask::Error::Url.to_string());
    }
    if ask::roots(&spec.ca).is_none() {
        return Because::new(Validity::BadAuthority, ask::Error::Authority.to_string());
    }
    if spec.code.len() > terms::LONGEST {
        let longest = terms::LONGEST;
        let sentence =
            format!("spec.code is longer than {longest} bytes, so it is no code of a grant");
        return Because::new(Validity::BadCode, sentence);
    }
    Because::plain(Validity::Fine)
}

impl<R: Redeems> AccessTokenLogic for Tokens<R> {
    fn overseen(&self) -> &impl Overseen<AccessToken> {
        &self.controller_id
    }

    fn router_config(&self, this: This<'_, AccessToken>) -> Option<ObjectRef> {
        Some(router_config::reference(this.meta))
    }

    fn site(
        &self,
        _: This<'_, AccessToken>,
        sites: &[&Readable<Site>],
        router_config: Option<&ConfigMap>,
    ) -> Option<ObjectRef> {
        active_site::reference(sites, router_config)
    }

    async fn poll_reply(
        &self,
        this: This<'_, AccessToken>,
        site: &Site,
        _: &String,
    ) -> Result<Reply, CallError> {
        let uid = site.metadata.uid.as_deref().unwrap_or_default();
        let token = this.meta.uid.as_deref().unwrap_or_default();
        let request = Request::new(this.spec, uid);
        if let Some(known) = self.answers.known(token, request) {
            return Ok(known);
        }
        let reply = self.redeems.redeem(this.spec, name(this), uid).await;
        Ok(self.answers.learn(token, request, reply))
    }

    fn existing(&self, this: This<'_, AccessToken>, _: &[&Readable<Site>]) -> BTreeSet<ObjectRef> {
        let namespace = this.meta.namespace.as_deref();
        BTreeSet::from([ObjectRef::new::<Secret>(namespace, name(this))])
    }

    fn links(&self, _: This<'_, AccessToken>, secret: &Secret) -> BTreeSet<String> {
        answer::names(&links(secret))
    }

    fn validity(&self, this: This<'_, AccessToken>) -> Because<Validity> {
        validity(this)
    }

    fn stage(
        &self,
        this: This<'_, AccessToken>,
        made: &Noted,
        existing: &[&Secret],
    ) -> Because<Stage> {
        if made.has(name(this)) {
            return Because::plain(Stage::Noted);
        }
        match existing.first() {
            None => Because::plain(Stage::Vacant),
            Some(secret) if is_of(this, *secret) => Because::plain(Stage::Ours),
            Some(_) => Because::plain(Stage::Taken),
        }
    }

    fn strayed(
        &self,
        _: This<'_, AccessToken>,
        site: Option<&Site>,
        home: Option<&String>,
    ) -> Because<bool> {
        let uid = site.and_then(|site| site.metadata.uid.as_ref());
        Because::plain(home.is_some_and(|home| uid != Some(home)))
    }

    fn answer(&self, _: This<'_, AccessToken>, reply: &Reply) -> Because<Answer> {
        match reply {
            Reply::Given(_) => Because::plain(Answer::Given),
            Reply::Denied(why) | Reply::Refused(why) => Because::new(Answer::Denied, why.clone()),
        }
    }

    fn clash(
        &self,
        this: This<'_, AccessToken>,
        secret: &Secret,
        linked: &Noted,
        present: &[&Readable<Link>],
    ) -> Because<bool> {
        let wanted = answer::names(&links(secret));
        let taken = present.iter().find(|link| {
            let name = link.name_any();
            wanted.contains(&name) && !linked.has(&name) && !is_of(this, **link)
        });
        match taken {
            Some(link) => {
                let name = link.name_any();
                let sentence = format!(
                    "Link {name} already exists in namespace: delete it, and the one of this token is made"
                );
                Because::new(true, sentence)
            }
            None => Because::plain(false),
        }
    }

    fn apply_home(&self, at: ApplyHome<'_>) -> String {
        at.site.metadata.uid.clone().unwrap_or_default()
    }

    fn create_secret(&self, at: CreateSecret<'_>) -> Desired<Secret> {
        match at.reply {
            Reply::Given(given) => build_secret(at.this, given),
            // Nothing is kept unless it was given.
            Reply::Denied(_) | Reply::Refused(_) => Desired::from_json(json!({})),
        }
    }

    fn create_links(&self, at: CreateLinks<'_>) -> Vec<Desired<Link>> {
        build_links(at.this, at.secret).collect()
    }

    fn redeemed(&self, this: This<'_, AccessToken>, made: &Noted) -> Option<bool> {
        made.has(name(this)).then_some(true)
    }
}

#[cfg(test)]
mod tests;
