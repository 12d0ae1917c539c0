// Shares: frozen copies of the shown branch behind an unguessable link.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { networkOf } from '../auth/network.ts'
import type { Passwords } from '../auth/passwords.ts'
import { openIfReadable, type SecretBox } from '../auth/secret-box.ts'
import type { Database } from '../db/database.ts'
import type { ConversationRow } from '../db/repositories/conversations/conversations.ts'
import type { FullMessage } from '../db/repositories/conversations/messages.ts'
import type { ShareRow } from '../db/repositories/conversations/shares.ts'
import { ROW_BYTES } from '../db/repositories/projects/storage.ts'
import type { Store } from '../db/store.ts'
import { appError } from '../errors.ts'
import { createFairQueue } from '../lib/fair-queue.ts'
import { newId } from '../lib/ids.ts'
import type { Limits } from '../lib/limits.ts'
import { hashLinkToken } from '../lib/link-token.ts'
import type { Actor } from '../protocol/admin/audit.ts'
import type {
  ShareBody,
  SharedMessage,
  SharedStep,
  ShareInclude,
} from '../protocol/conversations/share.ts'
import type { ConversationId, ProjectId, UserId } from '../protocol/ids.ts'
import { citedSources } from './cited-sources.ts'
import { type AnyText, contentOf, piecesOf, readShownBranch, textOf } from './read-conversation.ts'
import type { TextStorage } from './text-storage.ts'
import { wellFormed } from './well-formed.ts'

// Copies the shown branch of a conversation into a share, with only what its owner chose to include.

/** Maximum characters of all messages, and bytes of all files, of one share. */
const MAX_CHARACTERS = 10_000_000
const MAX_FILE_BYTES = 100_000_000
/** Bytes of messages that are claimed together. */
const CLAIMED_AT_ONCE = 256 * 1024

/**
 * @param to.claim reserves storage for texts.
 * @throws AppError `share_too_large`, or the quota's refusal.
 */
async function copyBranch(
  { database, store, frozenApps }: Pick<ShareDependencies, 'database' | 'store' | 'frozenApps'>,
  conversation: ConversationRow,
  to: {
    shareId: string
    revision: string
    include: readonly ShareInclude[]
    claim(bytes: number): Promise<void>
  },
): Promise<void> {
  const { shareId, revision, include, claim } = to
  let unclaimed = 0
  let characters = 0
  let bytes = 0
  let position = 0
  let fileId = 0
  const projectId = conversation.projectId ?? conversation.scratchProjectId
  const place = projectId === null ? null : { userId: conversation.userId, projectId }
  const apps = new Set<string>()
  const whole = async (text: AnyText): Promise<string> => {
    let read = ''
    for await (const piece of piecesOf(text)) {
      characters += piece.length
      if (characters > MAX_CHARACTERS) throw appError('share_too_large')
      read += piece
    }
    return read
  }
  const stepOf = async (
    message: FullMessage,
    step: FullMessage['steps'][number],
  ): Promise<SharedStep> => {
    const content = await whole(contentOf(message, step))
    if (step.type === 'tool_call') return { type: step.type, name: step.name, arguments: content }
    if (step.type === 'tool_result') return { type: step.type, name: step.name, content }
    return { type: step.type, content }
  }
  const isShown = ({ type }: { type: SharedStep['type'] }): boolean =>
    type === 'text' || include.includes(type === 'thinking' ? 'thinking' : 'tools')

  for await (const message of readShownBranch(store, conversation)) {
    const files = include.includes('files')
      ? message.attachments.map((file) => ({ file, id: fileId++ }))
      : []
    for (const { file } of files) bytes += file.size
    if (bytes > MAX_FILE_BYTES) throw appError('share_too_large')
    const steps: SharedStep[] = []
    for (const step of message.steps) if (isShown(step)) steps.push(await stepOf(message, step))
    if (message.role === 'assistant' && message.steps.length === 0)
      steps.push({ type: 'text', content: await whole(textOf(message)) })
    // Names of documents are no part of the texts.
    const sources = citedSources(message).filter(
      ({ url }) => url !== undefined || include.includes('tools'),
    )
    const written =
      place === null || message.role !== 'assistant' || !include.includes('apps')
        ? []
        : await frozenApps.present(place, await pathsChangedBy(store, message))
    for (const { path } of written) apps.add(path)
    const shared: SharedMessage = {
      role: message.role,
      created_at: message.createdAt.toISOString(),
      text: message.role === 'user' ? await whole(textOf(message)) : '',
      steps,
      files: files.map(({ file: { name, mime, size }, id }) => ({ id, name, mime, size })),
      ...(written.length === 0 ? {} : { apps: written }),
      ...(sources.length === 0 ? {} : { sources }),
    }
    const content = JSON.stringify(wellFormed(shared))
    unclaimed += ROW_BYTES + Buffer.byteLength(content)
    if (unclaimed >= CLAIMED_AT_ONCE) {
      await claim(unclaimed)
      unclaimed = 0
    }
    const index = position++
    await database.write(async (tx) => {
      await store.shares.addMessage(tx, { shareId, revision, position: index, content })
      for (const { file, id } of files)
        await store.shares.addFile(
          tx,
          { shareId, revision, position: id },
          { messageId: message.id, position: file.position },
        )
    })
  }
  await claim(unclaimed)
  if (place === null || apps.size === 0) return
  for await (const file of frozenApps.copy(place, apps)) {
    await claim(ROW_BYTES + file.size)
    const index = fileId++
    await database.write((tx) =>
      store.shares.addAppFile(tx, { shareId, revision, position: index }, file),
    )
  }
}

