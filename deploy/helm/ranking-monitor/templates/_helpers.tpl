{{- define "ranking-monitor.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "ranking-monitor.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride }}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}
{{- else if contains $name .Release.Name }}
{{- .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "ranking-monitor.selector" -}}
app.kubernetes.io/name: {{ include "ranking-monitor.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "ranking-monitor.labels" -}}
{{ include "ranking-monitor.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "ranking-monitor.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "ranking-monitor.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "ranking-monitor.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end }}
{{- end }}

{{- define "ranking-monitor.annotations" -}}
checksum/config: {{ toYaml .Values.config | sha256sum }}
{{- if eq .Values.monitoring.kind "annotations" }}
prometheus.io/scrape: "true"
prometheus.io/port: {{ .Values.port | quote }}
prometheus.io/path: /metrics
{{- with include "ranking-monitor.token" . }}
prometheus.io/param_commit_token: {{ . | quote }}
{{- end }}
{{- end }}
{{- with .Values.commitToken.value }}
checksum/token: {{ sha256sum . | trunc 8 }}
{{- end }}
{{- end }}

{{- /* The shipped rules, for the job that the monitors set, with links to where the team reads. */ -}}
{{- define "ranking-monitor.rules" -}}
{{- $job := .Values.monitoring.job }}
{{- .Files.Get "files/rules.yaml"
  | replace "job=\"ranking-monitor\"" (printf "job=%q" $job)
  | replace "job: ranking-monitor\n" (printf "job: %q\n" $job)
  | replace "of job ranking-monitor " (printf "of job %s " $job)
  | replace "runbook_url: docs/runbooks/" (printf "runbook_url: %s/" (trimSuffix "/" .Values.rules.runbooksUrl))
  | replace "dashboard_url: http://localhost:3000/d/" (printf "dashboard_url: %s/" (trimSuffix "/" .Values.rules.dashboardsUrl)) }}
{{- end }}

{{- /* What cannot work is refused here, before Kubernetes takes it. */ -}}
{{- define "ranking-monitor.check" -}}
{{- $topics := dig "kafka" "topics" (dict) .Values.config }}
{{- if and (gt (int .Values.replicas) 1) (or (not $topics) (and $topics.events (not $topics.judgments))) }}
{{- fail (printf "replicas: %d is not allowed with one shared topic: every judgment must reach the one replica; set replicas: 1, or give judgments a topic of their own (config.kafka.topics.judgments)" (int .Values.replicas)) }}
{{- end }}
{{- if and (eq .Values.mode "sidecar") (eq .Values.monitoring.kind "ServiceMonitor") }}
{{- fail "monitoring.kind: a sidecar has no Service; use PodMonitor or annotations" }}
{{- end }}
{{- if and (eq .Values.mode "standalone") (eq .Values.monitoring.kind "ServiceMonitor") (not .Values.service.enabled) }}
{{- fail "monitoring.kind: a ServiceMonitor needs service.enabled: true" }}
{{- end }}
{{- if and (eq .Values.mode "sidecar") (eq .Values.monitoring.kind "PodMonitor") (not .Values.sidecar.podSelector) }}
{{- fail "sidecar.podSelector: must have the labels of the backend's pods, for the PodMonitor" }}
{{- end }}
{{- end }}
