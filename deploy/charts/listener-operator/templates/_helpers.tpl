{{/* The name that Pods have in common: in the selectors, so as the replaced chart has it. */}}
{{- define "listener-operator.name" -}}
{{- .Values.nameOverride | default .Chart.Name | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* With what the names of all objects begin; as the replaced chart has it, so that an upgrade finds its objects. */}}
{{- define "listener-operator.fullname" -}}
{{- $name := .Values.nameOverride | default .Chart.Name }}
{{- $full := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) }}
{{- .Values.fullnameOverride | default $full | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "listener-operator.selectorLabels" -}}
app.kubernetes.io/name: {{ include "listener-operator.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- with .Values.labels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "listener-operator.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "listener-operator.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "listener-operator.controllerAccount" -}}
{{- if .Values.serviceAccount.create }}
{{- .Values.serviceAccount.name | default (printf "%s-serviceaccount" (include "listener-operator.fullname" .)) }}
{{- else }}
{{- required "serviceAccount.create is false: name the account that both parts run as in serviceAccount.name" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "listener-operator.nodeAccount" -}}
{{- if .Values.serviceAccount.create }}
{{- printf "%s-node-serviceaccount" (include "listener-operator.fullname" .) }}
{{- else }}
{{- include "listener-operator.controllerAccount" . }}
{{- end }}
{{- end }}

{{- define "listener-operator.image" -}}
{{- $repository := .Values.image.repository | trimSuffix "/" }}
{{- if or (hasPrefix "oci.stackable.tech/" $repository) (hasPrefix "quay.io/stackable" $repository) }}
{{- fail (printf "image.repository is %s, which has the images of the replaced operator: set it to the registry that has yours" $repository) }}
{{- end }}
{{- if or (hasSuffix (printf "/%s" .Chart.Name) $repository) (regexMatch "/[^/]*:[^/]*$" $repository) }}
{{- fail (printf "image.repository is %s: name the folder that has the image %s, without its name and tag; the tag is image.tag" $repository .Chart.Name) }}
{{- end }}
{{- with $repository }}{{ . }}/{{ end }}{{ .Chart.Name }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{/* Refuses what would leave an upgrade half done, or give Listeners other addresses; only a cluster can say, so `helm template` does not. */}}
{{- define "listener-operator.guard" -}}
{{- $name := printf "%s-csi-provisioner" (include "listener-operator.fullname" .) }}
{{- $there := lookup "apps/v1" "Deployment" .Release.Namespace $name | default dict }}
{{- if eq (dig "metadata" "annotations" "meta.helm.sh/release-name" "" $there) .Release.Name }}
{{- $labels := fromYaml (include "listener-operator.selectorLabels" .) }}
{{- range $key, $value := omit (dig "spec" "selector" "matchLabels" dict $there) "app.kubernetes.io/role" }}
{{- if ne (get $labels $key) $value }}
{{- fail (printf "Deployment %s selects its Pods by label %s=%s, which is immutable. Nothing was changed. Keep the values `labels` and `nameOverride` of this release" $name $key $value) }}
{{- end }}
{{- end }}
{{- range dig "spec" "template" "spec" "containers" list $there }}
{{- range .env }}
{{- if and (eq .name "LISTENER_CLASS_PRESET") (ne .value $.Values.preset) }}
{{- fail (printf "the replaced operator runs with preset %s, and this release would with %s: a class that is missing would be created with another type. Nothing was changed. Add --set preset=%s" .value $.Values.preset .value) }}
{{- end }}
{{- end }}
{{- end }}
{{- /* By server-side apply, as Helm 4 does it for the releases that it installed itself, the strategy of a Deployment cannot be changed to Recreate. */}}
{{- if eq (dig "spec" "strategy" "type" "" $there) "RollingUpdate" }}
{{- range dig "metadata" "managedFields" list $there }}
{{- if and (eq .operation "Apply") (eq .manager "helm") }}
{{- $patch := `{"spec":{"strategy":{"type":"Recreate","rollingUpdate":null}}}` }}
{{- fail (printf "Deployment %s would run two controllers at once for a moment. Nothing was changed. Run this first, which restarts nothing: kubectl --namespace %s patch deployment %s --type merge --patch '%s'" $name $.Release.Namespace $name $patch) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "listener-operator.provisionerImage" -}}
{{- with .Values.csiProvisioner.externalProvisioner.image }}
{{- .repository | default "registry.k8s.io/sig-storage" | trimSuffix "/" }}/csi-provisioner:{{ .tag }}
{{- end }}
{{- end }}

{{- define "listener-operator.onOpenShift" -}}
{{- if .Capabilities.APIVersions.Has "security.openshift.io/v1" }}true{{ end }}
{{- end }}

{{/* Environment and options of both parts. */}}
{{- define "listener-operator.env" -}}
- name: CSI_ENDPOINT
  value: unix:///csi/csi.sock
- name: HEALTH_PROBE_BIND_ADDRESS
  value: "[::]:8081"
- name: OPERATOR_NAMESPACE
  valueFrom:
    fieldRef:
      fieldPath: metadata.namespace
{{- with .Values.watchNamespaces }}
- name: WATCH_NAMESPACES
  value: {{ join "," . | quote }}
{{- end }}
{{- with .Values.kubernetesClusterDomain }}
- name: KUBERNETES_CLUSTER_DOMAIN
  value: {{ . | quote }}
{{- end }}
{{- if not .Values.maintenance.customResourceDefinitions.maintain }}
- name: DISABLE_CRD_MAINTENANCE
  value: "true"
{{- end }}
{{- $telemetry := .Values.telemetry }}
{{- with $telemetry.consoleLog }}
{{- if not .enabled }}
- name: CONSOLE_LOG_DISABLED
  value: "true"
{{- end }}
{{- with .level }}
- name: CONSOLE_LOG_LEVEL
  value: {{ . | quote }}
{{- end }}
{{- with .format }}
- name: CONSOLE_LOG_FORMAT
  value: {{ . | quote }}
{{- end }}
{{- end }}
{{- if $telemetry.fileLog.enabled }}
- name: FILE_LOG_DIRECTORY
  value: /stackable/logs/{{ include "listener-operator.name" . }}
{{- with $telemetry.fileLog.level }}
- name: FILE_LOG_LEVEL
  value: {{ . | quote }}
{{- end }}
{{- with $telemetry.fileLog.rotationPeriod }}
- name: FILE_LOG_ROTATION_PERIOD
  value: {{ . | quote }}
{{- end }}
{{- with $telemetry.fileLog.maxFiles }}
- name: FILE_LOG_MAX_FILES
  value: {{ . | quote }}
{{- end }}
{{- end }}
{{- range $name, $signal := dict "LOG" $telemetry.otelLogExporter "TRACE" $telemetry.otelTraceExporter }}
{{- if $signal.enabled }}
- name: OTEL_{{ $name }}_EXPORTER_ENABLED
  value: "true"
{{- with $signal.level }}
- name: OTEL_{{ $name }}_EXPORTER_LEVEL
  value: {{ . | quote }}
{{- end }}
{{- with $signal.endpoint }}
- name: OTEL_EXPORTER_OTLP_{{ $name }}S_ENDPOINT
  value: {{ . | quote }}
{{- end }}
{{- end }}
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Probes of both parts. */}}
{{- define "listener-operator.probes" -}}
ports:
  - name: health
    containerPort: 8081
livenessProbe:
  httpGet:
    path: /livez
    port: health
  failureThreshold: 6
readinessProbe:
  httpGet:
    path: /readyz
    port: health
  periodSeconds: 5
{{- end }}

{{/* Where a part of the values of a Pod says on which nodes it runs, and how important it is. */}}
{{- define "listener-operator.scheduling" -}}
{{- with .nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end }}
