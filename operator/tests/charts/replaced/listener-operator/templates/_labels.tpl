{{- define "selector" -}}
app.kubernetes.io/name: listener-operator
app.kubernetes.io/instance: {{ .Release.Name }}
{{ toYaml .Values.labels }}
{{- end }}
{{- define "labels" -}}
helm.sh/chart: listener-operator-26.7.0
{{ include "selector" . }}
app.kubernetes.io/version: 26.7.0
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}
