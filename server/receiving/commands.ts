// What a person asks of the bot itself, such as `/new` or `/stop`: does it, and says so once.
import type { ChatPlace, IncomingRow } from '../db/repositories/deliveries/receiving.ts'
import type { RunRow } from '../db/repositories/runs/runs.ts'
import { AppError } from '../errors.ts'
import { filled } from '../lib/locale-texts.ts'
import type { RunId, UserId } from '../protocol/ids.ts'
import { type DecideDependencies, onlyCard, press, pressedOf } from './cards.ts'
import { ChatChoice, contentOf, type PartContent } from './content.ts'
import type { MessageLinks } from './links.ts'
import { addNotice, addPart } from './parts.ts'
import { isOpenTo } from './permission.ts'
import { answerQuestion, type QuestionDependencies, rejectQuestion } from './questions.ts'
import { type TurnDependencies, textsOf } from './turns.ts'

const COMMANDS = [
  'new',
  'stop',
  'status',
  'project',
  'model',
  'undo',
  'approve',
  'reject',
  'help',
] as const
type Command = (typeof COMMANDS)[number]

const MAX_NAMES = 20
/** After this time, a command whose server has ended is obeyed again. */
const CLAIM_MS = 5 * 60_000

/** The command of a text and what follows it; null for any other text. Telegram adds `@` and the bot in groups. */
function parseCommand(text: string): { command: Command; rest: string } | null {
  const found = /^\/([a-z]+)(?:@\w+)?(?:\s+([\s\S]*))?$/.exec(text.trim())
  const command = COMMANDS.find((name) => name === found?.[1])
  return command === undefined ? null : { command, rest: found?.[2]?.trim() ?? '' }
}

/** Whether a text is one of the commands. */
export const isCommand = (text: string): boolean => parseCommand(text) !== null

/** What commands need. */
export interface CommandDependencies
  extends TurnDependencies,
    DecideDependencies,
    QuestionDependencies,
    Pick<MessageLinks, 'conversationUrl'> {
  /** The models that the user may choose. */
  models(userId: UserId): Promise<{ id: string }[]>
}

/** Does what a command or button asks for, once among all instances, and marks it as done, with what is said about it. */
export async function obey(
  place: ChatPlace,
  row: IncomingRow,
  open: readonly IncomingRow[],
  dependencies: CommandDependencies,
): Promise<void> {
  const { database, store, now } = dependencies
  if (!(await claim(row, dependencies))) return
  const pressed = pressedOf(row)
  const content = contentOf(row)
  let said: string | null
  try {
    if (!(await isOfAllowed(place, row, dependencies))) said = null
    else if (content?.answers !== undefined)
      said = await answerQuestion(place, row, content, dependencies)
    else if (pressed !== null) said = await press(place, row, pressed, dependencies)
    else said = await perform(place, row, open, dependencies)
  } catch (error) {
    await database.write(async (tx) => {
      await store.receiving.changeIncoming(tx, [row.position], ['running'], { state: 'waiting' })
    })
    throw error
  }
  await database.write(async (tx) => {
    const ended = await store.receiving.changeIncoming(tx, [row.position], ['running'], {
      state: 'done',
      content: null,
    })
    if (ended.length > 0 && said !== null)
      await addNotice(tx, place.chat.id, said, { store, at: now() })
  })
  dependencies.wakeOutbox()
}

/** Claims a command for this instance; false if another has it. */
const claim = (
  { position }: IncomingRow,
  { database, store, now }: CommandDependencies,
): Promise<boolean> =>
  database.write(async (tx) => {
    await tx.lock(`command ${position}`)
    const at = now()
    const row = await store.receiving.incoming(position, tx)
    const isLeft =
      row?.state === 'running' && at.getTime() - (row.startedAt ?? at).getTime() >= CLAIM_MS
    if (row?.state !== 'waiting' && !isLeft) return false
    await store.receiving.changeIncoming(tx, [position], ['waiting', 'running'], {
      state: 'running',
      startedAt: at,
    })
    return true
  })

