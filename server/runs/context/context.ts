// Builds the context of a run: its conversation, its model, the messages so far, its tools, and where to resume.

import type { WindowMarks } from '../../agent/context-window.ts'
import { answerMessages, type Carries, toModelMessages } from '../../agent/history.ts'
import { CONTINUE_NOTE, summaryNote, systemPrompt, withNote } from '../../agent/system-prompt.ts'
import type { ConversationRow } from '../../db/repositories/conversations/conversations.ts'
import { type StepRow, toStep } from '../../db/repositories/conversations/steps.ts'
import type { RunSetting } from '../../db/repositories/runs/run-setting.ts'
import type { RunRow } from '../../db/repositories/runs/runs.ts'
import { appError } from '../../errors.ts'
import type { LlmClient, LlmMessage, ToolCall } from '../../llm/client.ts'
import { withImagesNote } from '../../llm/omitted-images.ts'
import type { CallId, MessageId } from '../../protocol/ids.ts'
import type { PublicModel } from '../../protocol/models/catalog.ts'
import type { Step } from '../../protocol/runs/step.ts'
import type { ToolDefinition } from '../../tools/definition.ts'
import type { ToolSet } from '../../tools/registry.ts'
import type { ChatDependencies, MemorySection } from '../dependencies.ts'
import { type ClientTool, type RunOptions, type RunState, readRunOptions } from '../state.ts'
import { type Branch, loadBranch, type ReadPage } from './branch.ts'
import { withRests } from './large-files.ts'
import { earlierRuns, memoryOf, nextPrompt } from './prompt.ts'

/** Tokens; used for models whose context window is unknown. */
export const DEFAULT_CONTEXT_WINDOW = 128_000

const NO_MEMORY: MemorySection = { trusted: '', outside: '' }

export interface RunContext {
  conversation: ConversationRow
  model: PublicModel
  llm: LlmClient
  options: RunOptions
  /** A snapshot of all tools of the server, taken when this attempt began. */
  allTools: ToolSet
  /** The tools that the run may use. */
  tools: readonly ToolDefinition[]
  /** Tools that the program behind the request runs itself; they take precedence over tools of the same name. */
  clientTools: readonly ClientTool[]
  /** System prompt, earlier turns, and the steps of this answer so far. */
  messages: LlmMessage[]
  /** The last message of each turn in `messages`, oldest first; a summary of dropped turns is stored with it. */
  turnEnds: MessageId[]
  /** What the window of the previous run of the branch made of it. */
  marks: WindowMarks | undefined
  /** The text of the user message, or the task of a background run. */
  question: string
  /** The messages contain text from outside: results of tools that read it, or facts learned from it. */
  holdsOutsideText: boolean
  resume: ResumePoint
}

/** Where an attempt continues. */
export interface ResumePoint {
  /** Index of the next step. */
  nextIndex: number
  /** Calls without a result, in order. */
  pendingCalls: ToolCall[]
  /** For each pending call, the indexes of its step and of its result's step. */
  places: Map<string, { call: number; result: number }>
  /** Pending calls that had begun and are not safe to repeat. */
  interrupted: Set<CallId>
}

/**
 * Sets in `state` what the run adds to the prompt, unless an earlier attempt did.
 * @throws AppError when the conversation or the model no longer exists.
 */
