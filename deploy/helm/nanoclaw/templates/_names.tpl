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
seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{- define "nanoclaw.container" -}}
image: {{ include "nanoclaw.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
env:
  - {name: NANOCLAW_CONFIG, value: /config/config.yml}
envFrom:
  - secretRef: {name: {{ required "existingSecret is required: DATABASE_URL, REDIS_URL and JWT_SECRET" .Values.existingSecret | quote }}}
volumeMounts:
  - {name: config, mountPath: /config, readOnly: true}
  - {name: data, mountPath: /data}
  - {name: temporary, mountPath: /tmp}
{{- end -}}

{{- define "nanoclaw.config" -}}
{{- $base := dict "host" "0.0.0.0" "auth_mode" "multi" "jwt_secret" "${JWT_SECRET}" "data_dir" "/data" "workspace_root" "/data/workspaces" "db_type" "postgresql" "database_url" "${DATABASE_URL}" "redis_url" "${REDIS_URL}" -}}
{{- $_ := set $base "public_url" (required "publicUrl is required" .Values.publicUrl) -}}
{{- $_ := set $base "trusted_proxies" .Values.trustedProxies -}}
{{- $_ := set $base "shutdown_grace" .Values.shutdownGraceSeconds -}}
{{- toYaml (merge (deepCopy .Values.config) $base) -}}
{{- end -}}
