// The storage used by a user's projects, documents, files and texts, for the quota.
import {
  type AnyColumn,
  and,
  asc,
  count,
  eq,
  exists,
  gt,
  inArray,
  isNotNull,
  isNull,
  max,
  notExists,
  type SQL,
  sql,
} from 'drizzle-orm'
import { createTurns } from '../../../lib/turns.ts'
import type { ConversationId, MessageId, ProjectId, UserId } from '../../../protocol/ids.ts'
import type { Database } from '../../database.ts'
import { byteLength } from '../../fragments.ts'

/** Messages whose texts one query measures, because SQLite executes it on the event loop. */
const MEASURED_AT_ONCE = 200
/** Of more steps than this, those of each message are measured on their own. */
const STEPS_AT_ONCE = 4_000

/**
 * What a message, a step or a conversation counts beside its text, and a file or document at least, so that many short ones
 * count, too.
 */
export const ROW_BYTES = 256

/** Stores and sums the bytes that users store. */
export type StorageRepository = ReturnType<typeof createStorageRepository>

/** How many things of a kind a user stores, and their bytes. */
export interface StoredKind {
  count: number
  bytes: number
}

/** Bytes that an account stores. */
export interface StoredByUser {
  userId: UserId
  username: string
  projects: number
  documents: number
  files: number
}

/** What a file or a document counts. */
const countedBytes = (size: AnyColumn) =>
  sql`case when ${size} < ${sql.raw(String(ROW_BYTES))} then ${sql.raw(String(ROW_BYTES))} else ${size} end`

/** A sum that is 0 of nothing. */
const total = (bytes: SQL | AnyColumn) => sql`coalesce(sum(${bytes}), 0)`.mapWith(Number)

/** The bytes of texts: conversations, and shared copies of them. */
function createTextStorage(database: Database) {
  const { read, tables } = database
  const { conversations, shares } = tables

  return {
    /**
     * The texts of all conversations, also deleted ones until they are removed, and the shared copies, with the files in them
     * that the user no longer stores. Counted in short turns of the event loop, so it takes a while where there are many.
     */
    async texts(userId: UserId): Promise<Record<'conversations' | 'shares', StoredKind>> {
      const turn = createTurns()
      const prompt = sql<number>`coalesce(${byteLength(conversations.systemPrompt)}, 0)`
      const own = await read
        .select({
          id: conversations.id,
          messages: conversations.messageCount,
          bytes: sql<number>`${byteLength(conversations.title)} + ${prompt}`.mapWith(Number),
        })
        .from(conversations)
        .where(eq(conversations.userId, userId))
      let inOwn = 0
      for (const { bytes } of own) inOwn += bytes + ROW_BYTES
      for (const group of groupsOf(own)) inOwn += await inConversations(database, group, turn)
      const copies = await read
        .select({ id: shares.id })
        .from(shares)
        .where(eq(shares.userId, userId))
      let inCopies = 0
      for (const { id } of copies)
        inCopies += ROW_BYTES + (await inShare(database, userId, id, turn))
      return {
        conversations: { count: own.length, bytes: inOwn },
        shares: { count: copies.length, bytes: inCopies },
      }
    },
  }
}

/** The steps of these messages. One message has at most some thousands. */
async function inSteps({ read, tables }: Database, ids: readonly MessageId[]): Promise<number> {
  const { steps } = tables
  const artifact = byteLength(sql`cast(${steps.artifact} as text)`)
  const [row] = await read
    .select({
      rows: count(),
      bytes: total(sql<number>`${byteLength(steps.content)} + coalesce(${artifact}, 0)`),
    })
    .from(steps)
    .where(inArray(steps.messageId, [...ids]))
  return (row?.bytes ?? 0) + (row?.rows ?? 0) * ROW_BYTES
}

async function inConversations(
  database: Database,
  ids: readonly ConversationId[],
  turn: ReturnType<typeof createTurns>,
): Promise<number> {
  const { read } = database
  const { messages, steps } = database.tables
  let bytes = 0
  for (let from = 0, isLast = false; !isLast; from += MEASURED_AT_ONCE) {
    await turn()
    // In the order of an index, so that nothing is sorted.
    const some = await read
      .select({ id: messages.id, bytes: byteLength(messages.text) })
      .from(messages)
      .where(inArray(messages.conversationId, [...ids]))
      .orderBy(asc(messages.conversationId), asc(messages.parentId), asc(messages.row))
      .limit(MEASURED_AT_ONCE)
      .offset(from)
    for (const message of some) bytes += message.bytes + ROW_BYTES
    isLast = some.length < MEASURED_AT_ONCE
    if (some.length === 0) break
    const those = some.map(({ id }) => id)
    const [all] = await read
      .select({ steps: count() })
      .from(steps)
      .where(inArray(steps.messageId, those))
    const areFew = (all?.steps ?? 0) <= STEPS_AT_ONCE
    for (const part of areFew ? [those] : those.map((id) => [id])) {
      await turn()
      bytes += await inSteps(database, part)
    }
  }
  return bytes
}

