{{- /* The container, for the Deployment of this chart and for any other pod. */ -}}
{{- define "ranking-monitor.container" -}}
name: ranking-monitor
image: {{ include "ranking-monitor.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
args: [run, --config, /etc/ranking-monitor/config/monitor.yaml]
env:
  - name: RANKING_MONITOR__LISTEN
    value: {{ printf "0.0.0.0:%d" (int .Values.port) | quote }}
  {{- with .Values.env }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
ports:
  - name: rm-metrics
    containerPort: {{ .Values.port }}
startupProbe:
  httpGet: {path: /-/healthy, port: rm-metrics}
  {{- toYaml .Values.probes.startup | nindent 2 }}
livenessProbe:
  httpGet: {path: /-/healthy, port: rm-metrics}
  {{- toYaml .Values.probes.liveness | nindent 2 }}
{{- if eq .Values.mode "standalone" }}
readinessProbe:
  httpGet: {path: /-/ready, port: rm-metrics}
  {{- toYaml .Values.probes.readiness | nindent 2 }}
{{- end }}
resources:
  {{- toYaml .Values.resources | nindent 2 }}
securityContext:
  {{- $own := dict }}
  {{- if eq .Values.mode "sidecar" }}
  {{- /* The pod is another's: what this chart would set on the pod goes to the container. */}}
  {{- $own = pick .Values.podSecurityContext "runAsUser" "runAsGroup" "seccompProfile" }}
  {{- end }}
  {{- merge (deepCopy .Values.securityContext) $own | toYaml | nindent 2 }}
volumeMounts:
  - {name: ranking-monitor-config, mountPath: /etc/ranking-monitor/config, readOnly: true}
  {{- if .Values.secretName }}
  - {name: ranking-monitor-secrets, mountPath: /etc/ranking-monitor/secrets, readOnly: true}
  {{- end }}
  {{- if include "ranking-monitor.tokenSecret" . }}
  - {name: ranking-monitor-token, mountPath: /etc/ranking-monitor/token, readOnly: true}
  {{- end }}
{{- end }}

{{- /* The volumes that the container mounts. */ -}}
{{- define "ranking-monitor.volumes" -}}
- name: ranking-monitor-config
  configMap:
    name: {{ include "ranking-monitor.fullname" . }}
{{- if .Values.secretName }}
- name: ranking-monitor-secrets
  secret:
    secretName: {{ .Values.secretName }}
    defaultMode: {{ eq .Values.mode "sidecar" | ternary 0444 0440 }}
{{- end }}
{{- with include "ranking-monitor.tokenSecret" . }}
- name: ranking-monitor-token
  secret:
    secretName: {{ . }}
    defaultMode: {{ eq $.Values.mode "sidecar" | ternary 0444 0440 }}
{{- end }}
{{- end }}
