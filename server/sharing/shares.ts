// Shares: frozen copies of the shown branch behind an unguessable link.
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { networkOf } from '../auth/network.ts'
import type { Passwords } from '../auth/passwords.ts'
import { openIfReadable, type SecretBox } from '../auth/secret-box.ts'
import type { Database } from '../db/database.ts'
import type { ShareRow } from '../db/repositories/conversations/shares.ts'
import type { Store } from '../db/store.ts'
import { appError } from '../errors.ts'
import { createFairQueue } from '../lib/fair-queue.ts'
import { newId } from '../lib/ids.ts'
import type { Limits } from '../lib/limits.ts'
import type { ShareBody } from '../protocol/conversations/share.ts'
import type { ConversationId, UserId } from '../protocol/ids.ts'
import { copyBranch } from './copy-branch.ts'
import type { TextStorage } from './text-storage.ts'

const TOKEN_BYTES = 16
const MAX_COPIES = 3
const GUESSES = 20
/** Password guesses from all networks together, so that many addresses do not help much. */
const GUESSES_IN_ALL = 200
const GUESS_WINDOW_MS = 15 * 60_000
/**
 * Requests per minute from one network, whatever the link: enough for pages with many files, too few to search for links.
 */
const VIEWS = 120
const FILE_VIEWS = 2_000
const VIEW_WINDOW_MS = 60_000

/** The dependencies of shared copies. */
export interface ShareDependencies {
  database: Database
  store: Store
  box: SecretBox
  passwords: Passwords
  storage: TextStorage
  /** If false, nothing is shared, and every link returns 404. */
  isEnabled(): boolean
  limits: Limits
  now(): Date
}

/** What a visitor sends to open a link. */
export interface Visit {
  token: string
  /** The client's address. */
  address: string
  password?: string | undefined
  /** What the password may be instead, if it was sent in a header. Together they are one guess. */
  otherReadings?: readonly string[] | undefined
  /** The value that `ticketOf` returned after the password was entered; absent without one. */
  ticket?: string | undefined
  /** A file of the share is opened, not its texts. */
  isFile?: boolean
}

/** Creates, lists, opens and removes shared copies. */
export type Shares = ReturnType<typeof createShares>

/** What the tokens of shared links are sealed for. */
export const SHARE_SEAL_PURPOSE = 'share'

