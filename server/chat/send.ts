// Sends, edits, regenerates: checks whether a run may start, and stores its rows before anything is emitted.
import type { ConversationRow } from '../db/repositories/conversations/conversations.ts'
import type { RunSite } from '../db/repositories/conversations/turns.ts'
import type { RunRow } from '../db/repositories/runs/runs.ts'
import type { Store } from '../db/store.ts'
import { AppError, appError } from '../errors.ts'
import { newId } from '../lib/ids.ts'
import type {
  EditMessageBody,
  RegenerateBody,
  SendMessageBody,
} from '../protocol/conversations/message.ts'
import { titleFromMessage } from '../protocol/conversations/title.ts'
import type { ConversationId, MessageId, ProjectId, RunId, UserId } from '../protocol/ids.ts'
import { isUnattended, PAGE_ORIGIN, type RunOrigin } from '../protocol/runs/origin.ts'
import type { ChatDependencies, ChatSettings } from '../runs/dependencies.ts'
import { activeRunError, type RunRegistry, runsAtOnce, tooManyRuns } from '../runs/registry.ts'
import { RUN_DEFAULTS } from '../runs/start/row-defaults.ts'
import type { RunOptions } from '../runs/state.ts'
import { exceededBudget } from '../runs/usage/budgets.ts'
import { RESEARCH } from '../skills/built-in.ts'
import { requireSkills } from '../skills/skills.ts'
import { projectOf } from './owned.ts'
import { filesOf, type TurnWithFiles } from './send/attachments.ts'
import { storeTurn, type Turn, type TurnFiles } from './send/store-turn.ts'
import type { TemporaryRemoval } from './temporary.ts'

/** A request with where it comes from; by default, a person at the page. */
type From<Body> = Body & { origin?: RunOrigin } & Partial<
    Pick<RunOptions, 'tools' | 'limits' | 'quiet'>
  >

/** What starts an answer. Every method acts for one user, and throws an AppError for conversations of others. */
export interface Sending {
  /** Stores the message and starts a run, or returns the run that was started with the same `client_id`. */
  send(
    userId: UserId,
    conversationId: ConversationId,
    body: From<Partial<SendMessageBody>>,
  ): Promise<RunRow>
  /** Creates a sibling of the user message and answers it. */
  edit(
    userId: UserId,
    conversationId: ConversationId,
    messageId: MessageId,
    body: From<EditMessageBody>,
  ): Promise<RunRow>
  /** Creates a sibling of the assistant message; with `beside`, also while another one is being written. */
  regenerate(
    userId: UserId,
    conversationId: ConversationId,
    messageId: MessageId,
    body: From<RegenerateBody>,
  ): Promise<RunRow>
  /** Rejects a run that cannot start now, before any other work is done for it. @throws AppError with the reason. */
  admit(userId: UserId, site: Pick<RunSite, 'activeRunId' | 'unfinishedRuns'>): Promise<void>
  /** Stores a turn and starts its run, or returns the run that was started with the same `client_id`. */
  begin(userId: UserId, site: RunSite, body: RunBody, turn: Turn): Promise<RunRow>
}

