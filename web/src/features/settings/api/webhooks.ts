// Requests for the user's webhooks.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type {
  CreatedWebhook,
  Webhook,
  WebhookDelivery,
  WebhookEventType,
} from '../../../../../server/protocol/programs/webhook.ts'
import { request, requestDone } from '../../../lib/http/api-client.ts'

export type { Webhook, WebhookDelivery }

const webhooksKey = ['webhooks'] as const

/** The webhooks, without their secrets. */
export const useWebhooks = () =>
  useQuery({
    queryKey: webhooksKey,
    queryFn: ({ signal }) =>
      request<{ items: Webhook[] }>('/api/webhooks', { signal }).then(({ items }) => items),
    meta: { quiet: true },
  })

function useWebhookChange<Input, Output>(change: (input: Input) => Promise<Output>, quiet = false) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: change,
    onSettled: () => client.invalidateQueries({ queryKey: webhooksKey }),
    meta: { quiet },
  })
}

/** Creates a webhook. Only this response contains its secret. */
export const useCreateWebhook = () =>
  useWebhookChange(
    (body: { url: string; events: readonly WebhookEventType[] }) =>
      request<CreatedWebhook>('/api/webhooks', { method: 'POST', body }),
    true,
  )

/** Turns a webhook on or off; nothing is delivered to it while it is off. */
export const useSwitchWebhook = () =>
  useWebhookChange(({ id, ...body }: { id: string; is_active: boolean }) =>
    requestDone(`/api/webhooks/${id}`, { method: 'PATCH', body }),
  )

/** Gives a webhook a new secret. For `overlap_hours`, deliveries are signed with the old secret too. */
export const useReplaceSecret = () =>
  useWebhookChange(({ id, ...body }: { id: string; overlap_hours: number }) =>
    request<CreatedWebhook>(`/api/webhooks/${id}/secret`, { method: 'POST', body }),
  )

/** Delivers a test event at once and resolves with its result. */
export const useTestWebhook = () =>
  useWebhookChange((id: string) =>
    request<WebhookDelivery>(`/api/webhooks/${id}/test`, { method: 'POST' }),
  )

/** Removes a webhook and its deliveries. */
export const useDeleteWebhook = () =>
  useWebhookChange((id: string) => requestDone(`/api/webhooks/${id}`, { method: 'DELETE' }))
