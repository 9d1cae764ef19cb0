//! Resource outside the cluster. A poll queries it periodically, with no more concurrent requests
//! than the operator allows.

use std::future::Future;
use std::time::Duration;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use lifecycle_runtime::lifecycle::CallError;
use lifecycle_runtime::provider::Limit;
use lifecycle_runtime::{Because, Operator, This, lifecycle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Desired state of a Forecast: the place of the forecast.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "examples.test",
    version = "v1",
    kind = "Forecast",
    namespaced,
    status = "ForecastStatus"
)]
pub(crate) struct ForecastSpec {
    pub(crate) city: String,
}

/// Observed state of a Forecast.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub(crate) struct ForecastStatus {
    #[serde(default)]
    #[schemars(schema_with = "lifecycle_runtime::crds::conditions")]
    pub(crate) conditions: Vec<Condition>,
    #[serde(default)]
    pub(crate) degrees: Option<i32>,
}

/// Report of a weather station.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Report {
    pub(crate) degrees: i32,
}

lifecycle! {
    /// Weather of a city, as a station reports it.
    resource Forecast;

    observe {
        report: poll Report of stations by spec.city every 5min;
    }
    facts {
        /// True if people should stay at home.
        frost: bool from report given report;
    }
    states {
        Unknown    when !report         => Pending overdue 1min;
        goal Cold  when report && frost => Ready;
        goal Mild  when report          => Ready;
    }
    status {
        condition Told {
            Unknown "NotYet" when !report;
            True "Frost"     when frost;
            True otherwise;
        }
        ready from Told;
        field degrees: Option<i32> from report;
    }
}

/// Client that queries a weather station.
pub(crate) trait Stations: Send + Sync + 'static {
    /// Queries the temperature of a city.
    fn ask(&self, city: &str) -> impl Future<Output = Result<Report, CallError>> + Send;
}

/// Logic that uses the station's reply.
pub(crate) struct Asks<S>(pub(crate) S);

impl<S: Stations> ForecastLogic for Asks<S> {
    async fn poll_report(&self, this: This<'_, Forecast>) -> Result<Report, CallError> {
        self.0.ask(&this.spec.city).await
    }

    fn frost(&self, _: This<'_, Forecast>, report: &Report) -> Because<bool> {
        match report.degrees < 0 {
            true => Because::new(true, format!("{} degrees", report.degrees)),
            false => Because::plain(false),
        }
    }

    fn degrees(&self, _: This<'_, Forecast>, report: &Report) -> Option<i32> {
        Some(report.degrees)
    }
}

/// All of the operator: of all Forecasts together, two questions at once and ten a second.
pub(crate) fn operator(stations: impl Stations) -> Operator {
    let limit = Limit::new().in_flight(2).per_second(10);
    Operator::new("examples.test")
        .run(machine(Asks(stations)))
        .provider("stations", limit)
}

/// A station for tests, which takes its time.
pub(crate) struct Almanac;

impl Stations for Almanac {
    async fn ask(&self, city: &str) -> Result<Report, CallError> {
        tokio::time::sleep(Duration::from_millis(5)).await;
        match city {
            "Oymyakon" => Ok(Report { degrees: -41 }),
            _ => Ok(Report { degrees: 12 }),
        }
    }
}

/// Two Forecasts.
pub(crate) const OBJECTS: &str = "
apiVersion: examples.test/v1
kind: Forecast
metadata: {name: here, namespace: default}
spec: {city: Berlin}
---
apiVersion: examples.test/v1
kind: Forecast
metadata: {name: there, namespace: default}
spec: {city: Oymyakon}
";