/** Creates the part of the chat service that starts runs. */
export function createSending(
  dependencies: ChatDependencies,
  runs: RunRegistry,
  temporary: TemporaryRemoval,
): Sending {
  const { store, settings } = dependencies

  async function admit(
    userId: UserId,
    { activeRunId, unfinishedRuns }: Pick<RunSite, 'activeRunId' | 'unfinishedRuns'>,
  ): Promise<void> {
    if (runs.isDraining && !(await runs.canHandOver()))
      throw appError('shutting_down', {}, { retryAfter: 5 })
    const exceeded = await exceededBudget(dependencies.access.spendingLimits(userId), dependencies)
    if (activeRunId !== null) throw activeRunError(activeRunId)
    const runsPerUser = runsAtOnce(dependencies.access, userId)
    if (unfinishedRuns >= runsPerUser) throw tooManyRuns(runsPerUser)
    if (exceeded === null) return
    dependencies.notices?.quotaReached(userId, exceeded)
    throw exceeded
  }

  async function begin(userId: UserId, site: RunSite, body: RunBody, turn: Turn): Promise<RunRow> {
    const { conversation } = site
    if (site.duplicateRunId !== null) {
      const duplicate = await findDuplicate(store, conversation, body)
      if (duplicate !== undefined) return duplicate
    }
    try {
      // What runs beside another answer is checked in the transaction that stores it.
      await admit(
        userId,
        turn.kind === 'answer' && turn.beside ? { ...site, activeRunId: null } : site,
      )
    } catch (rejection) {
      // A duplicate of this request may have just started the run that is in the way.
      const duplicate = await findDuplicate(store, conversation, body)
      if (duplicate !== undefined) return duplicate
      throw rejection
    }
    if (body.approval !== undefined) dependencies.access.assertApprovalMode(userId, body.approval)
    const { model } = await dependencies.catalog.resolve(
      body.model ?? conversation.model,
      dependencies.access.models(userId),
    )
    await dependencies.storage.countText(userId, bytesOf(turn))
    const projectId = projectOf(conversation)
    const skills = await skillOptions(body.skills, { userId, projectId }, dependencies)
    checkQuestion(questionOf(turn), settings.messageCharacters)
    const place = { ...dependencies, userId, vision: model.vision }
    const files = mayHaveFiles(turn) ? await filesOf(turn, place) : NO_FILES
    const run = newRun(conversation, { userId, model: model.id, body, turn, skills }, dependencies)
    const title = settings.titles === 'off' ? null : firstTitle(conversation, turn)
    const duplicate = await storeAndStart(run, site, { body, turn, files, title })
    if (duplicate !== null) return duplicate
    if (conversation.temporary) temporary.after(run)
    return run
  }

  /** Stores the run with its turn and starts it. Returns the run that was started with the same `client_id`, if there is one. */
  async function storeAndStart(
    run: RunRow & { userMessageId: MessageId },
    { conversation, memory, preferences, ownSkills }: RunSite,
    {
      body,
      turn,
      files,
      title,
    }: { body: RunBody; turn: Turn; files: TurnFiles; title: string | null },
  ): Promise<RunRow | null> {
    const at = { run, questionId: run.userMessageId, conversation, files, title }
    try {
      await runs.begin(run, async (tx) => {
        const { conversation: shown, branch } = await storeTurn(tx, store, turn, at)
        return { setting: { conversation: shown, memory, preferences, ownSkills }, branch }
      })
      return null
    } catch (error) {
      await files.discard()
      const isActive = error instanceof AppError && error.reason === 'conversation_has_run'
      if (!isActive && !dependencies.database.isUniqueViolation(error)) throw error
      const duplicate = await findDuplicate(store, conversation, body)
      if (duplicate !== undefined) return duplicate
      if (isActive) throw error
      const active = await store.runs.findActive(conversation.id)
      // What was in the way has just ended.
      throw active === undefined
        ? appError('store_busy', {}, { retryAfter: 1 })
        : activeRunError(active.id)
    }
  }

  const parts = { store, begin }
  return {
    send: (userId, conversationId, body) => send({ userId, conversationId }, body, parts),
    edit: (userId, conversationId, messageId, body) =>
      edit({ userId, conversationId, messageId }, body, parts),
    regenerate: (userId, conversationId, messageId, body) =>
      regenerate({ userId, conversationId, messageId }, body, parts),
    admit,
    begin,
  }
}

type Parts = Pick<ChatDependencies, 'store'> & Pick<Sending, 'begin'>

async function send(
  { userId, conversationId }: { userId: UserId; conversationId: ConversationId },
  body: From<Partial<SendMessageBody>>,
  { store, begin }: Parts,
): Promise<RunRow> {
  const site = await runSiteOf(store, userId, conversationId, body.client_id)
  if (body.parent_id !== undefined) {
    const parent = await store.messages.get(conversationId, body.parent_id)
    if (parent.role !== 'assistant') throw appError('parent_not_an_answer')
  }
  return await begin(userId, site, body, {
    kind: 'message',
    text: body.text ?? '',
    attachments: body.attachments ?? [],
    place: body.parent_id === undefined ? 'leaf' : { under: body.parent_id },
  })
}

interface Target {
  userId: UserId
  conversationId: ConversationId
  messageId: MessageId
}

