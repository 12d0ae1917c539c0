// Sessions of users: started by signing in, renewed by the page, listed and ended by their owner.
import type { ServerResponse } from 'node:http'
import { LRUCache } from 'lru-cache'
import type { AuditRepository } from '../db/repositories/accounts/audit.ts'
import type { SessionRepository } from '../db/repositories/accounts/sessions.ts'
import type { SessionRow, UserRow } from '../db/repositories/accounts/users.ts'
import { appError } from '../errors.ts'
import { newId } from '../lib/ids.ts'
import { atMost } from '../lib/lru-limit.ts'
import type { Actor, AuditDetails } from '../protocol/admin/audit.ts'
import type { UserId } from '../protocol/ids.ts'
import type { RefreshTokens } from './refresh-token.ts'
import { TOKEN_LIFETIME_SECONDS } from './tokens.ts'

/** Lifetime of an unused session of the page. Each renewal restarts it. */
export const REFRESH_LIFETIME_SECONDS = 30 * 24 * 60 * 60
/** How long a replaced refresh token is still accepted, for tabs that send it simultaneously and for lost responses. */
const GRACE_MS = 30_000
const MAX_SESSIONS = 500
const TOUCH_EVERY_MS = 60_000
/** Maximum number of sessions whose last use is kept in memory. */
const MAX_TOUCHED = 10_000
const MAX_USER_AGENT_CHARACTERS = 300

/** The client that signs in, as it describes itself. */
export interface Device {
  userAgent: string
  address: string
}

/** How the end of a session is recorded in the audit log. */
export interface SessionEnd {
  actor: Actor
  action: 'sign_out' | 'sessions_ended'
  details: AuditDetails
}

/** The sessions of users: begun by signing in, renewed by refresh tokens, ended from anywhere. Each act leaves its audit entry. */
export interface Sessions {
  /**
   * `refreshToken` is null for the kind `token`.
   * @param signIn the details of the audit entry; null if it begins with an act that has one of its own, such as a registration.
   * @throws AppError `session_ended` if the password was changed or the account disabled since it was read.
   */
  begin(
    user: Pick<UserRow, 'id' | 'username' | 'tokenVersion'>,
    kind: SessionRow['kind'],
    device: Device,
    signIn: AuditDetails | null,
  ): Promise<{ session: SessionRow; refreshToken: string | null }>
  /**
   * Renews a session with its refresh token, which is replaced. A token that was replaced before ends the session, because
   * somebody else may have it.
   * @param address the client's address, for the audit entry of such a reuse.
   * @throws AppError `session_ended`.
   */
  refresh(
    refreshToken: string,
    address: string,
  ): Promise<{ session: SessionRow; user: UserRow; refreshToken: string }>
  /** Most recently used first. */
  list(userId: UserId): Promise<SessionRow[]>
  /**
   * Ends a session and its open requests, except `kept`, which reports the end. @throws AppError `session_not_found`, also
   * for another user's session.
   */
  end(userId: UserId, id: string, end: SessionEnd, kept?: ServerResponse): Promise<void>
  /** Records the use of a session, accurate to the minute. */
  touch(session: SessionRow): void
}

/** The dependencies of sessions. */
export interface SessionDependencies {
  sessions: SessionRepository
  audit: Pick<AuditRepository, 'record'>
  refreshTokens: RefreshTokens
  /** Ends the open requests of a session. */
  closeRequests(userId: UserId, sessionId: string, kept?: ServerResponse): void
  /** Receives errors of writes that are not awaited. */
  onError(error: unknown): void
  now?: () => Date
}

/** Create one per process: it remembers when it last recorded the use of each session. */
export function createSessions({
  sessions,
  audit,
  refreshTokens,
  closeRequests,
  onError,
  now = () => new Date(),
}: SessionDependencies): Sessions {
  const touched = new LRUCache<string, number>(atMost(MAX_TOUCHED))

  return {
    async begin({ id: userId, username, tokenVersion }, kind, { userAgent, address }, signIn) {
      const time = now()
      const lifetime = kind === 'page' ? REFRESH_LIFETIME_SECONDS : TOKEN_LIFETIME_SECONDS
      const session: SessionRow = {
        id: newId(),
        userId,
        kind,
        generation: 0,
        userAgent: userAgent.slice(0, MAX_USER_AGENT_CHARACTERS),
        address,
        createdAt: time,
        lastUsedAt: time,
        rotatedAt: time,
        expiresAt: new Date(time.getTime() + lifetime * 1000),
      }
      const bounds = { now: time, atMost: MAX_SESSIONS, tokenVersion }
      const begun = await sessions.insert(session, bounds, async (tx) => {
        if (signIn === null) return
        const actor = { userId, username, address, details: {} }
        await audit.record(tx, actor, { action: 'sign_in', at: time, details: signIn })
      })
      if (!begun) throw appError('session_ended')
      return {
        session,
        refreshToken: kind === 'page' ? refreshTokens.create(session.id, 0) : null,
      }
    },

    async refresh(refreshToken, address) {
      const read = refreshTokens.read(refreshToken)
      if (read === null) throw appError('session_ended')
      const time = now()
      const terms = {
        now: time,
        graceMs: GRACE_MS,
        lifetimeMs: REFRESH_LIFETIME_SECONDS * 1000,
      }
      const rotation = await sessions.rotate(
        read.sessionId,
        read.generation,
        terms,
        (tx, { id }, { id: userId, username }) =>
          audit.record(
            tx,
            { userId, username, address, details: {} },
            { action: 'session_reused', at: time, details: { session: id } },
          ),
      )
      if (rotation.outcome === 'reused') closeRequests(rotation.session.userId, rotation.session.id)
      if (rotation.outcome === 'reused' || rotation.outcome === 'ended')
        throw appError('session_ended')
      const { session, user } = rotation
      return { session, user, refreshToken: refreshTokens.create(session.id, session.generation) }
    },

    list: (userId) => sessions.list(userId, now(), MAX_SESSIONS),

    async end(userId, id, { actor, action, details }, kept) {
      const removed = await sessions.remove(userId, id, (tx) =>
        audit.record(tx, actor, { action, at: now(), details }),
      )
      if (!removed) throw appError('session_not_found')
      closeRequests(userId, id, kept)
    },

    touch({ id, lastUsedAt }) {
      const time = now()
      const last = Math.max(lastUsedAt.getTime(), touched.get(id) ?? 0)
      if (time.getTime() - last < TOUCH_EVERY_MS) return
      touched.set(id, time.getTime())
      sessions.touch(id, time).catch(onError)
    },
  }
}
