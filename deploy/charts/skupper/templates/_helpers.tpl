{{- define "skupper.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
application: skupper-controller
app.kubernetes.io/name: skupper-controller
app.kubernetes.io/part-of: skupper
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{/* Of the Pods, in a selector, which is immutable: as in the existing chart. */}}
{{- define "skupper.selectorLabels" -}}
application: skupper-controller
{{- end }}

{{- define "skupper.dataPlane" -}}
{{- .Values.dataPlane | default (ternary "skupper-router" "embedded" (and (ne .Values.routerImage "") (ne .Values.kubeAdaptorImage ""))) }}
{{- end }}

{{- define "skupper.controllerImage" -}}
{{- $image := .Values.controllerImage | default (printf "skupper-operator:%s" .Chart.AppVersion) }}
{{- if hasPrefix "quay.io/skupper/" $image }}
{{- fail (printf "controllerImage is %s, an image of the existing controller: set it to your image of skupper-operator" $image) }}
{{- end }}
{{- $image }}
{{- end }}

{{- define "skupper.word" -}}
{{- ternary "ClusterRole" "Role" (eq .Values.scope "cluster") }}
{{- end }}

{{/* Refuses what would leave an upgrade half done; only a cluster can say, so `helm template` does not. */}}
{{- define "skupper.guard" -}}
{{- $name := .Values.controllerName }}
{{- $there := lookup "apps/v1" "Deployment" .Release.Namespace $name | default dict }}
{{- if eq (dig "metadata" "annotations" "meta.helm.sh/release-name" "" $there) .Release.Name }}
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
