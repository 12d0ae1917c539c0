// Everything that is stored sealed, so that it can be sealed again with a new key.
import { and, eq, inArray } from 'drizzle-orm'
import { z } from 'zod'
import { UserId } from '../../protocol/ids.ts'
import { ScheduleId } from '../../protocol/schedules/schedule.ts'
import type { Database, Writer } from '../database.ts'

/** One sealed value. `ids` are the values of its row's key; what it was sealed for follows from them. */
export interface SealedValue {
  kind: SealedKind
  ids: readonly [string] | readonly [string, string]
  sealed: string
}

/** Where sealed values are stored, such as keys of models. */
export type SealedKind =
  | 'model'
  | 'channel'
  | 'share'
  | 'mcp_server'
  | 'mcp_grant'
  | 'mcp_client'
  | 'totp'
  | 'id_token'
  | 'idempotency_key'
  | 'webhook'
  | 'earlier_webhook'
  | 'schedule_hook'
  | 'setting'

/** Settings whose value is a sealed text. */
const SEALED_SETTINGS = ['web_push_key']

/** Reads and replaces everything that is stored sealed. Uses all tables with sealed values. */
export function createSealedRepository(database: Database) {
  const { tables } = database
  const { models, channels, shares, mcpGrants, mcpClients, totps, idTokens, idempotencyKeys } =
    tables
  const { mcpServers, webhooks, schedules, settings } = tables

  async function set(tx: Writer, { kind, ids: [id, second = ''], sealed }: SealedValue) {
    switch (kind) {
      case 'model':
        return tx.update(models).set({ sealedApiKey: sealed }).where(eq(models.id, id))
      case 'channel':
        return tx.update(channels).set({ sealedSettings: sealed }).where(eq(channels.id, id))
      case 'share':
        return tx.update(shares).set({ sealedToken: sealed }).where(eq(shares.id, id))
      case 'mcp_server':
        return tx.update(mcpServers).set({ sealedSettings: sealed }).where(eq(mcpServers.name, id))
      case 'mcp_grant':
        return tx
          .update(mcpGrants)
          .set({ sealed })
          .where(and(eq(mcpGrants.userId, UserId.parse(id)), eq(mcpGrants.server, second)))
      case 'mcp_client':
        return tx
          .update(mcpClients)
          .set({ sealed })
          .where(and(eq(mcpClients.issuer, id), eq(mcpClients.redirectUri, second)))
      case 'totp':
        return tx
          .update(totps)
          .set({ sealedSecret: sealed })
          .where(eq(totps.userId, UserId.parse(id)))
      case 'id_token':
        return tx.update(idTokens).set({ sealed }).where(eq(idTokens.sessionId, id))
      case 'idempotency_key':
        return tx
          .update(idempotencyKeys)
          .set({ sealedBody: sealed })
          .where(and(eq(idempotencyKeys.userId, UserId.parse(id)), eq(idempotencyKeys.key, second)))
      case 'webhook':
        return tx.update(webhooks).set({ sealedSecret: sealed }).where(eq(webhooks.id, id))
      case 'earlier_webhook':
        return tx.update(webhooks).set({ sealedEarlierSecret: sealed }).where(eq(webhooks.id, id))
      case 'schedule_hook':
        return tx
          .update(schedules)
          .set({ sealedHookSecret: sealed })
          .where(eq(schedules.id, ScheduleId.parse(id)))
      case 'setting':
        return tx.update(settings).set({ value: sealed }).where(eq(settings.key, id))
    }
  }

  return {
    list: () => list(database),

    /** Replaces values inside the caller's transaction. */
    async replace(tx: Writer, values: Iterable<SealedValue>): Promise<void> {
      for (const value of values) await set(tx, value)
    },
  }
}

async function list(database: Database): Promise<SealedValue[]> {
  const { read } = database
  const {
    models,
    channels,
    shares,
    mcpServers,
    mcpGrants,
    mcpClients,
    totps,
    idTokens,
    idempotencyKeys,
    webhooks,
    schedules,
    settings,
  } = database.tables
  const found: { kind: SealedKind; id: string; second?: string; sealed: string | null }[] = [
    ...(await read.select({ id: models.id, sealed: models.sealedApiKey }).from(models)).map(
      (row) => ({ kind: 'model' as const, ...row }),
    ),
    ...(await read.select({ id: channels.id, sealed: channels.sealedSettings }).from(channels)).map(
      (row) => ({ kind: 'channel' as const, ...row }),
    ),
    ...(await read.select({ id: shares.id, sealed: shares.sealedToken }).from(shares)).map(
      (row) => ({ kind: 'share' as const, ...row }),
    ),
    ...(
      await read.select({ id: mcpServers.name, sealed: mcpServers.sealedSettings }).from(mcpServers)
    ).map((row) => ({ kind: 'mcp_server' as const, ...row })),
    ...(
      await read
        .select({ id: mcpGrants.userId, second: mcpGrants.server, sealed: mcpGrants.sealed })
        .from(mcpGrants)
    ).map((row) => ({ kind: 'mcp_grant' as const, ...row })),
    ...(
      await read
        .select({
          id: mcpClients.issuer,
          second: mcpClients.redirectUri,
          sealed: mcpClients.sealed,
        })
        .from(mcpClients)
    ).map((row) => ({ kind: 'mcp_client' as const, ...row })),
    ...(await read.select({ id: totps.userId, sealed: totps.sealedSecret }).from(totps)).map(
      (row) => ({ kind: 'totp' as const, ...row }),
    ),
    ...(await read.select({ id: idTokens.sessionId, sealed: idTokens.sealed }).from(idTokens)).map(
      (row) => ({ kind: 'id_token' as const, ...row }),
    ),
    ...(
      await read
        .select({
          id: idempotencyKeys.userId,
          second: idempotencyKeys.key,
          sealed: idempotencyKeys.sealedBody,
        })
        .from(idempotencyKeys)
    ).map((row) => ({ kind: 'idempotency_key' as const, ...row })),
    ...(await read.select({ id: webhooks.id, sealed: webhooks.sealedSecret }).from(webhooks)).map(
      (row) => ({ kind: 'webhook' as const, ...row }),
    ),
    ...(
      await read.select({ id: webhooks.id, sealed: webhooks.sealedEarlierSecret }).from(webhooks)
    ).map((row) => ({ kind: 'earlier_webhook' as const, ...row })),
    ...(
      await read.select({ id: schedules.id, sealed: schedules.sealedHookSecret }).from(schedules)
    ).map((row) => ({ kind: 'schedule_hook' as const, ...row })),
    ...(await read.select().from(settings).where(inArray(settings.key, SEALED_SETTINGS))).map(
      ({ key, value }) => ({
        kind: 'setting' as const,
        id: key,
        sealed: z.string().parse(value),
      }),
    ),
  ]
  return found.flatMap(({ kind, id, second, sealed }) =>
    sealed === null
      ? []
      : [
          {
            kind,
            ids: second === undefined ? ([id] as const) : ([id, second] as const),
            sealed,
          },
        ],
  )
}
