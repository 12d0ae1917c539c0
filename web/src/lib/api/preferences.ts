// The user's preferences for all conversations, and the model menus that follow them.
import { useMutation, useMutationState, useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback, useMemo } from 'react'
import type { Preferences } from '../../../../server/protocol/accounts/preferences.ts'
import type { PublicModel } from '../../../../server/protocol/models/catalog.ts'
import { request } from '../http/api-client.ts'
import { useModels } from './catalog.ts'

const preferencesKey = ['preferences'] as const

const changesKey = ['change preferences'] as const

/** The user's preferences, with defaults for those that were never set, and with the changes that are being sent. */
export function usePreferences() {
  const changes = useMutationState({
    filters: { mutationKey: changesKey, status: 'pending' },
    select: ({ state }) => state.variables as Partial<Preferences>, // of the mutation below
  })
  return useQuery({
    queryKey: preferencesKey,
    queryFn: ({ signal }) => request<Preferences>('/api/preferences', { signal }),
    select: useCallback(
      (stored: Preferences): Preferences => Object.assign({}, stored, ...changes),
      [changes],
    ),
    staleTime: 60_000,
    meta: { quiet: true },
  })
}

/**
 * Changes some preferences. `usePreferences` has the change at once, and until the server has refused it. Changes are sent one
 * after another, because some contain a whole list.
 */
export function useChangePreferences() {
  const client = useQueryClient()
  return useMutation({
    mutationKey: changesKey,
    scope: { id: changesKey[0] },
    mutationFn: (body: Partial<Preferences>) =>
      request<Preferences>('/api/preferences', { method: 'PATCH', body }),
    async onSuccess(stored, changed) {
      if (changed.disabled_tools !== undefined)
        void client.invalidateQueries({ queryKey: ['tools'] })
      // A request that was sent before the change may return what was stored before it.
      await client.cancelQueries({ queryKey: preferencesKey })
      client.setQueryData(preferencesKey, stored)
    },
  })
}

/** The models in the order of the ids in `order`; the others follow in their own order. */
export function inOrder<Model extends { id: string }>(
  models: readonly Model[],
  order: readonly string[],
): Model[] {
  const place = (id: string): number => {
    const at = order.indexOf(id)
    return at < 0 ? order.length : at
  }
  return models.toSorted((one, other) => place(one.id) - place(other.id))
}

/** The models that a menu offers: in the user's order, without hidden ones except `current`. */
export function useMenuModels(current: string | null): readonly PublicModel[] {
  const { data: models } = useModels()
  const { data: preferences } = usePreferences()
  return useMemo(() => {
    if (models === undefined || preferences === undefined) return models ?? []
    const hidden = new Set(preferences.hidden_models)
    const shown = models.filter(({ id }) => id === current || !hidden.has(id))
    return inOrder(shown.length === 0 ? models : shown, preferences.model_order)
  }, [models, preferences, current])
}
