// The wire format of a session.
import type { SessionRow } from '../../db/repositories/accounts/users.ts'
import type { Session } from '../../protocol/accounts/user.ts'

/** `current`: the id of the session that sent the request. */
export const presentSession = (row: SessionRow, current: string | undefined): Session => ({
  id: row.id,
  kind: row.kind,
  user_agent: row.userAgent,
  address: row.address,
  created_at: row.createdAt.toISOString(),
  last_used_at: row.lastUsedAt.toISOString(),
  expires_at: row.expiresAt.toISOString(),
  current: row.id === current,
})