/** The files that an answer has written, whichever tool did it. */
const pathsChangedBy = async (
  { ledger }: Pick<Store, 'ledger'>,
  { id }: Pick<FullMessage, 'id'>,
): Promise<string[]> =>
  (await ledger.changes(id)).flatMap(({ path, after }) => (after?.kind === 'file' ? [path] : []))

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

/** What `FrozenApps` of the apps do. */
interface FrozenAppCopies {
  present(
    place: { userId: UserId; projectId: ProjectId },
    paths: readonly string[],
  ): Promise<NonNullable<SharedMessage['apps']>>
  copy(
    place: { userId: UserId; projectId: ProjectId },
    apps: ReadonlySet<string>,
  ): AsyncIterable<{ path: string; sha256: string; size: number }>
}

/** The dependencies of shared copies. */
export interface ShareDependencies {
  database: Database
  store: Store
  box: SecretBox
  passwords: Passwords
  storage: TextStorage
  /** Copies what apps consist of. */
  frozenApps: FrozenAppCopies
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

/** Creates, lists, opens and removes shared copies. Creating and removing one leaves its audit entry. */
export type Shares = ReturnType<typeof createShares>

/** What the tokens of shared links are sealed for. */
export const SHARE_SEAL_PURPOSE = 'share'

/** Guesses of passwords are limited for each share and in all. */
export function createShares(dependencies: ShareDependencies) {
  const parts = shareParts(dependencies)
  return {
    ...makeShares(dependencies, parts),
    ...ownShares(dependencies, parts),
    ...openShares(dependencies),
  }
}

/** Tokens of shares. */
function shareParts({ box }: ShareDependencies) {
  const tokenOf = ({ sealedToken }: ShareRow): string | null =>
    openIfReadable(box, sealedToken, SHARE_SEAL_PURPOSE)

  return { tokenOf }
}

type ShareParts = ReturnType<typeof shareParts>

/** New shares. */
function makeShares(
  { database, store, box, passwords, storage, frozenApps, isEnabled, now }: ShareDependencies,
  { tokenOf }: ShareParts,
) {
  const { shares } = store
  // One copy of a user at a time: copies of one conversation would remove each other's rows.
  const queue = createFairQueue({ size: MAX_COPIES, perOwner: 1 })

  function newShare(userId: UserId, conversationId: ConversationId): ShareRow {
    const token = randomBytes(TOKEN_BYTES).toString('base64url')
    return {
      id: newId<string>(),
      userId,
      conversationId,
      tokenHash: hashLinkToken(token),
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

  return {
    isEnabled,

    /**
     * Copies the shown branch. A second call renews the copy and keeps the link.
     * @throws AppError `conversation_not_found`, `sharing_off`, `share_too_large`, `share_expired`,
     * `share_unreadable`, or the quota's refusal.
     */
    create: (
      userId: UserId,
      conversationId: ConversationId,
      body: ShareBody,
      actor: Actor,
    ): Promise<ShareRow> =>
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
          await copyBranch({ database, store, frozenApps }, conversation, {
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
        const complete = {
          revision,
          include,
          title: conversation.title,
          renewedAt: now(),
          passwordHash: passwordHash === undefined ? share.passwordHash : passwordHash,
          expiresAt: expiresAt === undefined ? share.expiresAt : expiresAt,
        }
        const shown = await database.write(async (tx) => {
          const row = await shares.activate(tx, share.id, complete)
          if (row !== undefined)
            await store.audit.record(tx, actor, {
              action: 'share_created',
              at: now(),
              details: { id: conversationId, include: include.join(' ') },
            })
          return row
        })
        // Deleted meanwhile.
        if (shown === undefined) throw appError('conversation_not_found')
        return shown
      }),
  }
}

/** The shares of a user, and their end. */
function ownShares({ database, store, now }: ShareDependencies, { tokenOf }: ShareParts) {
  const { shares } = store
  return {
    /** The token of a share, for its owner; null if the key that it was sealed with is gone. */
    tokenOf,

    /** Ends the link at once. @throws AppError `share_not_found`. */
    async remove(userId: UserId, conversationId: ConversationId, actor: Actor): Promise<void> {
      const removed = await database.write(async (tx) => {
        if (!(await shares.remove(tx, userId, conversationId))) return false
        await store.audit.record(tx, actor, {
          action: 'share_deleted',
          at: now(),
          details: { id: conversationId },
        })
        return true
      })
      if (!removed) throw appError('share_not_found')
    },
  }
}

/** What those who read do. */
function openShares({ database, store, passwords, isEnabled, limits, now }: ShareDependencies) {
  const { shares } = store
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

  async function assertPassword(share: ShareRow, hash: string, visit: Visit): Promise<void> {
    if (visit.ticket !== undefined && isEqual(visit.ticket, ticket(share.id, hash))) return
    if (visit.password === undefined) throw appError('share_password_needed')
    const wait =
      (await guesses.acquire(`${share.id} ${networkOf(visit.address)}`)) ??
      (await guessesInAll.acquire(share.id))
    if (wait !== null) throw appError('share_guesses_exhausted', {}, { retryAfter: wait })
    for (const password of [visit.password, ...(visit.otherReadings ?? [])])
      if (await passwords.verify(hash, password, networkOf(visit.address))) return
    throw appError('share_password_wrong')
  }

  return {
    /**
     * The share behind a link.
     * @throws AppError `share_not_found`, `share_password_needed`, `share_password_wrong`, `share_guesses_exhausted`,
     * `share_views_exhausted`.
     */
    async open(visit: Visit): Promise<ShareRow> {
      const allowance = visit.isFile === true ? fileViews : views
      const wait = await allowance.acquire(networkOf(visit.address))
      if (wait !== null) throw appError('share_views_exhausted', {}, { retryAfter: wait })
      const share = isEnabled()
        ? await shares.findByToken(hashLinkToken(visit.token), now())
        : undefined
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
}

/** The stored hash of the password is known to the server only. */
const ticket = (id: string, passwordHash: string): string =>
  createHmac('sha256', passwordHash).update(`share ${id}`).digest('base64url')

const isEqual = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other))
