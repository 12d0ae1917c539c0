// Writes a bundle: everything a user owns, or some conversations, as one ZIP archive with a manifest.
import { Readable, type Writable } from 'node:stream'
import { finished, pipeline } from 'node:stream/promises'
import yazl from 'yazl'
import type { ConversationRow } from '../db/repositories/conversations/conversations.ts'
import type { FullMessage } from '../db/repositories/conversations/messages.ts'
import type { ProjectRow } from '../db/repositories/projects/projects.ts'
import type { Store } from '../db/store.ts'
import { AppError } from '../errors.ts'
import type { BlobStore } from '../files/blobs.ts'
import { jsonPieces } from '../lib/json-pieces.ts'
import type { BundledDocument, BundleManifest } from '../protocol/conversations/export.ts'
import type { ConversationId, UserId } from '../protocol/ids.ts'
import { conversationJson, type ReceiptReader, settingsOf } from '../sharing/export-json.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { Workspaces } from '../workspace/workspaces.ts'
import { bundledSchedules, SCHEDULES } from './bundled-schedules.ts'
import { fileEntry } from './formats/nanoclaw.ts'
import { BUNDLE_VERSION, SKILLS } from './read-bundle.ts'

// Writes a ZIP archive to a stream, entry by entry, with one piece of one entry in memory at a time.

/** A ZIP archive that is being written. */
export interface ZipWriter {
  /** Adds an entry; resolves when it is written. `compress: false` suits contents that are compressed already. */
  add(
    name: string,
    content: Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>,
    options?: { compress: boolean },
  ): Promise<void>
  /** Writes the directory; resolves when `output` has ended. */
  finish(): Promise<void>
}

/** After a failure of `add` or of `output`, every call rejects and `output` is destroyed. */
export function createZipWriter(output: Writable): ZipWriter {
  const zip = new yazl.ZipFile()
  const written = pipeline(zip.outputStream, output)
  const broken = new Promise<never>((_resolve, reject) => {
    zip.on('error', reject)
    written.catch(reject)
  })
  // The callers of `add` and `finish` receive the error.
  broken.catch(() => undefined)
  return {
    async add(name, content, { compress } = { compress: true }) {
      const stream = Readable.from(content, { objectMode: false })
      try {
        zip.addReadStreamLazy(name, { compress, mode: 0o100600 }, (use) => use(null, stream))
        await Promise.race([finished(stream), broken])
      } catch (error) {
        stream.destroy()
        output.destroy()
        throw error
      }
    },
    async finish() {
      zip.end()
      await Promise.race([written, broken])
    },
  }
}

/** The dependencies of a full export. */
export interface BundleDependencies {
  store: Pick<
    Store,
    | 'transfers'
    | 'conversations'
    | 'messages'
    | 'messageOrder'
    | 'attachments'
    | 'projects'
    | 'documents'
    | 'settings'
    | 'tokenUsage'
    | 'users'
    | 'grants'
    | 'schedules'
    | 'apps'
    | 'userSkills'
  >
  /** The user's channels, without their secrets. */
  listChannels(userId: UserId): Promise<{ type: string; name: string }[]>
  blobs: Pick<BlobStore, 'open'>
  receipts: ReceiptReader
  workspaces: Pick<Workspaces, 'open'>
  now(): Date
}

/** The options of one full export. */
export interface BundleOptions {
  userId: UserId
  /** Only these; null: everything. */
  conversationIds: readonly ConversationId[] | null
  signal: AbortSignal
  /** Called after each conversation and each project. */
  onProgress(done: number, total: number): void
}

type Counts = BundleManifest['counts']

const PASSAGES_PER_READ = 50
const PROJECTS_PER_PAGE = 100
const GRANTS_PER_PAGE = 100
/** More folders than any project may have. */
const MAX_FOLDERS = 200_000

/** Resolves when everything is written to `output`. Texts are read piece by piece, so memory does not grow with them. */
export async function writeBundle(
  dependencies: BundleDependencies,
  options: BundleOptions,
  output: Writable,
): Promise<Counts> {
  const { store, now } = dependencies
  const { userId, conversationIds, signal, onProgress } = options
  const zip = createZipWriter(output)
  const counts: Counts = { conversations: 0, messages: 0, files: 0, projects: 0, documents: 0 }
  const total = conversationIds?.length ?? (await store.transfers.countConversations(userId))
  const written = new Set<string>()
  for await (const conversation of wantedConversations(dependencies, userId, conversationIds)) {
    signal.throwIfAborted()
    await writeConversation(dependencies, zip, conversation, { counts, written })
    await writeScratch(dependencies, zip, conversation, { counts, signal })
    onProgress(counts.conversations, total)
  }
  if (conversationIds === null) await writeRest(dependencies, zip, options, counts)
  const manifest: BundleManifest = {
    format: 'nanoclaw',
    version: BUNDLE_VERSION,
    created_at: now().toISOString(),
    counts,
  }
  await zip.add('manifest.json', [JSON.stringify(manifest, null, 2)])
  await zip.finish()
  return counts
}

