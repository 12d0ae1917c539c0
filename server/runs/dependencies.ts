// The dependencies of `chat` and `runs`.

import type { Readable } from 'node:stream'
import type { SubAgentLimits } from '../agent/sub-agent.ts'
import type { Database, Writer } from '../db/database.ts'
import type { FileRow } from '../db/repositories/projects/files.ts'
import type { RunRow } from '../db/repositories/runs/runs.ts'
import type { Store } from '../db/store.ts'
import type { ModelCatalog } from '../llm/catalog.ts'
import type { SharedQuota } from '../protocol/accounts/quota.ts'
import type { Change } from '../protocol/change.ts'
import type { ApprovalMode } from '../protocol/conversations/conversation.ts'
import type { Attachment } from '../protocol/conversations/message.ts'
import type { ErrorParams } from '../protocol/error.ts'
import type { ConversationId, FileId, ProjectId, UserId } from '../protocol/ids.ts'
import type { DecidedThrough, RequestState } from '../protocol/runs/approval.ts'
import type { ReceiptCounts } from '../protocol/runs/receipt.ts'
import type { Usage } from '../protocol/runs/usage.ts'
import type { Receipts } from '../receipts/receipts.ts'
import type { Skills } from '../skills/skills.ts'
import type { ToolDefinition } from '../tools/definition.ts'
import type { LongResultStore } from '../tools/long-results.ts'
import type { ToolRegistry } from '../tools/registry.ts'
import type { ResultCache } from '../tools/result-cache.ts'
import type { ToolSafety } from '../tools/timed-run.ts'
import type { RunRecords } from './inspection/run-records.ts'
import type { RunObservation } from './observation.ts'
import type { RunSharing } from './shared/sharing.ts'
import type { TellWaiting } from './told-request.ts'

/** The methods of the server's log that these modules use. */
export interface ChatLog {
  info(details: object, message: string): void
  warn(details: object, message: string): void
  error(details: object, message: string): void
}

/** Limits and defaults, as plain values. */
export interface ChatSettings {
  maxIterations: number
  toolMaxWorkers: number
  /** More tools of MCP servers than this are found on demand. */
  listedMcpTools: number
  subAgents: SubAgentLimits
  /** The limits of runs with the skill for research, instead of those above and of `runMinutes`. */
  research: {
    maxIterations: number
    minutes: number
    subAgents: Pick<SubAgentLimits, 'maxIterations' | 'timeout'>
  }
  /** Applies to conversations without an approval mode of their own. */
  approvalDefault(): ApprovalMode
  /** Seconds after which requests of unattended runs expire unless they say otherwise; null: never. */
  unattendedDeadline: number | null
  /** Whether links can approve calls of high risk. */
  approvalLinkHigh: boolean
  /** Whether an answer at a messenger can approve calls of high risk. */
  approvalChannelHigh: boolean
  titles: 'model' | 'first_message' | 'off'
  /** Seconds. */
  disconnectGrace: number
  messageCharacters: number
  /** Maximum bytes of all attachments of one message. */
  attachmentBytes: number
  runMinutes: number
  /** How long a temporary conversation stays after its last run while its user has a page open. */
  temporaryIdleMs: number
  runTokens: number | undefined
}

/** What the prompt contains about a project. */
export interface ProjectDescription {
  /** Its name and description, as the user wrote them. */
  about: string
  /** The names of its files. Treat them as text from outside: anybody may have chosen them. */
  listing: string
  /** Names of tools that conversations of the project cannot use. */
  disabledTools: readonly string[]
  usesMemory: boolean
  /** Whether the user may change nothing in it. */
  isReadOnly: boolean
}

/** What the prompt contains of the user's memory; '' for an empty part. */
export interface MemorySection {
  /** The user's own text, and facts from untainted conversations. */
  trusted: string
  /** Facts from tainted conversations: data that must not be part of a system message. */
  outside: string
}

/** The files of users, as messages and runs need them. */
export interface MessageFiles {
  /** Returns those of the files that belong to the user, in any order. */
  findAll(userId: UserId, ids: readonly FileId[]): Promise<FileRow[]>
  /** Stores an attachment that came inside a message. @throws AppError `quota_claim_refused`. */
  addInline(userId: UserId, attachment: Attachment): Promise<FileRow>
  /** Removes a file that no message uses. */
  remove(userId: UserId, id: FileId): Promise<unknown>
  /** The encoding in which a text was read; null for other files. */
  encoding(userId: UserId, id: FileId): Promise<string | null>
  /** Reads a blob by its hash. @throws AppError `file_content_missing`. */
  read(sha256: string): Promise<Buffer>
  /** Streams the bytes of a file. @throws AppError `file_content_missing`. */
  open(file: FileRow): Promise<Readable>
}

/** The documents of projects, as runs need them. */
export interface ProjectDocuments {
  /**
   * Adds a stored file as a document, or finds the document with the same content. @throws AppError if the quota is used
   * up.
   */
  addStored(
    target: { userId: UserId; projectId: ProjectId },
    file: {
      name: string
      mime: string
      sha256: string
      encoding: string | null
      open(): Promise<Readable>
    },
  ): Promise<{ id: string; name: string }>
}

/** Counts texts against the storage of each user. */
export interface TextCounter {
  /** Counts a text that is about to be stored. @throws AppError `quota_texts_refused`. */
  countText(userId: UserId, bytes: number): Promise<void>
  /** Counts a text that has been stored. */
  noteText(userId: UserId, bytes: number): void
}

