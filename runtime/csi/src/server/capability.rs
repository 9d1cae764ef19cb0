//! Capabilities that a driver reports. They follow from the declared calls, so that the two never
//! differ.

use lifecycle_proto::csi;
use lifecycle_proto::csi::controller_service_capability as controller;
use lifecycle_proto::csi::node_service_capability as node;
use lifecycle_proto::csi::plugin_capability as plugin;

use crate::driver::plugin::Plugin;
use lifecycle_runtime::machine::ir::{Lifecycle, Rpc};

fn declares(ir: &Lifecycle, rpc: Rpc) -> bool {
    ir.calls.iter().any(|call| call.rpc == rpc)
}

/// Of the driver as a whole: the same from all of its processes.
pub(crate) fn of_plugin(of: &Plugin) -> Vec<csi::PluginCapability> {
    use plugin::service::Type;
    let all = [
        (of.has_controller, Type::ControllerService),
        (of.has_topology, Type::VolumeAccessibilityConstraints),
    ];
    let offered = all.into_iter().filter(|(offered, _)| *offered);
    let capability = |(_, r#type): (bool, Type)| csi::PluginCapability {
        r#type: Some(plugin::Type::Service(plugin::Service {
            r#type: r#type.into(),
        })),
    };
    offered.map(capability).collect()
}

/// Of a controller.
pub(crate) fn of_controller(ir: &Lifecycle) -> Vec<csi::ControllerServiceCapability> {
    use controller::rpc::Type;
    let all = [(declares(ir, Rpc::CreateVolume), Type::CreateDeleteVolume)];
    let offered = all.into_iter().filter(|(offered, _)| *offered);
    let capability = |(_, r#type): (bool, Type)| csi::ControllerServiceCapability {
        r#type: Some(controller::Type::Rpc(controller::Rpc {
            r#type: r#type.into(),
        })),
    };
    offered.map(capability).collect()
}

/// Of a node.
pub(crate) fn of_node(ir: &Lifecycle, tells_usage: bool) -> Vec<csi::NodeServiceCapability> {
    use node::rpc::Type;
    let all = [
        (declares(ir, Rpc::NodeStageVolume), Type::StageUnstageVolume),
        (tells_usage, Type::GetVolumeStats),
    ];
    let offered = all.into_iter().filter(|(offered, _)| *offered);
    let capability = |(_, r#type): (bool, Type)| csi::NodeServiceCapability {
        r#type: Some(node::Type::Rpc(node::Rpc {
            r#type: r#type.into(),
        })),
    };
    offered.map(capability).collect()
}
