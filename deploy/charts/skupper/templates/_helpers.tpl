{{- define "skupper.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
application: skupper-controller
app.kubernetes.io/name: skupper-controller
app.kubernetes.io/part-of: skupper
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{/* Of the Pods, in a selector that nobody can change: as the existing chart has it. */}}
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
