// Sessions of users: started by signing in, renewed by the page, listed and ended by their owner.
import type { ServerResponse } from 'node:http'
import { LRUCache } from 'lru-cache'
import type { SessionRepository } from '../db/repositories/accounts/sessions.ts'
import type { SessionRow, UserRow } from '../db/repositories/accounts/users.ts'
import { appError } from '../errors.ts'
import { newId } from '../lib/ids.ts'
import { atMost } from '../lib/lru-limit.ts'
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

/** The sessions of users: begun by signing in, renewed by refresh tokens, ended from anywhere. */
export interface Sessions {
  /**
   * `refreshToken` is null for the kind `token`. @throws AppError `session_ended` if the password was changed or the
   * account disabled since it was read.
   */
  begin(
    user: Pick<UserRow, 'id' | 'tokenVersion'>,
    kind: SessionRow['kind'],
    device: Device,
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
  end(userId: UserId, id: string, kept?: ServerResponse): Promise<void>
  /** Records the use of a session, accurate to the minute. */
  touch(session: SessionRow): void
}

/** The dependencies of sessions. */
export interface SessionDependencies {
  sessions: SessionRepository
  refreshTokens: RefreshTokens
  /** Ends the open requests of a session. */
  closeRequests(userId: UserId, sessionId: string, kept?: ServerResponse): void
  /** Called when a replaced refresh token was used again, from this address. The session has ended. */
  onReuse(session: SessionRow, user: UserRow, address: string): Promise<void>
  /** Receives errors of writes that are not awaited. */
  onError(error: unknown): void
  now?: () => Date
}

/** Create one per process: it remembers when it last recorded the use of each session. */
export function createSessions({
  sessions,
  refreshTokens,
  closeRequests,
  onReuse,
  onError,
  now = () => new Date(),
}: SessionDependencies): Sessions {
  const touched = new LRUCache<string, number>(atMost(MAX_TOUCHED))

  return {
    async begin({ id: userId, tokenVersion }, kind, { userAgent, address }) {
      const at = now()
      const lifetime = kind === 'page' ? REFRESH_LIFETIME_SECONDS : TOKEN_LIFETIME_SECONDS
      const session: SessionRow = {
        id: newId(),
        userId,
        kind,
        generation: 0,
        userAgent: userAgent.slice(0, MAX_USER_AGENT_CHARACTERS),
        address,
        createdAt: at,
        lastUsedAt: at,
        rotatedAt: at,
        expiresAt: new Date(at.getTime() + lifetime * 1000),
      }
      const bounds = { now: at, atMost: MAX_SESSIONS, tokenVersion }
      if (!(await sessions.insert(session, bounds))) throw appError('session_ended')
      return {
        session,
        refreshToken: kind === 'page' ? refreshTokens.create(session.id, 0) : null,
      }
    },

    async refresh(refreshToken, address) {
      const read = refreshTokens.read(refreshToken)
      if (read === null) throw appError('session_ended')
      const rotation = await sessions.rotate(read.sessionId, read.generation, {
        now: now(),
        graceMs: GRACE_MS,
        lifetimeMs: REFRESH_LIFETIME_SECONDS * 1000,
      })
      if (rotation.outcome === 'reused') {
        const { userId, id } = rotation.session
        closeRequests(userId, id)
        await onReuse(rotation.session, rotation.user, address)
      }
      if (rotation.outcome === 'reused' || rotation.outcome === 'ended')
        throw appError('session_ended')
      const { session, user } = rotation
      return { session, user, refreshToken: refreshTokens.create(session.id, session.generation) }
    },

    list: (userId) => sessions.list(userId, now(), MAX_SESSIONS),

    async end(userId, id, kept) {
      if (!(await sessions.remove(userId, id))) throw appError('session_not_found')
      closeRequests(userId, id, kept)
    },

    touch({ id, lastUsedAt }) {
      const at = now()
      const last = Math.max(lastUsedAt.getTime(), touched.get(id) ?? 0)
      if (at.getTime() - last < TOUCH_EVERY_MS) return
      touched.set(id, at.getTime())
      sessions.touch(id, at).catch(onError)
    },
  }
}
