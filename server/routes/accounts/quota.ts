// Routes for the limits of the signed-in user, and for what the user stores.

import type { App } from '../../http/app.ts'
import { QuotaReport, StorageUse } from '../../protocol/accounts/quota.ts'
import { envelope } from '../../protocol/envelope.ts'
import type { Services } from '../../services.ts'
import { success } from '../envelope.ts'

/** `/api/quota` and `/api/quota/storage`. */
export function registerQuotaRoutes(
  app: App,
  { reportQuota, reportStorageUse }: Pick<Services, 'reportQuota' | 'reportStorageUse'>,
): void {
  app.get(
    '/api/quota',
    {
      schema: {
        summary: 'Get your limits, your usage, and when the limits reset',
        response: { 200: envelope(QuotaReport) },
      },
    },
    async ({ user }) => success(await reportQuota(user.id)),
  )

  app.get(
    '/api/quota/storage',
    {
      schema: {
        summary: 'Get what you store, by kind',
        description: 'Measures the texts of all your conversations, which can take some seconds.',
        response: { 200: envelope(StorageUse) },
      },
    },
    async ({ user }) => success(await reportStorageUse(user.id)),
  )
}