async function inShare(
  { read, tables }: Database,
  userId: UserId,
  shareId: string,
  turn: ReturnType<typeof createTurns>,
): Promise<number> {
  const { shareFiles, files, shareMessages } = tables
  const [inFiles] = await read
    .select({
      bytes: total(sql<number>`coalesce(${shareFiles.size}, ${byteLength(shareFiles.content)})`),
    })
    .from(shareFiles)
    .where(
      and(
        eq(shareFiles.shareId, shareId),
        // Contents that the user stores count there.
        notExists(
          read
            .select({ id: files.id })
            .from(files)
            .where(and(eq(files.sha256, shareFiles.sha256), eq(files.userId, userId))),
        ),
      ),
    )
  let bytes = inFiles?.bytes ?? 0
  for (let from = 0, isLast = false; !isLast; from += MEASURED_AT_ONCE) {
    await turn()
    const some = read
      .select({ bytes: byteLength(shareMessages.content).as('bytes') })
      .from(shareMessages)
      .where(eq(shareMessages.shareId, shareId))
      .orderBy(asc(shareMessages.revision), asc(shareMessages.position))
      .limit(MEASURED_AT_ONCE)
      .offset(from)
      .as('some')
    const [texts] = await read
      .select({ rows: count(), bytes: total(sql<number>`${some.bytes}`) })
      .from(some)
    bytes += (texts?.bytes ?? 0) + (texts?.rows ?? 0) * ROW_BYTES
    isLast = (texts?.rows ?? 0) < MEASURED_AT_ONCE
  }
  return bytes
}

/** The bytes of projects and of their histories, and which of them are not known. */
function createProjectStorage(database: Database) {
  const { read, tables } = database
  const { checkpoints, projects } = tables

  return {
    /** Total bytes of the earlier contents of files in the user's projects, as far as they are counted. */
    async history(userId: UserId): Promise<number> {
      const [row] = await read
        .select({ bytes: total(projects.historySize) })
        .from(projects)
        .where(eq(projects.userId, userId))
      return row?.bytes ?? 0
    },

    /** The user's projects with a history, least recently changed first. */
    async histories(userId: UserId): Promise<{ id: ProjectId; bytes: number }[]> {
      const rows = await read
        .select({ id: projects.id, bytes: projects.historySize })
        .from(projects)
        .leftJoin(checkpoints, eq(checkpoints.projectId, projects.id))
        .where(and(eq(projects.userId, userId), gt(projects.historySize, 0)))
        .groupBy(projects.id, projects.historySize)
        .orderBy(asc(max(checkpoints.id)), asc(projects.id))
      return rows.map(({ id, bytes }) => ({ id, bytes: bytes ?? 0 }))
    },

    /** Projects whose history is not counted. */
    async uncounted(userId: UserId): Promise<ProjectId[]> {
      const rows = await read
        .select({ id: projects.id })
        .from(projects)
        .where(and(eq(projects.userId, userId), isNull(projects.historySize)))
      return rows.map(({ id }) => id)
    },

    setHistory: (projectId: ProjectId, bytes: number): Promise<void> =>
      database.write(async (tx) => {
        await tx.update(projects).set({ historySize: bytes }).where(eq(projects.id, projectId))
      }),

    /** All projects with their owners. `measured`: whether their size is known. */
    projects: (): Promise<{ id: ProjectId; userId: UserId; measured: boolean }[]> =>
      read
        .select({
          id: projects.id,
          userId: projects.userId,
          measured: sql<boolean>`${projects.size} is not null`.mapWith(Boolean),
        })
        .from(projects),

    /** Projects whose size is not known. */
    async unmeasured(userId: UserId): Promise<ProjectId[]> {
      const rows = await read
        .select({ id: projects.id })
        .from(projects)
        .where(and(eq(projects.userId, userId), isNull(projects.size)))
      return rows.map(({ id }) => id)
    },

    /** Stores a measured size, unless a change has stored one meanwhile. */
    setMeasured: (projectId: ProjectId, bytes: number): Promise<void> =>
      database.write(async (tx) => {
        await tx
          .update(projects)
          .set({ size: bytes })
          .where(and(eq(projects.id, projectId), isNull(projects.size)))
      }),
  }
}

