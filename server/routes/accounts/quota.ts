// The route for the limits of the signed-in user.
import type { App } from '../../http/app.ts'
import { QuotaReport } from '../../protocol/accounts/quota.ts'
import { envelope } from '../../protocol/envelope.ts'
import type { UserId } from '../../protocol/ids.ts'
import { success } from '../envelope.ts'

/** `/api/quota`. */
export function registerQuotaRoutes(
  app: App,
  { report }: { report(userId: UserId): Promise<QuotaReport> },
): void {
  app.get(
    '/api/quota',
    {
      schema: {
        summary: 'Get your limits, your usage, and when the limits reset',
        response: { 200: envelope(QuotaReport) },
      },
    },
    async ({ user }) => success(await report(user.id)),
  )
}
