{{- /* The Secret that holds the token of the scrapes that count; empty where there is none. */ -}}
{{- define "ranking-monitor.tokenSecret" -}}
{{- $config := .Values.config }}
{{- if and .Values.commitToken.enabled (not $config.commit_token_file) (ne (default "scrape" $config.commit) "interval") }}
{{- if .Values.commitToken.existingSecret }}
{{- .Values.commitToken.existingSecret }}
{{- else if or .Values.commitToken.value $config.commit_token (ne .Values.monitoring.kind "none") }}
{{- /* With monitoring.kind none nobody could be told of a token that the chart made up. */}}
{{- printf "%s-commit-token" (include "ranking-monitor.fullname" . | trunc 50 | trimSuffix "-") }}
{{- end }}
{{- end }}
{{- end }}

{{- /* The token: the one given, else the one that the cluster has, else a new one; the same in all of the chart. */ -}}
{{- define "ranking-monitor.token" -}}
{{- $name := include "ranking-monitor.tokenSecret" . }}
{{- if $name }}
{{- if not (hasKey .Values "madeToken") }}
{{- $found := dig "data" .Values.commitToken.key "" (default (dict) (lookup "v1" "Secret" .Release.Namespace $name)) | b64dec }}
{{- $new := ternary "" (randAlphaNum 48) (ne .Values.commitToken.existingSecret "") }}
{{- $_ := set .Values "madeToken" (coalesce .Values.commitToken.value .Values.config.commit_token $found $new | default "") }}
{{- end }}
{{- .Values.madeToken }}
{{- end }}
{{- end }}

{{- /* How a ServiceMonitor or PodMonitor sends it: as a header, which no page of Prometheus shows. */ -}}
{{- define "ranking-monitor.authorization" -}}
{{- with include "ranking-monitor.tokenSecret" . -}}
authorization:
  type: Bearer
  credentials: {name: {{ . }}, key: {{ $.Values.commitToken.key }}}
{{- end }}
{{- end }}

{{- /* The configuration, with the token as a file: a ConfigMap is for everybody to read. */ -}}
{{- define "ranking-monitor.config" -}}
{{- $config := omit .Values.config "commit_token" }}
{{- if include "ranking-monitor.tokenSecret" . }}
{{- $config = merge (dict "commit_token_file" (printf "/etc/ranking-monitor/token/%s" .Values.commitToken.key)) $config }}
{{- end }}
{{- toYaml $config }}
{{- end }}