/** Guesses of passwords are limited for each share and in all. */
export function createShares({
  database,
  store,
  box,
  passwords,
  storage,
  isEnabled,
  limits,
  now,
}: ShareDependencies) {
  const { shares } = store
  // One copy of a user at a time: copies of one conversation would remove each other's rows.
  const queue = createFairQueue({ size: MAX_COPIES, perOwner: 1 })
  const guesses = limits.rateLimit('share guesses', { limit: GUESSES, windowMs: GUESS_WINDOW_MS })
  const guessesInAll = limits.rateLimit('share guesses in all', {
    limit: GUESSES_IN_ALL,
    windowMs: GUESS_WINDOW_MS,
  })

  const views = limits.rateLimit('share views', { limit: VIEWS, windowMs: VIEW_WINDOW_MS })
  const fileViews = limits.rateLimit('share file views', {
    limit: FILE_VIEWS,
    windowMs: VIEW_WINDOW_MS,
  })

  const tokenOf = ({ sealedToken }: ShareRow): string | null =>
    openIfReadable(box, sealedToken, SHARE_SEAL_PURPOSE)

  async function assertPassword(share: ShareRow, hash: string, visit: Visit): Promise<void> {
    if (visit.ticket !== undefined && isEqual(visit.ticket, ticket(share.id, hash))) return
    if (visit.password === undefined) throw appError('share_password_needed')
    const wait =
      (await guesses.take(`${share.id} ${networkOf(visit.address)}`)) ??
      (await guessesInAll.take(share.id))
    if (wait !== null) throw appError('share_guesses_exhausted', {}, { retryAfter: wait })
    for (const password of [visit.password, ...(visit.otherReadings ?? [])])
      if (await passwords.verify(hash, password, networkOf(visit.address))) return
    throw appError('share_password_wrong')
  }

  return {
    isEnabled,

    /**
     * Copies the shown branch. A second call renews the copy and keeps the link.
     * @throws AppError `conversation_not_found`, `sharing_off`, `share_too_large`, `share_expired`,
     * `share_unreadable`, or the quota's refusal.
     */
    create: (userId: UserId, conversationId: ConversationId, body: ShareBody): Promise<ShareRow> =>
      queue.run(userId, async () => {
        if (!isEnabled()) throw appError('sharing_off')
        const conversation = await store.conversations.find(userId, conversationId)
        if (conversation === undefined) throw appError('conversation_not_found')
        const expiresAt = body.expires_at == null ? body.expires_at : new Date(body.expires_at)
        if (expiresAt != null && expiresAt <= now()) throw appError('share_expired')
        const passwordHash =
          body.password == null ? body.password : await passwords.hash(body.password, userId)
        const old = await shares.find(userId, conversationId)
        if (old !== undefined && tokenOf(old) === null) throw appError('share_unreadable')
        const share = old ?? newShare(userId, conversationId)
        const claim = await storage.claimTexts(userId, share.id)
        if (old === undefined) await database.write((tx) => shares.insert(tx, share))
        const include = [...new Set(body.include ?? (body.include === null ? [] : share.include))]
        const revision = newId<string>()
        try {
          await copyBranch({ database, store }, conversation, {
            shareId: share.id,
            revision,
            include,
            claim,
          })
        } catch (error) {
          await database.write((tx) => shares.discard(tx, share.id, revision))
          throw error
        } finally {
          storage.release(share.id)
        }
        const shown = await database.write((tx) =>
          shares.show(tx, share.id, {
            revision,
            include,
            title: conversation.title,
            renewedAt: now(),
            passwordHash: passwordHash === undefined ? share.passwordHash : passwordHash,
            expiresAt: expiresAt === undefined ? share.expiresAt : expiresAt,
          }),
        )
        // Deleted meanwhile.
        if (shown === undefined) throw appError('conversation_not_found')
        return shown
      }),

    /** The token of a share, for its owner; null if the key that it was sealed with is gone. */
    tokenOf,

    /** Ends the link at once. @throws AppError `share_not_found`. */
    async remove(userId: UserId, conversationId: ConversationId): Promise<void> {
      const removed = await database.write((tx) => shares.remove(tx, userId, conversationId))
      if (!removed) throw appError('share_not_found')
    },

    /**
     * The share behind a link.
     * @throws AppError `share_not_found`, `share_password_needed`, `share_password_wrong`, `share_guesses_exhausted`,
     * `share_views_exhausted`.
     */
    async open(visit: Visit): Promise<ShareRow> {
      const allowance = visit.isFile === true ? fileViews : views
      const wait = await allowance.take(networkOf(visit.address))
      if (wait !== null) throw appError('share_views_exhausted', {}, { retryAfter: wait })
      const share = isEnabled() ? await shares.findByToken(hashOf(visit.token), now()) : undefined
      if (share === undefined) throw appError('share_not_found')
      if (share.passwordHash !== null) await assertPassword(share, share.passwordHash, visit)
      return share
    },

    /** What lets a visitor in again without the password, until that changes; null without a password. */
    ticketOf: ({ id, passwordHash }: ShareRow): string | null =>
      passwordHash === null ? null : ticket(id, passwordHash),

    countView: (share: ShareRow): Promise<void> =>
      database.write((tx) => shares.countView(tx, share.id)),
  }

  function newShare(userId: UserId, conversationId: ConversationId): ShareRow {
    const token = randomBytes(TOKEN_BYTES).toString('base64url')
    return {
      id: newId<string>(),
      userId,
      conversationId,
      tokenHash: hashOf(token),
      sealedToken: box.seal(token, SHARE_SEAL_PURPOSE),
      passwordHash: null,
      include: [],
      title: '',
      revision: null,
      views: 0,
      createdAt: now(),
      renewedAt: now(),
      expiresAt: null,
    }
  }
}

const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex')

/** The stored hash of the password is known to the server only. */
const ticket = (id: string, passwordHash: string): string =>
  createHmac('sha256', passwordHash).update(`share ${id}`).digest('base64url')

const isEqual = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other))
