// Builds the context of a run: its conversation, its model, the messages so far, what it adds to the prompt, its tools and skills, and
// where to resume.

import { LRUCache } from 'lru-cache'
import type { WindowMarks } from '../agent/context-window.ts'
import {
  answerMessages,
  type BranchMessage,
  type Carries,
  toModelMessages,
} from '../agent/history.ts'
import {
  CONTINUE_NOTE,
  contextNote,
  summaryNote,
  systemPrompt,
  withNote,
} from '../agent/system-prompt.ts'
import { type HistoryMessage, imagesOf } from '../db/repositories/conversations/branch-history.ts'
import type { ConversationRow } from '../db/repositories/conversations/conversations.ts'
import { type StepRow, toStep } from '../db/repositories/conversations/steps.ts'
import type { Store } from '../db/store.ts'
import { appError } from '../errors.ts'
import { oncePer } from '../lib/once-per.ts'
import { createTurns } from '../lib/turns.ts'
import type { LlmClient, LlmMessage, ToolCall } from '../llm/client.ts'
import { APPS_NOTE, OWN_FILES_NOTE } from '../llm/project-note.ts'
import { withImagesNote, withoutResultImages } from '../llm/user-content.ts'
import type { CallId, MessageId, RunId } from '../protocol/ids.ts'
import type { PublicModel } from '../protocol/models/catalog.ts'
import type { Step } from '../protocol/runs/step.ts'
import type { ActiveSkill } from '../skills/skills.ts'
import { offerSkills, USE_SKILL } from '../tools/builtin/agents/use-skill.ts'
import { NOTHING_TO_REPORT } from '../tools/builtin/schedules/nothing-to-report.ts'
import type { ToolDefinition } from '../tools/definition.ts'
import { createToolSet, type ToolSet } from '../tools/registry.ts'
import { appsNote } from './context/apps.ts'
import {
  addDocument,
  type Branch,
  contextWindowOf,
  noteLargeFiles,
  readBranch,
} from './context/branch.ts'
import type { MemorySection } from './dependencies.ts'
import type { PerformedRun, RunFrame } from './performed-run.ts'
import {
  type ClientTool,
  type RunOptions,
  type RunPrompt,
  type RunState,
  readRunState,
} from './state.ts'

const NO_MEMORY: MemorySection = { trusted: '', outside: '' }

/** Everything that an attempt of a run needs to begin, read once. */
export interface RunContext {
  conversation: ConversationRow
  model: PublicModel
  /** Size of the model's context window, in tokens. */
  contextWindow: number
  llm: LlmClient
  options: RunOptions
  /** A snapshot of all tools of the server, taken when this attempt began. */
  allTools: ToolSet
  /** The tools that the run may use. */
  tools: readonly ToolDefinition[]
  /** Tools that the requesting program runs itself. They take precedence over server tools of the same name. */
  clientTools: readonly ClientTool[]
  /** Names of the tools that the model found in the conversation so far, in order. */
  foundTools: readonly string[]
  /** System prompt, earlier turns, and the steps of this answer so far. */
  messages: LlmMessage[]
  /** Names of the skills whose instructions the model still has. */
  loadedSkills: Set<string>
  /** Takes note of these skills. Call it with what each request sends. */
  noteSkills(fitted: readonly LlmMessage[]): void
  /** The last message of each turn in `messages`, oldest first; a summary of dropped turns is stored with it. */
  turnEnds: MessageId[]
  /** What the context window of the branch's previous run shortened or dropped; undefined if there was no such run. */
  marks: WindowMarks | undefined
  /** The text of the user message, or the task of a background run. */
  question: string
  /**
   * Instructions, also of skills that the person has chosen, and the texts of attached files: what nobody but people and
   * their files wrote.
   */
  personTexts: readonly string[]
  /** Whether the messages contain text from outside: results of tools that read it, or facts learned from it. */
  holdsOutsideText: boolean
  resume: ResumePoint
}

/** The point from which an attempt continues. */
export interface ResumePoint {
  /** Index of the next step. */
  nextIndex: number
  /** Calls without a result, in order. */
  pendingCalls: ToolCall[]
  /** For each pending call, the indexes of its step and of its result's step. */
  places: Map<string, { call: number; result: number }>
  /** Pending calls that had begun and are not safe to repeat. */
  interrupted: Set<CallId>
  /** Index of the text step that the model continues; null if it does not continue one. */
  continued: number | null
}

/**
 * Reads what the attempt needs to begin, and sets what the run adds to the prompt. Files that are too large become documents of
 * the project.
 * @param rows the steps of earlier attempts.
 * @throws AppError if the conversation or the model no longer exists.
 */