/** Uses the tables of projects, documents, files, messages and shared copies, and `users`. */
export function createStorageRepository(database: Database) {
  const { read, tables } = database
  const { documents, files, projects, users } = tables
  /** Whether a document was made from a file that the user still stores. */
  const isOfFile = exists(
    read
      .select({ id: files.id })
      .from(files)
      .where(and(eq(files.sha256, documents.sha256), eq(files.userId, documents.userId))),
  )
  /** Documents that were read from files of a project count with the project. Imported ones may have no such file. */
  const isOfProject = and(isNotNull(documents.path), isNotNull(documents.version))
  const countedSize = sql`case when ${isOfProject} then 0 else ${countedBytes(documents.size)} end`
  /** The documents with the same content: one of them counts with the file that it was made from. */
  const byContent = (where?: SQL) =>
    read
      .select({
        userId: documents.userId,
        count: count().as('count'),
        bytes:
          sql<number>`sum(${countedSize}) - max(case when ${isOfFile} then ${countedSize} else 0 end)`.as(
            'bytes',
          ),
      })
      .from(documents)
      .where(where)
      .groupBy(documents.userId, sql`coalesce(${documents.sha256}, ${documents.id})`)
      .as('by_content')
  /** Projects of known size without their history, documents as far as they do not count with a file, and files. */
  async function stored(
    userId: UserId,
  ): Promise<Record<'projects' | 'documents' | 'files', StoredKind>> {
    const contents = byContent(eq(documents.userId, userId))
    const [inProjects, inDocuments, inFiles] = await Promise.all([
      read
        .select({
          // Those of single conversations are no projects to a person, but their bytes count.
          count: total(sql<number>`case when ${projects.scratch} then 0 else 1 end`),
          bytes: total(projects.size),
        })
        .from(projects)
        .where(eq(projects.userId, userId)),
      read
        .select({
          count: total(sql<number>`${contents.count}`),
          bytes: total(sql<number>`${contents.bytes}`),
        })
        .from(contents),
      read
        .select({ count: count(), bytes: total(countedBytes(files.size)) })
        .from(files)
        .where(eq(files.userId, userId)),
    ])
    const none = { count: 0, bytes: 0 }
    return {
      projects: inProjects[0] ?? none,
      documents: inDocuments[0] ?? none,
      files: inFiles[0] ?? none,
    }
  }

  return {
    ...createTextStorage(database),
    ...createProjectStorage(database),

    /**
     * Total bytes of all documents, all files, and all projects of known size, without the history of projects. A document
     * and a file with the same content count once, and each counts at least `ROW_BYTES`.
     */
    async used(userId: UserId): Promise<number> {
      const { projects: inProjects, documents: inDocuments, files: inFiles } = await stored(userId)
      return inProjects.bytes + inDocuments.bytes + inFiles.bytes
    },
    stored,
    /** The stored bytes of each account that stores anything, by kind. */
    async byUser(): Promise<StoredByUser[]> {
      const contents = byContent()
      const [inProjects, inDocuments, inFiles, accounts] = await Promise.all([
        read
          .select({ userId: projects.userId, bytes: total(projects.size) })
          .from(projects)
          .groupBy(projects.userId),
        read
          .select({ userId: contents.userId, bytes: total(sql<number>`${contents.bytes}`) })
          .from(contents)
          .groupBy(contents.userId),
        read
          .select({ userId: files.userId, bytes: total(countedBytes(files.size)) })
          .from(files)
          .groupBy(files.userId),
        read.select({ id: users.id, username: users.username }).from(users),
      ])
      const found = new Map<UserId, StoredByUser>()
      const names = new Map(accounts.map(({ id, username }) => [id, username]))
      for (const [kind, rows] of [
        ['projects', inProjects],
        ['documents', inDocuments],
        ['files', inFiles],
      ] as const)
        for (const { userId, bytes } of rows) {
          const username = names.get(userId) ?? ''
          const stored = { userId, username, projects: 0, documents: 0, files: 0 }
          found.set(userId, { ...(found.get(userId) ?? stored), [kind]: bytes })
        }
      return [...found.values()]
    },
  }
}

/** Small conversations together, so that few queries measure them. */
function* groupsOf(
  conversations: readonly { id: ConversationId; messages: number }[],
): Generator<ConversationId[]> {
  let group: ConversationId[] = []
  let size = 0
  for (const { id, messages } of conversations) {
    if (
      group.length > 0 &&
      (size + messages > MEASURED_AT_ONCE || group.length > MEASURED_AT_ONCE)
    ) {
      yield group
      group = []
      size = 0
    }
    group.push(id)
    size += messages
  }
  if (group.length > 0) yield group
}