async function* wantedConversations(
  { store }: BundleDependencies,
  userId: UserId,
  ids: readonly ConversationId[] | null,
): AsyncGenerator<ConversationRow> {
  if (ids === null) return yield* store.transfers.conversationsOf(userId)
  for (const id of new Set(ids)) {
    const row = await store.conversations.find(userId, id)
    if (row !== undefined && !row.temporary) yield row
  }
}

async function writeConversation(
  { store, blobs, receipts }: BundleDependencies,
  zip: ZipWriter,
  conversation: ConversationRow,
  { counts, written }: { counts: Counts; written: Set<string> },
): Promise<void> {
  const found: { sha256: string; mime: string }[] = []
  const filesOf = async (message: FullMessage): Promise<unknown[]> => {
    counts.messages += 1
    const files = []
    for (const { position, name, kind, mime, extension } of message.attachments) {
      const file = await store.attachments.find(message.id, position)
      if (file === undefined) continue
      if (file.sha256 !== null) {
        found.push({ sha256: file.sha256, mime })
        files.push({ name, mime, sha256: file.sha256 })
        // An attachment of an earlier version that has not moved to a file yet.
      } else if (kind === 'image') files.push({ name, mime, data: file.content })
      else files.push({ name, ...(extension === null ? {} : { extension }), content: file.content })
    }
    return files
  }
  const settings = {
    ...settingsOf(conversation),
    origin: conversation.origin,
    project_id: conversation.projectId,
  }
  const json = conversationJson(store, receipts, conversation, { settings, filesOf })
  await zip.add(`conversations/${conversation.id}.json`, json)
  counts.conversations += 1
  for (const { sha256, mime } of found) {
    if (written.has(sha256)) continue
    const content = await openExisting(() => blobs.open(sha256))
    if (content === null) continue
    await zip.add(fileEntry(sha256), content, { compress: mime.startsWith('text/') })
    written.add(sha256)
    counts.files += 1
  }
}

/** The files and documents of a conversation without a project, below its id. */
async function writeScratch(
  { store, workspaces }: BundleDependencies,
  zip: ZipWriter,
  { id, userId, scratchProjectId }: ConversationRow,
  { counts, signal }: { counts: Counts; signal: AbortSignal },
): Promise<void> {
  const project =
    scratchProjectId === null ? undefined : await store.projects.find(userId, scratchProjectId)
  if (project === undefined) return
  const prefix = `conversations/${id}/`
  await addProjectFiles(zip, prefix, workspaces.open(userId, project.id), signal)
  counts.documents += await addDocuments(zip, prefix, project, store.documents)
}

/** Opens a stream; null when its file no longer exists. */
async function openExisting(open: () => Promise<Readable>): Promise<Readable | null> {
  try {
    return await open()
  } catch (error) {
    // A missing file must not make the whole export fail; a storage that does not respond must.
    if (error instanceof AppError && error.code !== 'store_unavailable') return null
    throw error
  }
}