export async function prepareRunContext(
  performed: RunFrame & Pick<PerformedRun, 'runState'>,
  rows: readonly StepRow[],
): Promise<RunContext> {
  const { run, runState, dependencies } = performed
  const { store, access } = dependencies
  // The user's permissions may have changed since the run was stored.
  const approval = access.approvalMode(run.userId, performed.options.approval)
  const options = { ...performed.options, approval }
  const { model, client: llm } = await dependencies.catalog.resolve(
    run.model,
    access.models(run.userId),
  )
  // A branch may have thousands of messages: each step of what follows takes a turn of its own.
  const turn = createTurns()
  const branch = await readBranch(performed, model)
  await turn()
  const { messages: loaded, summary } = branch
  const question = options.task ?? loaded.at(-1)?.text ?? ''
  const carries = rows.length === 0 ? undefined : await store.steps.carries(run.messageId)
  const setting =
    branch.setting ?? (await store.conversations.findRunSetting(run.userId, run.conversationId))
  if (setting === undefined) throw appError('conversation_gone')
  const callsTools = model.tool_mode !== 'none' && options.toolChoice !== 'none'
  const usesSkills = (callsTools && options.toolsEnabled) || (options.skills ?? []).length > 0
  const [project, skills] = await Promise.all([
    run.projectId === null ? null : dependencies.describeProject(run.userId, run.projectId),
    usesSkills ? dependencies.skills.active(run.userId, run.projectId, setting) : [],
    dependencies.prepareTools(run.userId),
  ])
  const { preferences } = setting
  const conversation = { ...setting.conversation, ...options.settings }
  const offered = skills.filter(({ modelInvocable }) => modelInvocable)
  const loadedNames = new Set<string>()
  const allTools = withSkills(dependencies.registry.snapshot(run.userId), offered)
  const resume = resumePoint(rows, allTools)
  const clientTools = callsTools ? (options.clientTools ?? []) : []
  const { disabledMcpServers } = conversation
  const disabled = [
    ...preferences.disabled_tools,
    ...(project?.disabledTools ?? []),
    ...(disabledMcpServers.length === 0
      ? []
      : dependencies.toolsOfServers(run.userId, disabledMcpServers)),
  ]
  const tools =
    callsTools && options.toolsEnabled
      ? toolsOf(allTools, options, disabled).filter(
          (tool) =>
            !(project?.isReadOnly === true && isOnlyForChanges(tool)) &&
            (run.projectId !== null ||
              mayOwnFiles(options) ||
              !PROJECT_CATEGORIES.has(tool.category)),
        )
      : []
  const hasFiles = tools.some(({ category }) => category === 'file')
  const filesNotes = [
    project?.about ?? (run.projectId === null && hasFiles ? OWN_FILES_NOTE : ''),
    tools.some(({ name }) => name === 'file_write') &&
    dependencies.access.allowsFeature(run.userId, 'apps')
      ? APPS_NOTE
      : '',
  ]
  // A temporary conversation leaves no traces in its project.
  const projectId = conversation.temporary ? null : run.projectId
  const recent = await noteLargeFiles(loaded, tools, (messageId, cut) =>
    addDocument({ messageId, cut }, { userId: run.userId, projectId }, dependencies),
  )
  const runs = earlierRuns(recent)
  const usesMemory = project?.usesMemory !== false
  const memory =
    usesMemory && setting.memory !== ''
      ? await dependencies.memory(setting.memory, question)
      : NO_MEMORY

  const earlier = recent.flatMap(({ runId }) => (runId === null ? [] : (runs.get(runId) ?? [])))
  const prompts = earlier.flatMap(({ state }) => state.prompt ?? [])
  // Results of MCP servers, which alone have apps, are text from outside.
  const apps = conversation.tainted ? await appsNote(store, [...runs.keys()]) : ''
  const prompt = runState.setPrompt(() =>
    nextPrompt(earlier, {
      memory,
      listing: project?.listing ?? '',
      skills: skillNote(options.skills ?? [], skills),
      apps,
      time: dependencies.now(),
    }),
  )
  const system = systemPrompt({
    custom: conversation.systemPrompt,
    instructions: preferences.instructions,
    project: filesNotes.filter((note) => note !== '').join('\n\n'),
    memory: usesMemory ? (prompt.memory ?? memoryOf(earlier) ?? '') : '',
    began: conversation.createdAt,
  })
  await turn()
  const history = historyOf(recent, runs, {
    note: prompt.note,
    task: options.task,
    vision: model.vision,
  })
  await turn()
  const messages: LlmMessage[] = [
    { role: 'system', content: system },
    ...(summary === undefined ? history : withNote(history, 0, summaryNote(summary))),
    ...(rows.length === 0 ? [] : currentTurn(rows, resume, { carries, vision: model.vision })),
  ]
  return {
    conversation,
    model,
    contextWindow: contextWindowOf(model),
    llm,
    options,
    allTools,
    tools,
    clientTools,
    foundTools: namesOfFound([...earlier.map(({ state }) => state), runState.current]),
    messages,
    loadedSkills: loadedNames,
    noteSkills(fitted) {
      loadedNames.clear()
      for (const name of loadedSkills(offered, fitted)) loadedNames.add(name)
    },
    turnEnds: endsOfTurns(recent),
    marks: earlier.at(-1)?.state.window,
    question,
    personTexts: [
      system,
      ...recent.flatMap(textsOfFiles),
      ...skills.flatMap(({ name, body }) => (options.skills?.includes(name) ? [body] : [])),
    ],
    holdsOutsideText: holdsOutsideText([prompt, ...prompts], recent, rows),
    resume,
  }
}

