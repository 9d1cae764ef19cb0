//! The existing router of a namespace. Together with the settings of the Site it determines the
//! data plane, and the images of the existing router. Pure.

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::ResourceExt;
use lifecycle_specs_skupper::router::{ROUTER, SITE};
use lifecycle_specs_skupper::site::{Site, SiteSpec};

use crate::config::router_config;
use crate::data_plane::{self, Adaptor, DataPlane};
use crate::settings::setting;

/// The container beside the existing router, whichever adaptor it is: under another name both would run after a change.
pub const ADAPTOR: &str = "kube-adaptor";
/// The router's container, on either data plane.
pub const CONTAINER: &str = "router";

/// The router of a namespace as it is.
#[derive(Clone, Copy, Debug, Default)]
pub struct ObservedRouter<'a> {
    /// Its Deployment.
    pub deployment: Option<&'a Deployment>,
    /// Its configuration.
    pub config: Option<&'a ConfigMap>,
}

impl<'a> ObservedRouter<'a> {
    /// Of the namespace of a Site.
    pub fn find(deployments: &[&'a Deployment], configs: &[&'a ConfigMap]) -> Self {
        let deployment = deployments.iter().find(|d| d.name_any() == ROUTER);
        Self {
            deployment: deployment.copied(),
            config: configs.iter().find(|c| c.name_any() == ROUTER).copied(),
        }
    }

    /// The data plane of the Site that these ConfigMaps of its namespace are for.
    pub fn plane_by(documents: &[&'a ConfigMap], site: &Site) -> DataPlane {
        Self::find(&[], documents).plane_of(&site.spec, DataPlane::default())
    }

    /// The image of a container, if the Deployment has it.
    pub fn image(self, container: &str) -> Option<&'a str> {
        let spec = self.deployment?.spec.as_ref()?.template.spec.as_ref()?;
        let mut all = spec.containers.iter();
        let found = all.find(|there| there.name == container)?;
        found.image.as_deref().filter(|image| !image.is_empty())
    }

    /// Returns the data plane of a Site: the one in its setting, else that of the existing
    /// Deployment and configuration, else the default one. A controller that takes over a namespace
    /// therefore leaves its routers as they are.
    pub fn plane_of(self, spec: &SiteSpec, usual: DataPlane) -> DataPlane {
        let said = setting(spec, data_plane::SETTING).and_then(DataPlane::named);
        said.or_else(|| self.plane()).unwrap_or(usual)
    }

    /// Returns the adaptor of a Site on the existing router: the one in its setting, else the
    /// existing one, else the default one.
    pub fn adaptor_of(self, spec: &SiteSpec, usual: Adaptor) -> Adaptor {
        let said = setting(spec, data_plane::ADAPTOR_SETTING).and_then(Adaptor::named);
        said.or_else(|| self.adaptor()).unwrap_or(usual)
    }

    /// Returns the existing adaptor. Pods with the adaptor of this project are labelled with their
    /// Site, so that the controller queries them.
    fn adaptor(self) -> Option<Adaptor> {
        self.image(ADAPTOR)?;
        Some(match self.says_site() {
            true => Adaptor::LifecycleRouter,
            false => Adaptor::KubeAdaptor,
        })
    }

    /// Returns true if the Pods of the Deployment are labelled with their Site.
    fn says_site(self) -> bool {
        let spec = self.deployment.and_then(|d| d.spec.as_ref());
        let metadata = spec.and_then(|spec| spec.template.metadata.as_ref());
        let labels = metadata.and_then(|metadata| metadata.labels.as_ref());
        labels.is_some_and(|labels| labels.contains_key(SITE))
    }

    /// Returns the existing data plane. The Deployment decides, because a hand-edited configuration
    /// is rewritten.
    fn plane(self) -> Option<DataPlane> {
        if self.adaptor().is_some() {
            return Some(DataPlane::SkupperRouter);
        }
        if self.says_site() {
            return Some(DataPlane::Embedded);
        }
        let entries = router_config::entries(self.config?);
        let is_management =
            |(entity, attributes): &(String, serde_json::Map<String, serde_json::Value>)| {
                entity == "listener" && attributes.get("name").is_some_and(|name| name == "amqps")
            };
        match entries.is_empty() {
            true => None,
            false if entries.iter().any(is_management) => Some(DataPlane::SkupperRouter),
            false => Some(DataPlane::Embedded),
        }
    }
}

