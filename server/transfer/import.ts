// Performs one import: a worker thread reads the file, and this side stores the portions.
import { cleanFact, type Memory } from '../knowledge/memory.ts'
import { createWorkerClient, type WorkerClient } from '../lib/worker-client.ts'
import type { ImportFormat } from '../protocol/conversations/transfer.ts'
import { storedFailure } from '../protocol/failures/stored.ts'
import type { ConversationId, UserId } from '../protocol/ids.ts'
import { importSchedules, type ScheduleStoring } from './bundled-schedules.ts'
import {
  type ConversationStoring,
  type ConversationWriter,
  createConversationWriter,
} from './import/store-conversations.ts'
import {
  createProjectWriter,
  type ProjectStoring,
  type ProjectWriter,
} from './import/store-projects.ts'
import { importSkill, type SkillStoring } from './import/store-skills.ts'
import {
  ImportFault,
  type ImportItem,
  type ReaderReply,
  type ReaderRequest,
} from './import-items.ts'
import type { ReportWriter } from './import-report.ts'

/** The dependencies of an import. */
export interface ImportDependencies
  extends ConversationStoring,
    ProjectStoring,
    ScheduleStoring,
    SkillStoring {
  store: ConversationStoring['store'] &
    ProjectStoring['store'] &
    ScheduleStoring['store'] &
    SkillStoring['store']
  memory: Pick<Memory, 'read' | 'remember'>
  /** Unpacked bytes of one import. */
  maxBytes: number
}

/** The options of one import. */
export interface ImportOptions {
  userId: UserId
  /** The uploaded file, and an empty folder for unpacked files. */
  file: string
  folder: string
  /** Null: detected. */
  format: ImportFormat | null
  signal: AbortSignal
  report: ReportWriter
  onOpened(format: ImportFormat, total: number): void
  onProgress(done: number): void
  /** A conversation was stored, and lists should show it. */
  onStored(id: ConversationId): void
}

const MAX_HEAP_MB = 1024
const START_TIMEOUT_MS = 30_000
const READ_TIMEOUT_MS = 180_000
/** Longer than it takes to store any portion: a new thread would not know how far this one has read. */
const IDLE_MS = 60 * 60_000

/** @throws ImportFault when the import as a whole fails; what was already stored stays. */
export async function performImport(
  dependencies: ImportDependencies,
  options: ImportOptions,
): Promise<void> {
  const { userId, file, folder, format, signal, report } = options
  const reader = createWorkerClient<ReaderRequest, ReaderReply>('transfer/reader.child', {
    worker: { resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB } },
    startTimeoutMs: START_TIMEOUT_MS,
    idleMs: IDLE_MS,
    timeoutError: () => new ImportFault(storedFailure('import_too_slow')),
  })
  const projects = createProjectWriter(dependencies, userId, report)
  const conversations = createConversationWriter(dependencies, userId, {
    report,
    projectOf: projects.idOf,
  })
  try {
    const { maxBytes } = dependencies
    const opened = await ask(reader, { type: 'open', file, folder, format, maxBytes }, signal)
    if (opened.type === 'opened') options.onOpened(opened.format, opened.total)
    for (let skip = false; ; ) {
      const reply = await ask(reader, { type: 'next', skip }, signal)
      if (reply.type !== 'items' || reply.items.length === 0) break
      skip = false
      for (const item of reply.items) {
        signal.throwIfAborted()
        const isWanted = await storeItem(item, {
          ...dependencies,
          userId,
          report,
          conversations,
          projects,
        })
        if (isWanted !== null) skip = !isWanted
        // Other requests are served between two transactions.
        await new Promise((resolve) => setImmediate(resolve))
      }
      options.onProgress(reply.done)
      const id = conversations.lastId()
      if (id !== null) options.onStored(id)
    }
    await projects.complete()
  } catch (error) {
    throw isOutOfMemory(error) ? new ImportFault(storedFailure('import_out_of_memory')) : error
  } finally {
    await reader.close()
    await conversations.discard()
    await projects.discard()
  }
}

/** @throws ImportFault when the reader reports that the import fails. */
async function ask(
  reader: WorkerClient<ReaderRequest, ReaderReply>,
  request: ReaderRequest,
  signal: AbortSignal,
): Promise<Exclude<ReaderReply, { type: 'failed' }>> {
  const reply = await reader.request(request, { timeoutMs: READ_TIMEOUT_MS, signal })
  if (reply.type === 'failed') throw new ImportFault(reply.failure)
  return reply
}

const isOutOfMemory = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'

interface Taking extends ScheduleStoring, SkillStoring {
  store: ScheduleStoring['store'] & SkillStoring['store']
  userId: UserId
  memory: ImportDependencies['memory']
  report: ReportWriter
  conversations: ConversationWriter
  projects: ProjectWriter
}

/**
 * Stores one item. @returns whether the rest of the conversation or project is wanted; null if the item does not change
 * that.
 */
async function storeItem(
  item: ImportItem,
  { userId, memory, report, conversations, projects, ...storing }: Taking,
): Promise<boolean | null> {
  if (item.type !== 'project_file') await projects.complete()
  switch (item.type) {
    case 'conversation':
      return await conversations.begin(item.conversation)
    case 'messages':
      await conversations.add(item.messages, item.isLast)
      // The next conversation is wanted again.
      return item.isLast ? true : null
    case 'project':
      return await projects.begin(item.key, item.name, item.description)
    case 'conversation_files':
      return await projects.beginScratch(item.key, item.title, conversations.completedId())
    case 'project_file':
      await projects.addFile(item.project, item.path, item.file)
      return null
    case 'document':
      await projects.addDocument(item.project, item)
      return null
    case 'memory':
      await addMemory(memory, userId, item.content)
      return null
    case 'schedule':
      await importSchedules([item.schedule], {
        ...storing,
        userId,
        report,
        projectOf: projects.idOf,
      })
      return null
    case 'skill':
      await importSkill({ ...storing, userId, report }, item)
      return null
    case 'skipped':
      if (item.ofConversation !== true || conversations.isWanted())
        report.skip(item.what, item.failure)
      return null
  }
}

const DATE = /^\d{4}-\d{2}-\d{2}:\s*/

/** Each line that the memory lacks becomes a fact from outside text, which never reaches the system prompt. */
async function addMemory(
  memory: ImportDependencies['memory'],
  userId: UserId,
  content: string,
): Promise<void> {
  const known = await memory.read(userId)
  for (const line of content.split('\n')) {
    if (line.startsWith('#') || known.includes(line.trim())) continue
    const fact = cleanFact(line.replace(/^[-*]\s+/, '').replace(DATE, ''))
    if (fact !== null) await memory.remember(userId, fact, { untrusted: true })
  }
}
