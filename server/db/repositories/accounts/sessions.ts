// Sessions: who is signed in where, and the rotation of refresh tokens.
import { and, desc, eq, gt, lt } from 'drizzle-orm'
import type { UserId } from '../../../protocol/ids.ts'
import type { Database, Writer } from '../../database.ts'
import type { SessionRow, UserRow } from './users.ts'

/** Stores sessions and their refresh tokens. */
export type SessionRepository = ReturnType<typeof createSessionRepository>

/** The outcome of presenting the refresh token of one generation. */
export type Rotation =
  | { outcome: 'rotated' | 'repeated'; session: SessionRow; user: UserRow }
  /** The token was replaced earlier: somebody else may have it, so the session has ended. */
  | { outcome: 'reused'; session: SessionRow; user: UserRow }
  | { outcome: 'ended' }

/** Uses the tables `sessions` and `users`. */
export function createSessionRepository(database: Database) {
  return {
    ...beginSessions(database),
    ...keepSessions(database),
  }
}

/** New sessions, and the new token of one. */
function beginSessions(database: Database) {
  const { tables } = database
  const { sessions, users } = tables
  return {
    /**
     * Stores a session and removes expired ones; beyond `atMost`, the user's least recently used ones too.
     * `after` is part of it. @returns false when the account was disabled or its sessions were ended since it had this version.
     */
    insert: (
      session: SessionRow,
      { now, atMost, tokenVersion }: { now: Date; atMost: number; tokenVersion: number },
      after?: (tx: Writer) => Promise<void>,
    ): Promise<boolean> =>
      database.write(async (tx) => {
        // A password change takes the same lock: it either ends this session or prevents it.
        await tx.lock('users')
        const [user] = await tx.select().from(users).where(eq(users.id, session.userId))
        if (user?.isActive !== true || user.tokenVersion !== tokenVersion) return false
        await tx.delete(sessions).where(lt(sessions.expiresAt, now))
        const surplus = await tx
          .select({ id: sessions.id })
          .from(sessions)
          .where(eq(sessions.userId, session.userId))
          .orderBy(desc(sessions.lastUsedAt), desc(sessions.id))
          .limit(100)
          .offset(atMost - 1)
        for (const { id } of surplus) await tx.delete(sessions).where(eq(sessions.id, id))
        await tx.insert(sessions).values(session)
        await after?.(tx)
        return true
      }),

    /**
     * Replaces the refresh token of a session. The token of the previous generation stays valid for `graceMs` after it was
     * replaced: two tabs may send it simultaneously, and a response may be lost. `afterReuse` is part of the end of a session
     * whose token was replaced earlier.
     */
    rotate: (
      id: string,
      generation: number,
      { now, graceMs, lifetimeMs }: { now: Date; graceMs: number; lifetimeMs: number },
      afterReuse: (tx: Writer, session: SessionRow, user: UserRow) => Promise<void>,
    ): Promise<Rotation> =>
      database.write(async (tx) => {
        await tx.lock(`session ${id}`)
        const [found] = await tx
          .select({ session: sessions, user: users })
          .from(sessions)
          .innerJoin(users, eq(users.id, sessions.userId))
          .where(and(eq(sessions.id, id), eq(sessions.kind, 'page')))
        if (found === undefined || found.session.expiresAt <= now || !found.user.isActive)
          return { outcome: 'ended' }
        const { session, user } = found
        if (session.generation === generation) {
          const rotated = {
            ...session,
            generation: generation + 1,
            rotatedAt: now,
            lastUsedAt: now,
            expiresAt: new Date(now.getTime() + lifetimeMs),
          }
          await tx.update(sessions).set(rotated).where(eq(sessions.id, id))
          return { outcome: 'rotated', session: rotated, user }
        }
        const age = now.getTime() - session.rotatedAt.getTime()
        if (session.generation === generation + 1 && age < graceMs)
          return { outcome: 'repeated', session, user }
        await tx.delete(sessions).where(eq(sessions.id, id))
        await afterReuse(tx, session, user)
        return { outcome: 'reused', session, user }
      }),
  }
}

/** Sessions that there are. */
function keepSessions(database: Database) {
  const { read, tables } = database
  const { sessions } = tables
  return {
    /** A user's sessions, most recently used first. */
    list: async (userId: UserId, now: Date, limit: number): Promise<SessionRow[]> =>
      read
        .select()
        .from(sessions)
        .where(and(eq(sessions.userId, userId), gt(sessions.expiresAt, now)))
        .orderBy(desc(sessions.lastUsedAt), desc(sessions.id))
        .limit(limit),

    /** False when the user has no such session. `after` is part of the removal. */
    remove: (userId: UserId, id: string, after: (tx: Writer) => Promise<void>): Promise<boolean> =>
      database.write(async (tx) => {
        const removed = await tx
          .delete(sessions)
          .where(and(eq(sessions.id, id), eq(sessions.userId, userId)))
          .returning({ id: sessions.id })
        if (removed.length === 0) return false
        await after(tx)
        return true
      }),

    /** Records that a session was used. */
    touch: (id: string, time: Date): Promise<void> =>
      database.write(async (tx) => {
        await tx
          .update(sessions)
          .set({ lastUsedAt: time })
          .where(and(eq(sessions.id, id), lt(sessions.lastUsedAt, time)))
      }),
  }
}
