// The user's preferences for all conversations, and the model menus that follow them.
import { type QueryClient, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { Preferences } from '../../../../server/protocol/accounts/preferences.ts'
import type { PublicModel } from '../../../../server/protocol/models/catalog.ts'
import { request } from '../http/api-client.ts'
import { useModels } from './catalog.ts'

const preferencesKey = ['preferences'] as const

const changesKey = ['change preferences'] as const

/** `preferences` with the changes that are still being sent, except `stored`, which the server has stored already. */
function withPending(
  client: QueryClient,
  preferences: Preferences,
  stored?: Partial<Preferences>,
): Preferences {
  const changes = client
    .getMutationCache()
    .findAll({ mutationKey: changesKey, status: 'pending' })
    .map(({ state }) => state.variables as Partial<Preferences>) // the mutations of `useChangePreferences`
    .filter((change) => change !== stored)
  return Object.assign({}, preferences, ...changes)
}

/** The user's preferences, with defaults for those that were never set. */
export const usePreferences = () =>
  useQuery({
    queryKey: preferencesKey,
    queryFn: async ({ client, signal }) =>
      withPending(client, await request<Preferences>('/api/preferences', { signal })),
    staleTime: 60_000,
    meta: { quiet: true },
  })

/**
 * Changes some preferences. The change is shown at once, and rolled back if the server refuses it. Changes are sent one after
 * another, because some contain a whole list; no response to an earlier request replaces what a later change shows.
 */
export function useChangePreferences() {
  const client = useQueryClient()
  return useMutation({
    mutationKey: changesKey,
    scope: { id: changesKey[0] },
    mutationFn: (body: Partial<Preferences>) =>
      request<Preferences>('/api/preferences', { method: 'PATCH', body }),
    onMutate: async (change) => {
      await client.cancelQueries({ queryKey: preferencesKey })
      const before = client.getQueryData<Preferences>(preferencesKey)
      if (before !== undefined) client.setQueryData(preferencesKey, { ...before, ...change })
      return { before }
    },
    onError: (_error, _change, context) => client.setQueryData(preferencesKey, context?.before),
    async onSuccess(after, change) {
      // A request that was sent before the change returns what was stored before it.
      await client.cancelQueries({ queryKey: preferencesKey })
      client.setQueryData(preferencesKey, withPending(client, after, change))
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