/** Whether the sender of a command may still write, as the person of the chat. */
async function isOfAllowed(
  { chat, channel, isActive }: ChatPlace,
  { senderId }: IncomingRow,
  { store }: CommandDependencies,
): Promise<boolean> {
  if (senderId === null || !isActive || channel.receive === null) return false
  const sender = await store.receiving.findSender(channel.id, senderId)
  if (sender?.state !== 'allowed' || sender.userId !== chat.userId) return false
  return await isOpenTo(channel, chat.userId, store)
}

async function perform(
  place: ChatPlace,
  row: IncomingRow,
  open: readonly IncomingRow[],
  dependencies: CommandDependencies,
): Promise<string | null> {
  const content = contentOf(row)
  const texts = textsOf(content)
  const parsed = parseCommand(content?.text ?? '')
  if (parsed === null) return null
  const active = open.find(({ runId }) => runId !== null)?.runId ?? null
  const { rest } = parsed
  switch (parsed.command) {
    case 'help':
      return texts.help
    case 'new':
      await beginAnother(place, row, open, {}, dependencies)
      return texts.newStarted
    case 'stop':
      return await stop(place, row, open, active, dependencies)
    case 'status':
      return await status(place, open, active, dependencies)
    case 'project':
      return await chooseProject(place, row, open, rest, dependencies)
    case 'model':
      return await chooseModel(place, row, open, rest, dependencies)
    case 'undo':
      return await askUndo(place, row, dependencies)
    case 'approve':
    case 'reject': {
      if (active === null) return texts.nothingWaits
      if (parsed.command === 'reject') {
        const { isOne, said } = await rejectQuestion(place, row, active, dependencies)
        if (isOne) return said
      }
      const { part, waiting } = await onlyCard(place, active, dependencies)
      if (part === null) return waiting > 1 ? texts.severalWait : texts.nothingWaits
      return await press(place, row, { part, choice: parsed.command }, dependencies)
    }
  }
}

/** The next message begins a new conversation; what was written before still belongs to the present one. */
async function beginAnother(
  { chat }: ChatPlace,
  row: IncomingRow,
  open: readonly IncomingRow[],
  choice: ChatChoice,
  { database, store }: CommandDependencies,
): Promise<void> {
  const waiting = open.filter(
    ({ kind, state, conversationId, position }) =>
      kind === 'message' &&
      state === 'waiting' &&
      conversationId === null &&
      position < row.position,
  )
  await database.write(async (tx) => {
    await tx.lock(`chat ${chat.id}`)
    if (chat.conversationId !== null)
      await store.receiving.changeIncoming(
        tx,
        waiting.map(({ position }) => position),
        ['waiting'],
        { conversationId: chat.conversationId },
      )
    await store.receiving.changeChat(tx, chat.id, {
      conversationId: null,
      choice: { ...ChatChoice.parse(chat.choice ?? {}), ...choice },
    })
  })
}

async function stop(
  { chat }: ChatPlace,
  row: IncomingRow,
  open: readonly IncomingRow[],
  active: RunId | null,
  { database, store, stop: stopRun }: CommandDependencies,
): Promise<string | null> {
  // Also what has not become a run yet.
  const waiting = open.filter(
    ({ kind, state, position }) =>
      kind === 'message' && state !== 'running' && position < row.position,
  )
  const dropped = await database.write((tx) =>
    store.receiving.changeIncoming(
      tx,
      waiting.map(({ position }) => position),
      ['waiting', 'starting'],
      { state: 'dropped', content: null },
    ),
  )
  // The end of the run says that it was stopped.
  if (active !== null) {
    await stopRun(chat.userId, active)
    return null
  }
  const texts = textsOf(contentOf(row))
  return dropped.length > 0 ? texts.stopped : texts.nothingRuns
}

async function status(
  { chat }: ChatPlace,
  open: readonly IncomingRow[],
  active: RunId | null,
  { store }: CommandDependencies,
): Promise<string> {
  const texts = textsOf(null)
  const run: RunRow | undefined = active === null ? undefined : await store.runs.find(active)
  const conversation =
    chat.conversationId === null
      ? undefined
      : await store.conversations.find(chat.userId, chat.conversationId)
  const waits = run?.status === 'awaiting_approval' || run?.status === 'awaiting_input'
  const state =
    run === undefined || run.endedAt !== null
      ? texts.nothingRuns
      : waits
        ? texts.waits
        : texts.working
  const waiting = open.filter(({ kind, state: one }) => kind === 'message' && one === 'waiting')
  return [
    state,
    ...(waiting.length === 0 ? [] : [filled(texts.queued, { messages: waiting.length })]),
    ...(conversation === undefined ? [] : [`“${conversation.title}”`]),
  ].join('\n')
}