async function edit(
  { userId, conversationId, messageId }: Target,
  body: From<EditMessageBody>,
  { store, begin }: Parts,
): Promise<RunRow> {
  const site = await runSiteOf(store, userId, conversationId, body.client_id)
  const message = await store.messages.get(conversationId, messageId)
  if (message.role !== 'user') throw appError('only_own_messages_editable')
  return await begin(userId, site, body, {
    kind: 'message',
    // Read the text again, because `get` omits long texts.
    text: body.text ?? (await store.messages.find(conversationId, messageId))?.text ?? '',
    attachments: body.attachments ?? { of: message.id, stored: message.attachments },
    place: { siblingOf: message.id },
  })
}

async function regenerate(
  { userId, conversationId, messageId }: Target,
  body: From<RegenerateBody>,
  { store, begin }: Parts,
): Promise<RunRow> {
  const site = await runSiteOf(store, userId, conversationId, body.client_id)
  const message = await store.messages.get(conversationId, messageId)
  const userMessageId = message.role === 'user' ? message.id : message.parentId
  if (userMessageId === null) throw appError('answer_without_question')
  const beside = body.beside === true
  return await begin(userId, site, body, { kind: 'answer', to: userMessageId, beside })
}

/** What decides whether a run may start in the conversation. @throws AppError `not_found` for conversations of others, too. */
export async function runSiteOf(
  store: Pick<Store, 'conversations'>,
  userId: UserId,
  id: ConversationId,
  clientId: string | undefined,
): Promise<RunSite> {
  const site = await store.conversations.findRunSite(userId, id, clientId)
  if (site === undefined) throw appError('conversation_not_found')
  return site
}

/** The run that an earlier request with the same `client_id` started. */
const findDuplicate = async (
  store: Pick<Store, 'runs'>,
  { id }: ConversationRow,
  { client_id }: RunBody,
): Promise<RunRow | undefined> =>
  client_id === undefined ? undefined : await store.runs.findByClientId(id, client_id)

/** The row of the run that answers the turn. */
function newRun(
  conversation: ConversationRow,
  {
    userId,
    model,
    body,
    turn,
    skills,
  }: {
    userId: UserId
    model: string
    body: RunBody
    turn: Turn
    skills: Awaited<ReturnType<typeof skillOptions>>
  },
  { settings, instance, now }: Pick<ChatDependencies, 'settings' | 'instance' | 'now'>,
): RunRow & { userMessageId: MessageId } {
  const createdAt = now()
  const limits = { ...skills.limits, ...body.limits }
  // A request may lower what the operator has configured, for all runs or for those with the skill, and never raise it.
  if (body.limits?.minutes !== undefined)
    limits.minutes = Math.min(body.limits.minutes, skills.limits?.minutes ?? settings.runMinutes)
  const options: RunOptions = {
    ...runOptions(body, conversation, settings),
    ...skills,
    ...(Object.keys(limits).length === 0 ? {} : { limits }),
  }
  return {
    ...RUN_DEFAULTS,
    beside: turn.kind === 'answer' && turn.beside,
    id: newId<RunId>(),
    conversationId: conversation.id,
    userId,
    projectId: body.project_id ?? projectOf(conversation),
    messageId: newId<MessageId>(),
    userMessageId:
      turn.kind === 'answer' ? turn.to : turn.kind === 'program' ? turn.lastId : newId<MessageId>(),
    model,
    options,
    clientId: body.client_id ?? null,
    owner: instance,
    createdAt,
    startedAt: createdAt,
  }
}

const NO_FILES: TurnFiles = { attached: [], holdOutsideText: false, discard: async () => {} }

/** An answer has none, and neither have most questions. */
const mayHaveFiles = (turn: Turn): turn is TurnWithFiles =>
  turn.kind === 'program' ||
  (turn.kind === 'message' && ('of' in turn.attachments || turn.attachments.length > 0))

/** The question that the turn brings; '' if it brings none. */
const questionOf = (turn: Turn): string =>
  turn.kind === 'message' ? turn.text : turn.kind === 'program' ? (turn.question?.text ?? '') : ''

/** @throws AppError for a question that is too long. */
function checkQuestion({ length }: string, limit: number): void {
  if (length > limit)
    throw appError(
      'message_too_long',
      { length, limit },
      { details: [{ path: 'text', message: `at most ${limit} characters` }] },
    )
}