/// The choice of routers that a controller is started with.
#[derive(Clone, Debug, Default)]
pub struct RouterOptions {
    /// Data plane of Sites that set none and have none yet.
    pub data_plane: DataPlane,
    /// Adaptor of Sites on the existing router that set none and have none yet.
    pub adaptor: Adaptor,
    /// The images.
    pub images: Images,
}

impl RouterOptions {
    /// The router of this project, with this image.
    pub fn embedded(image: &str) -> Self {
        let images = Images {
            embedded: image.to_owned(),
            ..Images::default()
        };
        Self {
            images,
            ..Self::default()
        }
    }
}

/// The images of routers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Images {
    /// Of the router of this project, which is an adaptor as well.
    pub embedded: String,
    /// Image of the existing router; without it that of the existing Deployment stays.
    pub skupper_router: Option<String>,
    /// Of the existing adaptor; likewise.
    pub kube_adaptor: Option<String>,
}

/// The images of the existing router and of the adaptor beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Existing<'a> {
    /// Of the router.
    pub router: &'a str,
    /// Kind of the adaptor.
    pub kind: Adaptor,
    /// Of the adaptor.
    pub adaptor: &'a str,
}

impl Images {
    /// Returns the images of the existing router and of this adaptor: those in the options, else
    /// the existing ones.
    ///
    /// # Errors
    /// Returns a sentence that names the unknown images, and the remedy.
    pub fn existing<'a>(
        &'a self,
        there: ObservedRouter<'a>,
        kind: Adaptor,
    ) -> Result<Existing<'a>, String> {
        let router = self.skupper_router.as_deref();
        let router = router.or_else(|| there.image(CONTAINER));
        let adaptor = match kind {
            Adaptor::LifecycleRouter => Some(self.embedded.as_str()),
            Adaptor::KubeAdaptor => {
                let is_kept = there.adaptor() == Some(kind);
                let kept = there.image(ADAPTOR).filter(|_| is_kept);
                self.kube_adaptor.as_deref().or(kept)
            }
        };
        match (router, adaptor) {
            (Some(router), Some(adaptor)) => Ok(Existing {
                router,
                kind,
                adaptor,
            }),
            (router, adaptor) => {
                let lacks = [
                    ("--skupper-router-image", router.is_none()),
                    ("--kube-adaptor-image", adaptor.is_none()),
                ];
                let lacks = lacks.into_iter().filter(|(_, lacks)| *lacks);
                let lacks: Vec<&str> = lacks.map(|(option, _)| option).collect();
                Err(format!(
                    "the images of data plane \"skupper-router\" are not known: start the controller with {}, or set spec.settings.{} to \"embedded\"",
                    lacks.join(" and "),
                    data_plane::SETTING
                ))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn deployment(template: &Value) -> Deployment {
        let spec = json!({ "selector": {}, "template": template });
        let whole = json!({ "metadata": { "name": ROUTER }, "spec": spec });
        serde_json::from_value(whole).unwrap()
    }

    fn existing() -> Deployment {
        let containers = json!([{ "name": "router", "image": "r:1" }, { "name": "kube-adaptor", "image": "a:1" }]);
        deployment(&json!({ "metadata": {}, "spec": { "containers": containers } }))
    }

    fn adapted() -> Deployment {
        let containers = json!([{ "name": "router", "image": "r:1" }, { "name": "kube-adaptor", "image": "e:1" }]);
        let metadata = json!({ "labels": { SITE: "uid" } });
        deployment(&json!({ "metadata": metadata, "spec": { "containers": containers } }))
    }

    fn embedded() -> Deployment {
        let containers = json!([{ "name": "router", "image": "e:1" }]);
        let labels = json!({ SITE: "uid" });
        deployment(
            &json!({ "metadata": { "labels": labels }, "spec": { "containers": containers } }),
        )
    }

    fn config(document: &str) -> ConfigMap {
        let whole =
            json!({ "metadata": { "name": ROUTER }, "data": { "skrouterd.json": document } });
        serde_json::from_value(whole).unwrap()
    }

    fn check(
        setting: Option<&str>,
        there: ObservedRouter<'_>,
        usual: DataPlane,
        expected: DataPlane,
    ) {
        let settings =
            setting.map(|name| [(data_plane::SETTING.to_owned(), name.to_owned())].into());
        let spec = SiteSpec {
            settings,
            ..SiteSpec::default()
        };
        assert_eq!(
            there.plane_of(&spec, usual),
            expected,
            "{setting:?} {there:?}"
        );
    }

    #[test]
    fn a_site_says_its_data_plane_then_what_is_there_and_then_the_controller() {
        let (existing, embedded) = (existing(), embedded());
        let (theirs, ours) = (
            config(r#"[["listener",{"name":"amqps","port":5671}]]"#),
            config(r#"[["router",{"id":"west"}]]"#),
        );
        let broken = config("{");
        let by = |deployment, config| ObservedRouter { deployment, config };
        let [one, other] = [DataPlane::Embedded, DataPlane::SkupperRouter];
        for usual in [one, other] {
            check(
                Some("embedded"),
                by(Some(&existing), Some(&theirs)),
                usual,
                one,
            );
            check(
                Some("skupper-router"),
                by(Some(&embedded), None),
                usual,
                other,
            );
            check(
                Some("no such plane"),
                by(Some(&existing), None),
                usual,
                other,
            );
            check(None, by(Some(&existing), Some(&broken)), usual, other);
            check(None, by(Some(&embedded), Some(&theirs)), usual, one);
            check(None, by(None, Some(&theirs)), usual, other);
            check(None, by(None, Some(&ours)), usual, one);
            check(None, by(None, Some(&broken)), usual, usual);
            check(None, ObservedRouter::default(), usual, usual);
        }
    }

    #[test]
    fn a_site_says_its_adaptor_then_what_is_there_and_then_the_controller() {
        let (existing, adapted, embedded) = (existing(), adapted(), embedded());
        let [theirs, ours] = [Adaptor::KubeAdaptor, Adaptor::LifecycleRouter];
        let adaptor = |said: Option<&str>, deployment, usual| {
            let settings = said.map(|name| {
                let key = data_plane::ADAPTOR_SETTING.to_owned();
                [(key, name.to_owned())].into()
            });
            let spec = SiteSpec {
                settings,
                ..SiteSpec::default()
            };
            let config = None;
            ObservedRouter { deployment, config }.adaptor_of(&spec, usual)
        };
        for usual in [theirs, ours] {
            for there in [None, Some(&existing), Some(&adapted), Some(&embedded)] {
                assert_eq!(adaptor(Some("kube-adaptor"), there, usual), theirs);
                assert_eq!(adaptor(Some("lifecycle-router"), there, usual), ours);
            }
            assert_eq!(adaptor(None, Some(&existing), usual), theirs);
            assert_eq!(adaptor(None, Some(&adapted), usual), ours);
            assert_eq!(adaptor(None, Some(&embedded), usual), usual);
            assert_eq!(adaptor(Some("another"), None, usual), usual);
            let there = ObservedRouter {
                deployment: Some(&adapted),
                config: None,
            };
            let plane = there.plane_of(&SiteSpec::default(), DataPlane::Embedded);
            assert_eq!(plane, DataPlane::SkupperRouter);
        }
    }

    #[test]
    fn an_image_of_one_adaptor_is_none_of_the_other() {
        let adapted = adapted();
        let there = ObservedRouter {
            deployment: Some(&adapted),
            config: None,
        };
        let images = Images {
            embedded: "e:2".to_owned(),
            ..Images::default()
        };
        let ours = images.existing(there, Adaptor::LifecycleRouter).unwrap();
        assert_eq!((ours.router, ours.adaptor), ("r:1", "e:2"));
        let why = images.existing(there, Adaptor::KubeAdaptor).unwrap_err();
        assert!(why.contains("with --kube-adaptor-image, or set"), "{why}");
    }

    #[test]
    fn images_that_are_there_stay_unless_the_controller_names_others() {
        let existing = existing();
        let there = ObservedRouter {
            deployment: Some(&existing),
            config: None,
        };
        let unsaid = Images::default();
        let kept = Existing {
            router: "r:1",
            kind: Adaptor::KubeAdaptor,
            adaptor: "a:1",
        };
        assert_eq!(unsaid.existing(there, kept.kind), Ok(kept));
        let one = Images {
            skupper_router: Some("r:2".to_owned()),
            ..Images::default()
        };
        let newer = Existing {
            router: "r:2",
            ..kept
        };
        assert_eq!(one.existing(there, kept.kind), Ok(newer));
        let why = one
            .existing(ObservedRouter::default(), kept.kind)
            .unwrap_err();
        assert!(why.contains("with --kube-adaptor-image, or set"), "{why}");
        let why = unsaid
            .existing(ObservedRouter::default(), kept.kind)
            .unwrap_err();
        let both = "with --skupper-router-image and --kube-adaptor-image, or";
        assert!(why.contains(both), "{why}");
    }
}