/**
 * The turns before this answer as model messages, including the question or task. Each question keeps the notes that were
 * added to it: earlier messages never change, so that providers can cache them.
 */
function historyOf(
  recent: Branch['messages'],
  runs: ReturnType<typeof earlierRuns>,
  {
    note: newest,
    task,
    vision,
  }: { note: string | undefined; task: string | undefined; vision: boolean },
): LlmMessage[] {
  const messages = recent.flatMap((message, at) => {
    const answered = recent[at + 1]?.runId ?? null
    const isNewest = at === recent.length - 1 && task === undefined
    const own = answered === null ? undefined : runs.get(answered)?.state.prompt?.note
    const note = isNewest ? newest : own
    const found = modelMessages(message)
    return message.role === 'user' && note !== undefined ? withNote(found, 0, note) : found
  })
  const history = withoutImages(messages, vision)
  return task === undefined
    ? history
    : [...history, { role: 'user', content: task, ...contextOf(newest) }]
}

/** A message that comes as the same object in every run becomes the same objects for the model. */
const modelMessages = oncePer((message: BranchMessage) => toModelMessages([message]))

const textsOfFiles = ({ role, attachments }: BranchMessage): string[] =>
  role === 'user' ? attachments.flatMap((file) => ('content' in file ? [file.content] : [])) : []

const contextOf = (note: string | undefined) => (note === undefined ? {} : { context: note })

/** Each name once, in the order in which the tools were found. */
const namesOfFound = (states: readonly Readonly<RunState>[]): string[] => [
  ...new Set(states.flatMap(({ foundTools = [] }) => foundTools)),
]

/** Whether what the run begins with contains text from outside. */
const holdsOutsideText = (
  prompts: readonly RunPrompt[],
  messages: Branch['messages'],
  rows: readonly StepRow[],
): boolean =>
  prompts.some(({ outside }) => outside) ||
  messages.some((message) => message.holdsOutsideText) ||
  rows.map(toStep).some(isFromOutside)

const isFromOutside = (step: Step): boolean =>
  step.type === 'tool_result' && step.artifact?.untrusted === true

