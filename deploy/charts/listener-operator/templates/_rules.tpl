{{/* Made from the lifecycles by a test: see operator/tests/program/chart.rs. deploy/install and deploy/skupper have the same rules with their reasons. */}}

{{- define "listener-operator.rules.controller" -}}
- apiGroups: [""]
  resources: [nodes]
  verbs: [list, watch]
- apiGroups: [""]
  resources: [persistentvolumes]
  verbs: [get, list, watch, patch]
- apiGroups: [listeners.stackable.tech]
  resources: [listenerclasses]
  verbs: [get, list, watch, create]
{{- end }}

{{- define "listener-operator.rules.definitions" -}}
- apiGroups: [apiextensions.k8s.io]
  resources: [customresourcedefinitions]
  verbs: [create]
- apiGroups: [apiextensions.k8s.io]
  resources: [customresourcedefinitions]
  resourceNames: [listenerclasses.listeners.stackable.tech, listeners.listeners.stackable.tech, podlisteners.listeners.stackable.tech]
  verbs: [list, patch]
{{- end }}

{{- define "listener-operator.rules.controller.watched" -}}
- apiGroups: [""]
  resources: [persistentvolumeclaims]
  verbs: [get]
- apiGroups: [""]
  resources: [services]
  verbs: [list, watch, create, patch]
- apiGroups: [discovery.k8s.io]
  resources: [endpointslices]
  verbs: [list, watch]
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create, patch]
- apiGroups: [listeners.stackable.tech]
  resources: [listeners]
  verbs: [get, list, watch]
- apiGroups: [listeners.stackable.tech]
  resources: [listeners/finalizers]
  verbs: [update]
- apiGroups: [listeners.stackable.tech]
  resources: [listeners/status]
  verbs: [patch]
{{- end }}

{{- define "listener-operator.rules.provisioner" -}}
- apiGroups: [""]
  resources: [events]
  verbs: [get, list, watch, create, update, patch]
- apiGroups: [""]
  resources: [nodes]
  verbs: [get, list, watch]
- apiGroups: [""]
  resources: [persistentvolumeclaims]
  verbs: [get, list, watch, update]
- apiGroups: [""]
  resources: [persistentvolumes]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [storage.k8s.io]
  resources: [csinodes]
  verbs: [get, list, watch]
- apiGroups: [storage.k8s.io]
  resources: [storageclasses]
  verbs: [get, list, watch]
{{- end }}

{{- define "listener-operator.rules.node" -}}
- apiGroups: [""]
  resources: [nodes]
  verbs: [get, list, watch]
- apiGroups: [""]
  resources: [persistentvolumes]
  verbs: [get, watch, patch]
- apiGroups: [listeners.stackable.tech]
  resources: [listenerclasses]
  verbs: [get, list, watch]
- apiGroups: [storage.k8s.io]
  resources: [csinodes]
  verbs: [list, watch]
{{- end }}

{{- define "listener-operator.rules.node.watched" -}}
- apiGroups: [""]
  resources: [persistentvolumeclaims]
  verbs: [get, watch]
- apiGroups: [""]
  resources: [pods]
  verbs: [get, list, watch, patch]
- apiGroups: [listeners.stackable.tech]
  resources: [listeners]
  verbs: [get, watch, create, patch]
- apiGroups: [listeners.stackable.tech]
  resources: [podlisteners]
  verbs: [get, list, watch, create, patch, delete]
{{- end }}

{{- define "listener-operator.rules.leases" -}}
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  verbs: [create]
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  resourceNames: [listeners.stackable.tech-controller]
  verbs: [get, update]
{{- end }}