export async function createRunContext(
  run: RunRow,
  state: RunState,
  rows: readonly StepRow[],
  dependencies: ChatDependencies,
): Promise<RunContext> {
  const { store, access } = dependencies
  const stored = readRunOptions(run.options)
  // What the user may use can have changed since the run was stored.
  const options = { ...stored, approval: access.approvalMode(run.userId, stored.approval) }
  const { model, client: llm } = await dependencies.catalog.resolve(
    run.model,
    access.models(run.userId),
  )
  const windowTokens = model.context_window ?? DEFAULT_CONTEXT_WINDOW
  let setting: RunSetting | undefined
  // The conversation is read after its newest messages, so that its taint is at least as recent as they are.
  const readPage: ReadPage = (from, page) =>
    setting === undefined
      ? dependencies.database.readInOrder(async (read) => {
          const [messages, found] = await Promise.all([
            store.messages.history(run.conversationId, from, page, read),
            store.conversations.findRunSetting(run.userId, run.conversationId, read),
          ])
          setting = found
          return messages
        })
      : store.messages.history(run.conversationId, from, page)
  const { messages: loaded, summary }: Branch =
    run.userMessageId === null
      ? { messages: [], summary: undefined }
      : await loadBranch(store, readPage, run.userMessageId, {
          windowTokens,
          vision: model.vision,
          pdf: model.pdf,
          readFile: dependencies.files.read,
        })
  const question = options.task ?? loaded.at(-1)?.text ?? ''
  const carries = rows.length === 0 ? undefined : await store.steps.carries(run.messageId)
  const [project] = await Promise.all([
    run.projectId === null ? null : dependencies.describeProject(run.userId, run.projectId),
    dependencies.prepareTools(run.userId),
  ])
  setting ??= await store.conversations.findRunSetting(run.userId, run.conversationId)
  if (setting === undefined) throw appError('conversation_gone')
  const { conversation, preferences } = setting
  const allTools = dependencies.registry.snapshot(run.userId)
  const resume = resumePoint(rows, allTools)
  const clientTools =
    model.tool_mode === 'none' || options.toolChoice === 'none' ? [] : (options.clientTools ?? [])
  const disabled = new Set([...preferences.disabled_tools, ...(project?.disabledTools ?? [])])
  const tools = toolsOf(conversation, model, options, allTools, dependencies).filter(
    ({ name }) => !disabled.has(name),
  )
  // A temporary conversation leaves nothing behind.
  const projectId = conversation.temporary ? null : run.projectId
  const recent = await withRests(loaded, { userId: run.userId, projectId, tools }, dependencies)
  const runs = earlierRuns(recent)
  const usesMemory = project?.usesMemory !== false
  const memory = usesMemory ? await dependencies.memory(setting.memory, question) : NO_MEMORY

  const earlier = recent.flatMap(({ runId }) => (runId === null ? [] : (runs.get(runId) ?? [])))
  state.prompt ??= nextPrompt(earlier, {
    memory,
    listing: project?.listing ?? '',
    time: dependencies.now(),
  })
  const system = systemPrompt({
    custom: conversation.systemPrompt,
    instructions: preferences.instructions,
    project: project?.about ?? null,
    memory: usesMemory ? (state.prompt.memory ?? memoryOf(earlier) ?? '') : '',
    began: conversation.createdAt,
  })
  // Each question keeps what was added to it: earlier messages stay the same, so that providers can cache them.
  const noted = recent.map((message, at) => {
    const answered = recent[at + 1]?.runId ?? null
    const isNewest = at === recent.length - 1 && options.task === undefined
    const own = answered === null ? undefined : runs.get(answered)?.state.prompt?.note
    return { message, note: isNewest ? state.prompt?.note : own }
  })
  let history = withoutImages(
    noted.flatMap(({ message, note }) => {
      const found = toModelMessages([message])
      return message.role === 'user' && note !== undefined ? withNote(found, 0, note) : found
    }),
    model.vision,
  )
  if (options.task !== undefined)
    history.push({ role: 'user', content: options.task, ...contextOf(state.prompt.note) })
  if (summary !== undefined) history = withNote(history, 0, summaryNote(summary))
  const messages: LlmMessage[] = [
    { role: 'system', content: system },
    ...history,
    ...currentTurn(rows, resume, carries),
  ]
  return {
    conversation,
    model,
    llm,
    options,
    allTools,
    tools,
    clientTools,
    messages,
    turnEnds: endsOfTurns(recent),
    marks: earlier.at(-1)?.state.window,
    question,
    holdsOutsideText:
      state.prompt.outside ||
      earlier.some((one) => one.state.prompt?.outside === true) ||
      [...rows.map(toStep), ...recent.flatMap(({ steps }) => steps)].some(isFromOutside),
    resume,
  }
}