/** The bytes of the texts of a turn; its files count when they are stored. */
function bytesOf(turn: Turn): number {
  let bytes = Buffer.byteLength(questionOf(turn))
  for (const message of turn.kind === 'program' ? turn.past : [])
    if (message.role === 'user') bytes += Buffer.byteLength(message.text)
    else for (const { content } of message.steps) bytes += Buffer.byteLength(content)
  return bytes
}

/** The beginning of the first message, in place of a title; null if there is one. */
function firstTitle({ titled, messageCount }: ConversationRow, turn: Turn): string | null {
  if (titled || messageCount > 0 || turn.kind !== 'message') return null
  const title = titleFromMessage(turn.text)
  return title === '' ? null : title
}

/** The body of a request, and options that only programs have. */
type RunBody = Partial<RegenerateBody> &
  Partial<
    Pick<
      RunOptions,
      | 'origin'
      | 'tools'
      | 'clientTools'
      | 'ownFiles'
      | 'searchesWeb'
      | 'retries'
      | 'language'
      | 'format'
      | 'warnings'
      | 'refusesApprovals'
      | 'response'
      | 'settings'
      | 'begunWith'
      | 'limits'
      | 'quiet'
    >
  >

/** The options of a run without its skills. The approval mode of the request must be allowed. */
export function runOptions(
  body: RunBody,
  conversation: Pick<ConversationRow, 'approval' | 'approvalDeadline'>,
  settings: Pick<ChatSettings, 'approvalDefault' | 'unattendedDeadline'>,
): RunOptions {
  const origin = body.origin ?? PAGE_ORIGIN
  return {
    toolsEnabled: body.tools_enabled ?? true,
    ...(body.tool_choice === undefined ? {} : { toolChoice: body.tool_choice }),
    approval: body.approval ?? conversation.approval ?? settings.approvalDefault(),
    ...deadlineOf(
      body.approval_deadline,
      conversation.approvalDeadline ?? (isUnattended(origin) ? settings.unattendedDeadline : null),
    ),
    origin,
    // Nobody listens to an unattended run from its beginning.
    onDisconnect: isUnattended(origin) ? 'continue' : (body.on_disconnect ?? 'grace'),
    ...(body.tools === undefined ? {} : { tools: body.tools }),
    ...(body.clientTools === undefined ? {} : { clientTools: body.clientTools }),
    ...(body.ownFiles === true ? { ownFiles: true } : {}),
    ...(body.searchesWeb === undefined ? {} : { searchesWeb: body.searchesWeb }),
    ...(body.retries === undefined ? {} : { retries: body.retries }),
    ...(body.language === undefined ? {} : { language: body.language }),
    ...(body.format === undefined ? {} : { format: body.format }),
    ...(body.warnings === undefined ? {} : { warnings: body.warnings }),
    ...(body.response === undefined ? {} : { response: body.response }),
    ...(body.settings === undefined ? {} : { settings: body.settings }),
    ...(body.begunWith === undefined ? {} : { begunWith: body.begunWith }),
    ...(body.quiet === true ? { quiet: true } : {}),
    ...(body.refusesApprovals === true ? { refusesApprovals: true } : {}),
  }
}

/** The option of the request, or else of the conversation, or for unattended runs of the server. */
function deadlineOf(
  requested: number | null | undefined,
  ofConversation: number | null,
): Pick<RunOptions, 'approvalDeadline'> {
  const seconds = requested === undefined ? ofConversation : requested
  return seconds === null ? {} : { approvalDeadline: seconds }
}

/**
 * The options of a run with these skills, each name once.
 * @throws AppError `skill_unknown` or `skill_not_active`; `details` has the name, and the state of a skill that exists.
 */
async function skillOptions(
  asked: readonly string[] | undefined,
  { userId, projectId }: { userId: UserId; projectId: ProjectId | null },
  { skills, settings }: Pick<ChatDependencies, 'skills' | 'settings'>,
): Promise<Pick<RunOptions, 'skills' | 'limits'>> {
  const names = [...new Set(asked)]
  if (names.length === 0) return {}
  const active = await requireSkills(skills, { userId, projectId }, names)
  const isResearch = active.some(
    ({ name, source }) => name === RESEARCH && source === 'server' && names.includes(name),
  )
  return { skills: names, ...(isResearch ? { limits: settings.research } : {}) }
}