/** What a user's groups permit. */
export interface UserAccess {
  /** Returns the test whether the user may use a model, by id. */
  models(userId: UserId): (id: string) => boolean
  /** The requested approval mode, or the nearest stricter one that the user may use. */
  approvalMode(userId: UserId, wanted: ApprovalMode): ApprovalMode
  /** @throws AppError `approval_mode_not_permitted`. */
  assertApprovalMode(userId: UserId, mode: ApprovalMode): void
  /** Whether apps exist for the user. */
  allowsFeature(userId: UserId, feature: 'apps'): boolean
  /** The limits that apply to this user alone. */
  quota(userId: UserId): { concurrent_runs: number | null }
  /** The limits on the user's model calls; empty if there are none. */
  spendingLimits(userId: UserId): readonly SpendingLimit[]
}

/** What one user, or the members of a group together, may spend on model calls. */
export interface SpendingLimit {
  users: readonly UserId[]
  /** The group whose members share the limit; null for a limit of one user. */
  group: string | null
  quota: SharedQuota
}

/** Notifies webhooks of runs and limits, in the transaction in which something happens. */
export interface RunNotices {
  /** Call it in the transaction that ends the run. */
  runEnded(
    tx: Writer,
    run: Pick<
      RunRow,
      'id' | 'userId' | 'conversationId' | 'messageId' | 'attempt' | 'kind' | 'model'
    >,
    end: {
      status: string
      finishReason: string | null
      /** The reason why the run failed; null if it did not. */
      error: string | null
      usage: Usage | null
      /** What the answer did; null for a run that failed outside of its loop. */
      receipt: ReceiptCounts | null
      endedAt: Date
    },
  ): Promise<void>
  /** Call it in the transaction that stores the request. */
  approvalRequired(
    tx: Writer,
    run: Pick<RunRow, 'id' | 'userId' | 'conversationId' | 'messageId' | 'attempt'>,
    call: { id: string; name: string; riskLevel: string; createdAt: Date },
  ): Promise<void>
  /** Call it in the transaction that decides the request or makes it void. */
  approvalDecided(
    tx: Writer,
    run: Pick<RunRow, 'id' | 'userId'>,
    request: {
      id: string
      state: RequestState
      through: DecidedThrough | null
      decidedAt: Date
    },
  ): Promise<void>
  quotaReached(
    userId: UserId,
    refusal: { reason: string; message: string; params?: ErrorParams | undefined },
  ): void
}

/** The files of conversations without a project. */
export interface ScratchProjects {
  /** The conversation's scratch project; null before the first change. */
  find(userId: UserId, conversationId: ConversationId): Promise<ProjectId | null>
  /**
   * The project in which a conversation that had none writes files: made now, or the one that it has got meanwhile.
   * @throws AppError `conversation_gone`.
   */
  forChange(userId: UserId, conversationId: ConversationId): Promise<ProjectId>
  /** Removes the conversation's files, if it has any of its own. No run may be active in it. */
  remove(userId: UserId, conversationId: ConversationId): Promise<void>
}

/** Created once by `composition/chat.ts` and passed to everything in these modules. */
export interface ChatDependencies {
  database: Database
  store: Store
  files: MessageFiles
  storage: TextCounter
  receipts: Pick<Receipts, 'atEnd'>
  documents: ProjectDocuments
  /** The files of conversations without a project. */
  scratch: ScratchProjects
  settings: ChatSettings
  catalog: ModelCatalog
  access: UserAccess
  registry: ToolRegistry
  cache: ResultCache
  results: LongResultStore
  safety: ToolSafety
  /** Connects to the MCP servers that a user has signed in to; resolves after some seconds at the latest. */
  prepareTools(userId: UserId): Promise<void>
  /** A tool of an MCP server for the apps of that server; null if only models may call it, undefined if there is none. */
  appTool(userId: UserId, server: string, tool: string): Promise<ToolDefinition | null | undefined>
  /** The names of the tools of these MCP servers, which a conversation has switched off. */
  toolsOfServers(userId: UserId, servers: readonly string[]): ReadonlySet<string>
  /** Returns the parts of a user's memory (Markdown) that are relevant to the question. Not called without a memory. */
  memory(content: string, question: string): Promise<MemorySection>
  /** What may be used of the skills. */
  skills: Pick<Skills, 'active' | 'stateOf'>
  describeProject(userId: UserId, projectId: ProjectId): Promise<ProjectDescription | null>
  /** Notifies the user's open pages of a change. Call it after the commit. */
  announce(userId: UserId, change: Change): void
  /** Whether the user has a page open, as far as this instance knows. */
  isFollowed(userId: UserId): boolean
  notices?: RunNotices
  /** Tells a person of a request that waits; absent: nobody is told. */
  tell?: TellWaiting
  /** Receives what runs do, for metrics. */
  observe?(observation: RunObservation): void
  /** Records what runs exchange with providers. */
  records?: Pick<RunRecords, 'begin'>
  log: ChatLog
  /** Removes all secrets that this server knows from the text. */
  redact(text: string): string
  now(): Date
  /** Identifies this process among others that use the same store. */
  instance: string
  /**
   * Resolves when this process owns the store; nearly always at once. Awaited before anything with an effect outside the
   * store. Rejects when the signal aborts.
   */
  whenOwner(signal: AbortSignal): Promise<void>
  /** Absent in a single process, which owns all runs of its store. */
  sharing?: RunSharing | undefined
}