const contextOf = (note: string | undefined) => (note === undefined ? {} : { context: note })

const isFromOutside = (step: Step): boolean =>
  step.type === 'tool_result' && step.artifact?.untrusted === true

/** The model messages for the steps that an earlier attempt completed. */
function currentTurn(
  rows: readonly StepRow[],
  resume: ResumePoint,
  carries: Carries | undefined,
): LlmMessage[] {
  const kept = rows.filter((row) => row.position < resume.nextIndex).map(toStep)
  const messages = answerMessages(kept, '', { current: true, carries })
  const last = kept.at(-1)
  if (last?.type === 'text') messages.push({ role: 'user', content: CONTINUE_NOTE })
  return messages
}

function endsOfTurns(branch: readonly { id: MessageId; role: string }[]): MessageId[] {
  const ends: MessageId[] = []
  for (const [at, message] of branch.entries())
    if (branch[at + 1]?.role === 'user') ends.push(message.id)
  return ends
}

const withoutImages = (messages: LlmMessage[], vision: boolean): LlmMessage[] =>
  vision
    ? messages
    : messages.map((message) => (message.role === 'user' ? withoutImagesOf(message) : message))

function withoutImagesOf(message: Extract<LlmMessage, { role: 'user' }>): LlmMessage {
  const { images, ...rest } = message
  return images === undefined
    ? message
    : { ...rest, content: withImagesNote(rest.content, images.length) }
}

function toolsOf(
  conversation: ConversationRow,
  model: PublicModel,
  options: RunOptions,
  allTools: ToolSet,
  { isToolAllowed }: ChatDependencies,
): ToolDefinition[] {
  if (!options.toolsEnabled || model.tool_mode === 'none' || options.toolChoice === 'none')
    return []
  const only = options.tools === undefined ? null : new Set(options.tools)
  const taken = new Set(options.clientTools?.map(({ name }) => name))
  return (
    allTools
      .list()
      .filter(
        (tool) =>
          isToolAllowed(tool, conversation) &&
          (only?.has(tool.name) ?? true) &&
          !taken.has(tool.name),
      )
      // In an order that no server decides, so that the same tools are the same bytes.
      .toSorted((one, other) => (one.name < other.name ? -1 : 1))
  )
}

/**
 * Finds the last completed step and the work that remains after it. The model writes an unfinished text again; calls
 * without a result are run, or run again where that is safe.
 */
export function resumePoint(rows: readonly StepRow[], tools: Pick<ToolSet, 'get'>): ResumePoint {
  const closed = rows.filter((row) => row.closed)
  const answered = new Set(closed.flatMap((row) => (row.type === 'tool_result' ? [row.idRef] : [])))
  const calls = lastBatch(closed)
  const places = new Map<string, { call: number; result: number }>()
  const pendingCalls: ToolCall[] = []
  const interrupted = new Set<CallId>()
  const lastCall = calls.at(-1)
  for (const [at, row] of calls.entries()) {
    const step = toStep(row)
    if (step.type !== 'tool_call' || lastCall === undefined || answered.has(step.id_ref)) continue
    places.set(step.id_ref, { call: row.position, result: lastCall.position + 1 + at })
    pendingCalls.push({ id: step.id_ref, name: step.name, arguments: step.arguments })
    const isRepeatable = tools.get(step.name)?.repeatable ?? false
    if (row.startedAt !== null && !isRepeatable) interrupted.add(step.id_ref)
  }
  const end = (closed.at(-1)?.position ?? -1) + 1
  const nextIndex =
    lastCall === undefined ? end : Math.max(end, lastCall.position + 1 + calls.length)
  return { nextIndex, pendingCalls, places, interrupted }
}

/** The calls of the last iteration, if the answer ends with calls or their results. */
function lastBatch(closed: readonly StepRow[]): StepRow[] {
  const end = closed.findLastIndex((row) => row.type !== 'tool_result')
  if (closed[end]?.type !== 'tool_call') return []
  let start = end
  while (closed[start - 1]?.type === 'tool_call') start -= 1
  return closed.slice(start, end + 1)
}