async function writeRest(
  dependencies: BundleDependencies,
  zip: ZipWriter,
  { userId, signal }: BundleOptions,
  counts: Counts,
): Promise<void> {
  const { store, workspaces } = dependencies
  let cursor: string | undefined
  do {
    const page = await store.projects.list(userId, {
      limit: PROJECTS_PER_PAGE,
      cursor,
      storedOnly: true,
    })
    for (const project of page.items) {
      signal.throwIfAborted()
      await writeProject(zip, project, workspaces.open(userId, project.id), signal)
      const prefix = `projects/${project.id}/`
      counts.documents += await addDocuments(zip, prefix, project, store.documents)
      counts.projects += 1
    }
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  await zip.add('memory.md', [await store.settings.memory(userId)])
  const usage = await store.tokenUsage.byDay(userId, { from: '0000-01-01', to: '9999-12-31' })
  await zip.add('usage.json', jsonPieces(usage.map(toUsage)))
  await zip.add(SCHEDULES, jsonPieces(await bundledSchedules(store.schedules, userId)))
  await writeSkills(zip, store, userId, signal)
  await zip.add('grants.json', [JSON.stringify(await grantsOf(store, userId), null, 2)])
  await zip.add('app_networks.json', [JSON.stringify(await networksOf(store, userId), null, 2)])
  await zip.add('settings.json', [
    JSON.stringify(await settingsFile(dependencies, userId), null, 2),
  ])
}

/** The skills that the user has uploaded, one in memory at a time. */
async function writeSkills(
  zip: ZipWriter,
  { userSkills }: BundleDependencies['store'],
  userId: UserId,
  signal: AbortSignal,
): Promise<void> {
  for (const { name } of await userSkills.list(userId)) {
    signal.throwIfAborted()
    for (const { path, content } of await userSkills.files(userId, name))
      await zip.add(`${SKILLS}${name}/${path}`, [content])
  }
}

/** The apps that the user has allowed to use the network, for the person to read: no import takes it over. */
const networksOf = async (store: BundleDependencies['store'], userId: UserId): Promise<unknown[]> =>
  (await store.apps.listNetworks(userId)).map(({ projectId, path, allowedAt }) => ({
    project_id: projectId,
    path,
    allowed_at: allowedAt.toISOString(),
  }))

/** The user's grants, for the person to read: no import takes them over. */
async function grantsOf(store: BundleDependencies['store'], userId: UserId): Promise<unknown[]> {
  const grants: unknown[] = []
  let cursor: string | undefined
  do {
    const page = await store.grants.list(userId, { limit: GRANTS_PER_PAGE, cursor })
    for (const grant of page.items)
      grants.push({
        id: grant.id,
        scope:
          grant.scheduleId !== null
            ? 'schedule'
            : grant.projectId !== null
              ? 'project'
              : 'conversation',
        scope_id: grant.scheduleId ?? grant.projectId ?? grant.conversationId,
        tool: grant.tool,
        match: grant.match,
        even_tainted: grant.evenTainted,
        expires_at: grant.expiresAt?.toISOString() ?? null,
        max_uses: grant.maxUses,
        uses: grant.uses,
        last_used_at: grant.lastUsedAt?.toISOString() ?? null,
        created_at: grant.createdAt.toISOString(),
      })
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  return grants
}

const toUsage = (sum: Awaited<ReturnType<Store['tokenUsage']['byDay']>>[number]) => ({
  day: sum.day,
  model: sum.model,
  prompt_tokens: sum.promptTokens,
  completion_tokens: sum.completionTokens,
  cached_tokens: sum.cachedTokens,
  cache_write_tokens: sum.cacheWriteTokens,
  reasoning_tokens: sum.reasoningTokens,
  currency: sum.currency,
  cost: sum.cost,
})

/** The account and its channels, without secrets: no password, no key, no channel settings. */
async function settingsFile({ store, listChannels }: BundleDependencies, userId: UserId) {
  const user = await store.users.find(userId)
  const channels = await listChannels(userId)
  return {
    username: user?.username ?? null,
    email: user?.email ?? null,
    channels: channels.map(({ type, name }) => ({ type, name })),
  }
}

async function writeProject(
  zip: ZipWriter,
  { id, name, description, createdAt }: ProjectRow,
  workspace: Workspace,
  signal: AbortSignal,
): Promise<void> {
  const about = { name, description, created_at: createdAt.toISOString() }
  await zip.add(`projects/${id}/project.json`, [JSON.stringify(about, null, 2)])
  await addProjectFiles(zip, `projects/${id}/`, workspace, signal)
}

/** Adds the files of a project below `prefix`. */
export async function addProjectFiles(
  zip: ZipWriter,
  prefix: string,
  workspace: Workspace,
  signal: AbortSignal,
): Promise<void> {
  const folders = ['']
  for (let index = 0; index < folders.length && index < MAX_FOLDERS; index += 1) {
    // A folder removed meanwhile is no longer part of the project.
    const entries = await workspace.list(folders[index] ?? '').catch((error: unknown) => {
      if (error instanceof AppError) return []
      throw error
    })
    for (const entry of entries) {
      signal.throwIfAborted()
      if (entry.kind === 'directory') folders.push(entry.path)
      if (entry.kind !== 'file') continue
      const content = await openExisting(async () => (await workspace.download(entry.path)).stream)
      if (content !== null) await zip.add(`${prefix}files/${entry.path}`, content)
    }
  }
}

/** Adds the documents of a project that were read, below `prefix`. @returns their number. */
export async function addDocuments(
  zip: ZipWriter,
  prefix: string,
  project: ProjectRow,
  documents: Store['documents'],
): Promise<number> {
  let count = 0
  let cursor: string | undefined
  do {
    const page = await documents.list(project.id, { limit: PROJECTS_PER_PAGE, cursor })
    for (const document of page.items) {
      if (document.status !== 'ready') continue
      const { id, name, mime, size, createdAt, path: ofFile } = document
      const created_at = createdAt.toISOString()
      const about = { name, mime, size, created_at, path: ofFile ?? undefined }
      const path = `${prefix}documents/${id}.json`
      await zip.add(path, documentJson(about, passagesOf(documents, project, id)))
      count += 1
    }
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  return count
}

async function* documentJson(
  about: Omit<BundledDocument, 'passages'>,
  passages: AsyncIterable<BundledDocument['passages'][number]>,
): AsyncGenerator<string> {
  yield `${JSON.stringify(about).slice(0, -1)},"passages":[`
  let separator = '\n'
  for await (const passage of passages) {
    yield separator + JSON.stringify(passage)
    separator = ',\n'
  }
  yield '\n]}\n'
}

/** The passages of a document, in order. */
export async function* passagesOf(
  documents: Store['documents'],
  project: ProjectRow,
  id: string,
): AsyncGenerator<BundledDocument['passages'][number]> {
  for (let position = 0; ; ) {
    const some = await documents.passagesOf(project.id, id, position, PASSAGES_PER_READ)
    for (const { heading, page, text } of some) yield { heading, page, text }
    position = (some.at(-1)?.position ?? 0) + 1
    if (some.length < PASSAGES_PER_READ) return
  }
}