/** The model messages for the steps that an earlier attempt completed. */
function currentTurn(
  rows: readonly StepRow[],
  resume: ResumePoint,
  { carries, vision }: { carries: Carries | undefined; vision: boolean },
): LlmMessage[] {
  const done = rows.filter((row) => row.position < resume.nextIndex)
  const kept = done.map(toStep)
  const images = imagesOf(done)
  const messages = withoutImages(
    answerMessages(kept, '', { current: true, carries, images }),
    vision,
  )
  if (resume.continued !== null) messages.push({ role: 'user', content: CONTINUE_NOTE })
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
    : messages.map((message) =>
        message.role === 'user' || message.role === 'tool' ? withoutImagesOf(message) : message,
      )

function withoutImagesOf(message: Extract<LlmMessage, { role: 'user' | 'tool' }>): LlmMessage {
  const { images, ...rest } = message
  if (images === undefined) return message
  const content =
    rest.role === 'user'
      ? withImagesNote(rest.content, images.length)
      : withoutResultImages(rest.content, images.length, 'this model does not accept images')
  return { ...rest, content }
}

/** Whether the tool can only fail for somebody who may read the project, but not change it. */
const isOnlyForChanges = ({ changesProject, category }: ToolDefinition): boolean =>
  changesProject && (category === 'file' || category === 'shell')

/** Tools of these categories can only fail in a conversation without files. */
const PROJECT_CATEGORIES: ReadonlySet<string> = new Set(['file', 'knowledge'])

/**
 * Whether a conversation without a project gets files of its own. Programs ask for them: they pay for the tools in each of
 * their requests, and most have files of their own.
 */
export const mayOwnFiles = ({ clientTools, ownFiles }: RunOptions): boolean =>
  clientTools === undefined || ownFiles === true

/**
 * The server's tools that the run's options leave, in a fixed order that does not depend on MCP servers, so that the same tools
 * produce the same bytes.
 * @param disabled names of tools that the user, the project or the conversation has switched off.
 */
function toolsOf(all: ToolSet, options: RunOptions, disabled: readonly string[]): ToolDefinition[] {
  const only = options.tools === undefined ? null : new Set(options.tools)
  /** A run that may end without a word can do so whatever else it is limited to. */
  const isOffered = (name: string): boolean =>
    name === NOTHING_TO_REPORT ? options.quiet === true : (only?.has(name) ?? true)
  const taken = new Set([...disabled, ...(options.clientTools?.map(({ name }) => name) ?? [])])
  return all
    .list()
    .filter(({ name }) => isOffered(name) && !taken.has(name))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
}

/**
 * Finds the last completed step and the work that remains after it. The model continues a text at the end; one that
 * was not finished because the process died, it writes again. Calls without a result run, or run again if that is safe.
 */
export function resumePoint(rows: readonly StepRow[], tools: Pick<ToolSet, 'get'>): ResumePoint {
  const closed = rows.filter((row) => row.closed)
  const answered = new Set(closed.flatMap((row) => (row.type === 'tool_result' ? [row.idRef] : [])))
  // Calls of apps may follow what the model has written.
  const own = closed.filter(({ origin }) => origin === null)
  const calls = lastBatch(own)
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
  return { nextIndex, pendingCalls, places, interrupted, continued: lastText(own) }
}

/** The text that the answer ends with, whatever the model thought after it; null if it ends with something else. */
function lastText(closed: readonly StepRow[]): number | null {
  const last = closed.findLast(({ type }) => type !== 'thinking')
  return last?.type === 'text' && last.content !== '' ? last.position : null
}

/** The calls of the last iteration, if the answer ends with calls or their results. */
function lastBatch(closed: readonly StepRow[]): StepRow[] {
  const end = closed.findLastIndex((row) => row.type !== 'tool_result')
  if (closed[end]?.type !== 'tool_call') return []
  let start = end
  while (closed[start - 1]?.type === 'tool_call') start -= 1
  return closed.slice(start, end + 1)
}

/**
 * Passes earlier results and open approval previews to the `recall` of their tools.
 * @param steps the steps of the answer so far.
 */
export async function recallEarlierResults(
  runId: RunId,
  steps: readonly Step[],
  store: Pick<Store, 'runs'>,
  tools: ToolSet,
): Promise<void> {
  const answered = new Set<string>()
  for (const step of steps) {
    if (step.type !== 'tool_result') continue
    answered.add(step.id_ref)
    if (step.artifact !== undefined) tools.get(step.name)?.recall?.(step.artifact, runId)
  }
  for (const { idRef, name, preview } of await store.runs.approvals(runId))
    if (!answered.has(idRef) && preview !== null) tools.get(name)?.recall?.(preview, runId)
}

// What a run adds to the prompt of its conversation, so that its requests begin with the same bytes as earlier ones.

/** After this much silence, no provider still caches the conversation. */
const COLD_MS = 30 * 60 * 1_000

/** A run that wrote an answer of the branch. */
export interface EarlierRun {
  state: Readonly<RunState>
  endedAt: Date | null
}

type Answer = Pick<HistoryMessage, 'runId' | 'runState' | 'runEndedAt'>

const runOf = oncePer(
  ({ runState, runEndedAt }: Answer): EarlierRun => ({
    state: readRunState(runState),
    endedAt: runEndedAt,
  }),
)

/** The runs of the branch's answers, by id. */
const earlierRuns = (branch: readonly Answer[]): ReadonlyMap<RunId, EarlierRun> =>
  new Map(
    branch.flatMap((message): [RunId, EarlierRun][] =>
      message.runId === null ? [] : [[message.runId, runOf(message)]],
    ),
  )

/** The memory in the system prompt, as the run that last read it stored it; undefined if none did. */
const memoryOf = (earlier: readonly EarlierRun[]): string | undefined =>
  earlier.findLast(({ state }) => state.prompt?.memory !== undefined)?.state.prompt?.memory

/**
 * What a new run adds. The memory in the system prompt stays unchanged; new facts go before the question. The memory is
 * read again at the beginning of a conversation, after the turn that read it was replaced by a summary, and after half an
 * hour of silence.
 * @param earlier the runs of the branch, oldest first.
 * @param now what there is to add. `apps`: what apps of MCP servers say about their state. `skills`: the instructions that the message asks for; they stand right before it.
 */
export function nextPrompt(
  earlier: readonly EarlierRun[],
  now: { memory: MemorySection; listing: string; skills?: string; apps?: string; time: Date },
): RunPrompt {
  const before = earlier.flatMap(({ state }) => state.prompt ?? [])
  const known = memoryOf(earlier)
  const lastEnd = earlier.at(-1)?.endedAt ?? null
  const isCold = lastEnd === null || now.time.getTime() - lastEnd.getTime() > COLD_MS
  const isReadAnew = known === undefined || isCold
  const notes = before.map(({ note }) => note ?? '').join('\n')
  const news = isReadAnew ? [] : linesBeyond(now.memory.trusted, `${known}\n${notes}`)
  const [heading = '', ...facts] = now.memory.outside.split('\n')
  const outside = linesBeyond(facts.join('\n'), notes)
  const lastListing = before.findLast(({ listing }) => listing !== undefined)?.listing ?? ''
  const hasNewListing = now.listing !== lastListing
  const { apps = '' } = now
  const hasNewApps = apps !== (before.findLast((one) => one.apps !== undefined)?.apps ?? '')
  const note = [
    news.length === 0 ? '' : `Also known about the user:\n${news.join('\n')}`,
    contextNote([
      hasNewListing ? now.listing : '',
      outside.length === 0 ? '' : [heading, ...outside].join('\n'),
      hasNewApps ? apps : '',
    ]) ?? '',
    now.skills ?? '',
  ]
    .filter((part) => part !== '')
    .join('\n\n')
  return {
    ...(isReadAnew ? { memory: now.memory.trusted } : {}),
    ...(hasNewListing ? { listing: now.listing } : {}),
    ...(note === '' ? {} : { note }),
    ...(hasNewApps ? { apps } : {}),
    outside: outside.length > 0 || (hasNewApps && apps !== ''),
  }
}

/** The lines of `text` that are not in `seen`. */
function linesBeyond(text: string, seen: string): string[] {
  const lines = new Set(seen.split('\n'))
  return text.split('\n').filter((line) => line.trim() !== '' && !lines.has(line))
}

// The skills that a run offers its model, and which of them the model has read already.

/** The tools, with `use_skill` for these skills; without it if there are none, so that nobody pays for it. */
function withSkills(all: ToolSet, skills: readonly ActiveSkill[]): ToolSet {
  const tool = all.get(USE_SKILL)
  if (tool === undefined) return all
  const known = knownSets(all)
  const key = JSON.stringify(skills.map(({ name, description }) => [name, description]))
  const found = known.get(key)
  if (found !== undefined) return found
  const others = all.list().filter(({ name }) => name !== USE_SKILL)
  const set = createToolSet(skills.length === 0 ? others : [...others, offerSkills(tool, skills)])
  known.set(key, set)
  return set
}

/** By the names and descriptions of the skills: most runs offer what another one has offered. */
const knownSets = oncePer((_all: ToolSet) => new LRUCache<string, ToolSet>({ max: 20 }))

/** Names of the skills whose current instructions are among the messages. */
export function loadedSkills(
  skills: readonly ActiveSkill[],
  messages: readonly LlmMessage[],
): string[] {
  const results = messages.flatMap((message) =>
    message.role === 'tool' && message.name === USE_SKILL ? [message.content] : [],
  )
  if (results.length === 0) return []
  return skills
    .filter(({ name, body }) => {
      // Without the name there is no need to write and compare long instructions.
      const named = results.filter((content) => content.includes(`"name":"${name}"`))
      if (named.length === 0) return false
      const part = JSON.stringify({ name, instructions: body }).slice(0, -1)
      return named.some((content) => content.includes(part))
    })
    .map(({ name }) => name)
}

/** '' without skills. A skill that can no longer be used since the run was created is left out. */
const skillNote = (
  names: readonly string[],
  active: readonly Pick<ActiveSkill, 'name' | 'body'>[],
): string =>
  names
    .flatMap((name) => active.find((skill) => skill.name === name) ?? [])
    .map(
      ({ name, body }) =>
        `The user has chosen the skill "${name}" for this message. Follow its instructions:\n\n${body}`,
    )
    .join('\n\n')
