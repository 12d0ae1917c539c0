{{- define "nanoclaw.name" -}}
{{- printf "%s" .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- end -}}

{{- define "nanoclaw.selector" -}}
app.kubernetes.io/name: nanoclaw
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "nanoclaw.labels" -}}
{{ include "nanoclaw.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "nanoclaw.image" -}}
{{- $repository := required "image.repository is required: build the image from the Dockerfile" .Values.image.repository -}}
{{- if .Values.image.digest -}}
{{ $repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ $repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- define "nanoclaw.serviceAccount" -}}
{{- .Values.serviceAccount.name | default (include "nanoclaw.name" .) -}}
{{- end -}}

{{- define "nanoclaw.claim" -}}
{{- .Values.persistence.existingClaim | default (printf "%s-data" (include "nanoclaw.name" .)) -}}
{{- end -}}

{{- /* What the pods of the instances and of the migration share. */ -}}
{{- define "nanoclaw.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
fsGroupChangePolicy: OnRootMismatch
seccompProfile: {type: {{ ternary "Unconfined" "RuntimeDefault" (eq .Values.isolation "bubblewrap") }}}
{{- end -}}

{{- /* Refuses what cannot work, before anything is installed. */ -}}
{{- define "nanoclaw.check" -}}
{{- if not (has .Values.database (list "sqlite" "postgresql")) }}{{ fail "database must be sqlite or postgresql" }}{{ end -}}
{{- if not (has .Values.isolation (list "none" "bubblewrap")) }}{{ fail "isolation must be none or bubblewrap" }}{{ end -}}
{{- if and (eq .Values.database "sqlite") (gt (int .Values.replicas) 1) }}{{ fail "several replicas need database: postgresql" }}{{ end -}}
{{- if and (eq .Values.database "postgresql") (not .Values.existingSecret) }}{{ fail "existingSecret is required: DATABASE_URL, REDIS_URL and JWT_SECRET" }}{{ end -}}
{{- end -}}

{{- define "nanoclaw.container" -}}
image: {{ include "nanoclaw.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
  {{- if eq .Values.isolation "bubblewrap" }}
  # A new /proc can be mounted only if no part of this one is hidden; Kubernetes wants a user namespace for that (`hostUsers`).
  procMount: Unmasked
  {{- end }}
env:
  - {name: NANOCLAW_CONFIG, value: /config/config.yml}
{{- with .Values.existingSecret }}
envFrom:
  - secretRef: {name: {{ . | quote }}}
{{- end }}
volumeMounts:
  - {name: config, mountPath: /config, readOnly: true}
  - {name: data, mountPath: /data}
  - {name: temporary, mountPath: /tmp}
{{- end -}}

{{- define "nanoclaw.config" -}}
{{- $base := dict "host" "0.0.0.0" "auth_mode" "multi" "jwt_secret" "${JWT_SECRET}" "data_dir" "/data" "workspace_root" "/data/workspaces" -}}
{{- $apps := dict "enabled" (ne .Values.apps.url "") "port" .Values.apps.port -}}
{{- with .Values.apps.url }}{{ $_ := set $apps "url" . }}{{ end -}}
{{- $_ := set $base "apps" $apps -}}
{{- if eq .Values.database "postgresql" -}}
{{- $_ := set $base "db_type" "postgresql" -}}
{{- $_ := set $base "database_url" "${DATABASE_URL}" -}}
{{- $_ := set $base "redis_url" "${REDIS_URL}" -}}
{{- end -}}
{{- with .Values.publicUrl }}{{ $_ := set $base "public_url" . }}{{ end -}}
{{- $_ := set $base "trusted_proxies" .Values.trustedProxies -}}
{{- $_ := set $base "shutdown_grace" .Values.shutdownGraceSeconds -}}
{{- if .Values.serviceMonitor.enabled }}{{ $_ := set $base "metrics_allow" .Values.serviceMonitor.allow }}{{ end -}}
{{- toYaml (merge (deepCopy .Values.config) $base) -}}
{{- end -}}
