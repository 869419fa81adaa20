{{/* What finds the pods; the same in manifests/base, and it cannot be changed later. */}}
{{- define "trainway.selector" -}}
app.kubernetes.io/name: trainer
app.kubernetes.io/component: manager
app.kubernetes.io/part-of: kubeflow
{{- end }}

{{/* Which release an object is of. */}}
{{- define "trainway.origin" -}}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "trainway.labels" -}}
{{ include "trainway.selector" . }}
{{ include "trainway.origin" . }}
{{- end }}

{{/* Labels, and annotations where there are any: (dict "root" . "annotations" (dict ...)). */}}
{{- define "trainway.metadata" -}}
labels:
  {{- include "trainway.labels" .root | nindent 2 }}
  {{- with .labels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with merge (dict) (.annotations | default dict) .root.Values.commonAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Names are fixed: there is one operator in a cluster, and they are upstream's. */}}
{{- define "trainway.name" -}}kubeflow-trainer-controller-manager{{- end }}
{{- define "trainway.service" -}}{{ .Values.config.certManagement.webhookServiceName }}{{- end }}
{{- define "trainway.secret" -}}{{ .Values.config.certManagement.webhookSecretName }}{{- end }}

{{- define "trainway.image" -}}
{{- $tag := .Values.image.tag | default .Chart.AppVersion -}}
{{ .Values.image.repository }}{{ if .Values.image.digest }}@{{ .Values.image.digest }}{{ else }}:{{ $tag }}{{ end }}
{{- end }}

{{/* The port of an address such as :8443; empty where it is turned off. */}}
{{- define "trainway.port" -}}{{ regexFind "[0-9]+$" (regexFind ":[0-9]+$" .) }}{{- end }}

{{/* The ports that are served: name: number. */}}
{{- define "trainway.ports" -}}
{{- with include "trainway.port" .Values.config.health.healthProbeBindAddress }}
health: {{ . }}
{{- end }}
{{- with include "trainway.port" .Values.config.metrics.bindAddress }}
metrics: {{ . }}
{{- end }}
webhook: {{ .Values.config.webhook.port }}
status-server: {{ .Values.config.statusServer.port }}
{{- end }}

{{- define "trainway.configuration" -}}
apiVersion: config.trainer.kubeflow.org/v1alpha1
kind: Configuration
{{ toYaml .Values.config }}
{{- end }}

{{/* A role and whom it is for: (dict "root" . "name" ... "namespace" ... "rules" ... "subject" ...). */}}
{{- define "trainway.role" -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ ternary "Role" "ClusterRole" (not (empty .namespace)) }}
metadata:
  name: {{ .name }}
  {{- with .namespace }}
  namespace: {{ . }}
  {{- end }}
  {{- include "trainway.metadata" . | nindent 2 }}
rules:
  {{- toYaml .rules | nindent 2 }}
{{- end }}

{{- define "trainway.binding" -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ ternary "RoleBinding" "ClusterRoleBinding" (not (empty .namespace)) }}
metadata:
  name: {{ .name }}
  {{- with .namespace }}
  namespace: {{ . }}
  {{- end }}
  {{- include "trainway.metadata" . | nindent 2 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ .kind | default (ternary "Role" "ClusterRole" (not (empty .namespace))) }}
  name: {{ .name }}
subjects:
  - {{ toYaml .subject | nindent 4 | trim }}
{{- end }}
