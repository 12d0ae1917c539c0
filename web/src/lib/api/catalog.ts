// The models and tools that the server offers, and the models that an administrator manages.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import type { z } from 'zod'
import type {
  AdminModel,
  ModelSettings,
  PatchModelBody,
  ProbeBody,
  ProbeReport,
  PublicModel,
  ToolList,
} from '../../../../server/protocol/models/catalog.ts'
import { request, requestDone } from '../http/api-client.ts'
import { useTranslation } from '../i18n/use-translation.tsx'

const modelsKey = ['models'] as const
const adminModelsKey = ['admin-models'] as const

/** The models that the user may use. The demo has its name in the page's language. */
export function useModels() {
  const { t } = useTranslation()
  const named = useCallback(
    (models: PublicModel[]) =>
      models.map((model) => (model.demo ? { ...model, name: t('composer.demoName') } : model)),
    [t],
  )
  return useQuery({
    queryKey: modelsKey,
    queryFn: ({ signal }) => request<PublicModel[]>('/api/models', { signal }),
    select: named,
    staleTime: 60_000,
  })
}

/** The tools that are available to the user, with their risk levels. */
export const useTools = () =>
  useQuery({
    queryKey: ['tools'],
    queryFn: ({ signal }) => request<z.output<typeof ToolList>>('/api/tools', { signal }),
    staleTime: 60_000,
    meta: { quiet: true },
  })

/** A provider that the setup page offers. */
export type Preset = {
  id: string
  name: string
  api_url: string
  /** Found running on the server's own machine. */
  detected?: boolean
  /** The page on which its API keys are created; null when it needs none. */
  key_url: string | null
  /** The environment variable of the server that has its key; null if none has. Absent from servers of earlier versions. */
  key_variable?: string | null
}

/** The known providers that the setup page offers. For administrators. */
export const usePresets = () =>
  useQuery({
    queryKey: ['model-presets'],
    queryFn: ({ signal }) => request<Preset[]>('/api/admin/models/presets', { signal }),
    meta: { quiet: true },
  })

/** Tests an address, key and model with a few small requests; nothing is stored. */
export const useProbe = () =>
  useMutation({
    mutationFn: (body: z.input<typeof ProbeBody>) =>
      request<ProbeReport>('/api/admin/models/probe', { method: 'POST', body }),
    meta: { quiet: true },
  })

/** The stored models with their settings, for administrators. The API keys are never included. */
export const useAdminModels = (enabled: boolean) =>
  useQuery({
    queryKey: adminModelsKey,
    queryFn: ({ signal }) =>
      request<{ items: AdminModel[] }>('/api/admin/models', { signal }).then(({ items }) => items),
    enabled,
  })

/** Adds a model to the server. The form shows the error itself. */
export function useStoreModel() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: ModelSettings) => requestDone('/api/admin/models', { method: 'POST', body }),
    onSuccess: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: modelsKey }),
        client.invalidateQueries({ queryKey: adminModelsKey }),
      ]),
    meta: { quiet: true },
  })
}

/** Changes the settings of a stored model. */
export function useChangeModel(quiet = false) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ id, patch }: { id: string; patch: z.input<typeof PatchModelBody> }) =>
      request(`/api/admin/models/${encodeURIComponent(id)}`, { method: 'PATCH', body: patch }),
    onSuccess: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: modelsKey }),
        client.invalidateQueries({ queryKey: adminModelsKey }),
      ]),
    meta: { quiet },
  })
}

/** Replaces the API key of a stored model. */
export function useEnterModelKey() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ id, key }: { id: string; key: string }) =>
      request(`/api/admin/models/${encodeURIComponent(id)}`, {
        method: 'PATCH',
        body: { api_key: key },
      }),
    onSuccess: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: modelsKey }),
        client.invalidateQueries({ queryKey: adminModelsKey }),
      ]),
  })
}

/** Removes a stored model. The variable is its id. */
export function useDeleteModel() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (id: string) =>
      requestDone(`/api/admin/models/${encodeURIComponent(id)}`, { method: 'DELETE' }),
    onSuccess: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: modelsKey }),
        client.invalidateQueries({ queryKey: adminModelsKey }),
      ]),
  })
}