async function chooseProject(
  place: ChatPlace,
  row: IncomingRow,
  open: readonly IncomingRow[],
  wanted: string,
  dependencies: CommandDependencies,
): Promise<string> {
  const texts = textsOf(contentOf(row))
  const projects = await dependencies.store.projects.names(place.chat.userId)
  const folded = wanted.toLowerCase()
  const byPrefix = projects.filter(({ name }) => name.toLowerCase().startsWith(folded))
  const found =
    projects.find(({ name }) => name === wanted) ??
    (byPrefix.length === 1 ? byPrefix[0] : undefined)
  if (found === undefined || wanted === '') {
    if (projects.length === 0) return texts.projectNone
    const sorted = projects.map(({ name }) => name).toSorted()
    const names = sorted.slice(0, MAX_NAMES).join(', ')
    return wanted === ''
      ? filled(texts.projectList, { names })
      : filled(texts.projectUnknown, { name: wanted, names })
  }
  await beginAnother(place, row, open, { projectId: found.id }, dependencies)
  return filled(texts.projectSet, { name: found.name })
}

async function chooseModel(
  place: ChatPlace,
  row: IncomingRow,
  open: readonly IncomingRow[],
  wanted: string,
  dependencies: CommandDependencies,
): Promise<string> {
  const { database, store } = dependencies
  const { chat } = place
  const texts = textsOf(contentOf(row))
  const models = (await dependencies.models(chat.userId)).map(({ id }) => id)
  if (!models.includes(wanted)) {
    const names = models.slice(0, MAX_NAMES).join(', ')
    return wanted === ''
      ? filled(texts.modelList, { names })
      : filled(texts.modelUnknown, { name: wanted, names })
  }
  if (chat.conversationId === null)
    await beginAnother(place, row, open, { model: wanted }, dependencies)
  else
    try {
      await store.conversations.patch(chat.userId, chat.conversationId, { model: wanted })
      dependencies.announce(chat.userId, {
        type: 'conversation',
        id: chat.conversationId,
        change: 'updated',
      })
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      // It is in the trash, so the next message begins another one.
      await beginAnother(place, row, open, { model: wanted }, dependencies)
    }
  await database.write(async (tx) => {
    await store.receiving.changeChat(tx, chat.id, {
      choice: { ...ChatChoice.parse(chat.choice ?? {}), model: wanted },
    })
  })
  return filled(texts.modelSet, { name: wanted })
}

/** Asks whether the files are restored to before the person's last message. */
async function askUndo(
  { chat, channel }: ChatPlace,
  row: IncomingRow,
  dependencies: CommandDependencies,
): Promise<string | null> {
  const { database, store, now } = dependencies
  const texts = textsOf(contentOf(row))
  const conversation =
    chat.conversationId === null
      ? undefined
      : await store.conversations.find(chat.userId, chat.conversationId)
  // Without a project, the files of the conversation itself.
  const projectId = conversation?.projectId ?? conversation?.scratchProjectId ?? null
  if (conversation?.leafId == null || projectId === null) return texts.undoNothing
  const last = await store.messages.find(conversation.id, conversation.leafId)
  const messageId = last?.role === 'assistant' ? last.parentId : (last?.id ?? null)
  if (messageId === null) return texts.undoNothing
  if (dependencies.messengerOf(channel.type)?.hasButtons === false)
    return filled(texts.openPage, { url: dependencies.conversationUrl(conversation.id) }).trim()
  const part: PartContent = {
    type: 'undo',
    messageId,
    projectId,
    text: texts.undoAsk,
  }
  await database.write(async (tx) => {
    await addPart(tx, chat.id, part, { store, at: now() }, `undo:${row.position}`)
  })
  return null
}
