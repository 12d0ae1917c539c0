// The run of a chat: what was written becomes one message, its answer goes back once, and meanwhile the person sees what happens.
import type { createConversationStart } from '../chat/new-conversation.ts'
import type { Database, Writer } from '../db/database.ts'
import type { ConversationRow } from '../db/repositories/conversations/conversations.ts'
import type { ChatPlace, IncomingRow } from '../db/repositories/deliveries/receiving.ts'
import type { RunRow } from '../db/repositories/runs/runs.ts'
import type { Store } from '../db/store.ts'
import { AppError } from '../errors.ts'
import { newId } from '../lib/ids.ts'
import { filled, localeTexts } from '../lib/locale-texts.ts'
import { textLanguage } from '../lib/text-language.ts'
import type { Messenger } from '../messaging/messenger.ts'
import type { Change } from '../protocol/change.ts'
import { ProjectId, type UserId } from '../protocol/ids.ts'
import type { AnswerFiles } from './answer-files.ts'
import { offerRequests, settleCards } from './cards.ts'
import { ChatChoice, contentOf, type IncomingContent } from './content.ts'
import { errorInWords } from './error-in-words.ts'
import type { MessageLinks } from './links.ts'
import { addAnswer, addNotice, addPart } from './parts.ts'
import { isOpenTo, mayReceive } from './permission.ts'
import type { ChannelMessage, PersonActs } from './person-acts.ts'

/** How long a message waits for others that belong to it. */
export const MERGE_MS = 1_500
const MAX_MERGED = 3
/** Longer messages stay messages of their own. */
const MAX_MERGED_CHARACTERS = 20_000
const HOUR_MS = 3_600_000
/** The most messages of a group that are given with one that starts a run. */
const MAX_OVERHEARD = 50
const OVERHEARD_MS = 24 * HOUR_MS
/** How long a turn waits while the server has no room for its run. */
const MAX_WAIT_MS = 10 * 60_000
const DEFAULT_RUNS_PER_HOUR = 60

/** What runs of chats need. */
export interface TurnDependencies
  extends Pick<PersonActs, 'send' | 'stop'>,
    Pick<MessageLinks, 'waitingUrl' | 'decisionUrl'> {
  database: Database
  store: Store
  now(): Date
  announce(userId: UserId, change: Change): void
  messengerOf(type: string): Messenger | null
  conversationStart: ReturnType<typeof createConversationStart>
  /** Runs that each sender may start per hour; null: as many as by default. */
  runsPerHour(userId: UserId): number | null
  isAllowed(userId: UserId): boolean
  /** Whether a call of high risk can be approved at a messenger. */
  approvesHigh: boolean
  answerFiles: AnswerFiles
  /** Something is to be sent. */
  wakeOutbox(): void
}

/** Refusals that pass by themselves, however long that takes: the message is not at fault. */
const PASSING: readonly string[] = [
  'run_active',
  'shutting_down',
  'store_busy',
  'store_unavailable',
]
/** Refusals that may pass. */
const MAY_PASS: readonly string[] = ['too_many_runs', 'server_busy', 'conflict']

/** The language in which a person is answered: that of what they wrote. */
export const textsOf = (content: IncomingContent | null) =>
  localeTexts(textLanguage(content?.text ?? ''), 'messages').chat

/** When the waiting messages of a chat become a message; null if there are none. */
export function mergeTime(waiting: readonly IncomingRow[]): number | null {
  const [first] = waiting
  if (first === undefined) return null
  return waiting.length >= MAX_MERGED ? 0 : first.createdAt.getTime() + MERGE_MS
}

/** The messages that become one: of one sender, for one conversation, each soon after the first. */
function merged(waiting: readonly IncomingRow[]): IncomingRow[] {
  const [first] = waiting
  if (first === undefined) return []
  const until = first.createdAt.getTime() + MERGE_MS
  const rows: IncomingRow[] = []
  let characters = 0
  for (const row of waiting) {
    characters += contentOf(row)?.text.length ?? 0
    if (rows.length > 0 && characters > MAX_MERGED_CHARACTERS) break
    const belongs =
      row.senderId === first.senderId &&
      row.conversationId === first.conversationId &&
      row.createdAt.getTime() <= until
    if (!belongs || rows.length >= MAX_MERGED) break
    rows.push(row)
  }
  return rows
}

/**
 * Makes one turn of the waiting messages of a chat, unless one has not ended. Returns whether there is one now. Drops what
 * waits if the channel receives no more.
 */
export async function formTurn(place: ChatPlace, dependencies: TurnDependencies): Promise<boolean> {
  const { database, store, now } = dependencies
  const { chat, channel } = place
  const known =
    chat.conversationId === null
      ? undefined
      : await store.conversations.find(chat.userId, chat.conversationId)
  const wanted = await wantedConversation(place, dependencies)
  const at = now()
  let made: ConversationRow | null = null
  const isFormed = await database.write(async (tx) => {
    made = null
    await tx.lock(`chat ${chat.id}`)
    const current = await store.receiving.chat(chat.id, tx)
    if (current === undefined || current.chat.conversationId !== chat.conversationId) return false
    const open = (await store.receiving.openMessages(chat.id, tx)).filter(
      ({ kind }) => kind === 'message',
    )
    if (open.some(({ state }) => state !== 'waiting')) return true
    if (current.channel.receive === null) {
      await store.receiving.changeIncoming(
        tx,
        open.map(({ position }) => position),
        ['waiting'],
        { state: 'dropped', content: null },
      )
      return false
    }
    const rows = merged(open)
    const [first] = rows
    if (first === undefined) return false
    const positions = rows.map(({ position }) => position)
    if (await isBeyondLimit(tx, place, first, dependencies)) {
      await store.receiving.changeIncoming(tx, positions, ['waiting'], {
        state: 'dropped',
        content: null,
      })
      return false
    }
    let conversationId = first.conversationId ?? known?.id ?? null
    if (conversationId === null) {
      made = await store.conversations.createIn(tx, chat.userId, {
        ...wanted,
        channel: { id: channel.id, name: channel.name, type: channel.type, chat_name: chat.name },
      })
      conversationId = made.id
      await store.receiving.changeChat(tx, chat.id, { conversationId, choice: null })
    }
    await store.receiving.changeChat(tx, chat.id, { isFullTold: false })
    const overheard = chat.isPrivate
      ? []
      : await store.receiving.takeOverheard(
          tx,
          chat,
          new Date(at.getTime() - OVERHEARD_MS),
          MAX_OVERHEARD,
        )
    await store.receiving.changeIncoming(tx, positions, ['waiting'], {
      state: 'starting',
      turnId: newId(),
      conversationId,
      startedAt: at,
    })
    const lines = overheard.flatMap((row) => {
      const content = contentOf(row)
      return content === null ? [] : [`${content.senderName}: ${content.text}`]
    })
    const content = contentOf(first)
    if (lines.length > 0 && content !== null)
      await store.receiving.changeIncoming(tx, [first.position], ['starting'], {
        content: { ...content, overheard: lines.join('\n') },
      })
    return true
  })
  if (made !== null) announceMade(made, dependencies)
  return isFormed
}

const announceMade = ({ id, userId }: ConversationRow, { announce }: TurnDependencies): void =>
  announce(userId, { type: 'conversation', id, change: 'created' })

/** With what a new conversation of the chat begins: what the person chose, or else what the channel says. */
async function wantedConversation(
  { chat, channel }: ChatPlace,
  { store, conversationStart }: TurnDependencies,
) {
  const { userId } = chat
  const choice = ChatChoice.parse(chat.choice ?? {})
  const named =
    choice.projectId === undefined || choice.projectId === null
      ? (channel.receive?.project_id ?? null)
      : ProjectId.parse(choice.projectId)
  // The project of a shared channel is not everybody's.
  const project = named === null ? undefined : await store.projects.find(userId, named)
  const projectId = project?.id ?? null
  const model = choice.model ?? channel.receive?.model ?? null
  return { projectId, ...(await conversationStart({ userId, projectId }, model)) }
}

/** Whether the sender has started as many runs within the hour as they may; they are told once an hour. */
async function isBeyondLimit(
  tx: Writer,
  { chat, channel }: ChatPlace,
  first: IncomingRow,
  { store, now, runsPerHour, isAllowed }: TurnDependencies,
): Promise<boolean> {
  if (!isAllowed(chat.userId)) return true
  if (first.senderId === null) return true
  const limit = runsPerHour(chat.userId) ?? DEFAULT_RUNS_PER_HOUR
  const at = now()
  const since = new Date(at.getTime() - HOUR_MS)
  if ((await store.receiving.turnsSince(tx, first.senderId, since)) < limit) return false
  const sender = await store.receiving.findSender(channel.id, first.senderId, tx)
  if (sender?.toldAt == null || sender.toldAt < since) {
    await addNotice(tx, chat.id, filled(textsOf(contentOf(first)).limit, { limit }), { store, at })
    await store.receiving.changeSender(tx, channel.id, first.senderId, { toldAt: at })
  }
  return true
}

/** Starts the run of a turn, or says why it does not start. Calling it again after a crash finds the same run. */
export async function startTurn(
  place: ChatPlace,
  rows: readonly IncomingRow[],
  dependencies: TurnDependencies,
): Promise<void> {
  const { database, store, now, send } = dependencies
  const { chat, channel } = place
  const [first] = rows
  if (first === undefined || first.turnId === null || first.conversationId === null) return
  const positions = rows.map(({ position }) => position)
  const sender =
    first.senderId === null
      ? undefined
      : await store.receiving.findSender(channel.id, first.senderId)
  const isPermitted =
    sender?.state === 'allowed' &&
    sender.userId === chat.userId &&
    place.isActive &&
    channel.receive !== null &&
    (await isOpenTo(channel, chat.userId, store))
  // Whoever was removed or blocked meanwhile starts nothing.
  if (!isPermitted) {
    await database.write(async (tx) => {
      await store.receiving.changeIncoming(tx, positions, ['starting'], {
        state: 'dropped',
        content: null,
      })
    })
    return
  }
  try {
    const run = await send(chat.userId, first.conversationId, {
      ...messageOf(rows),
      clientId: first.turnId,
      origin: {
        type: 'channel',
        id: channel.id,
        name: channel.name,
        sender: { id: sender.id, external_id: sender.externalId, name: sender.name },
      },
      approval: channel.receive?.approval ?? 'ask',
    })
    const started = await database.write((tx) =>
      store.receiving.changeIncoming(tx, positions, ['starting'], {
        state: 'running',
        runId: run.id,
        content: null,
      }),
    )
    // `/stop` came while it started.
    if (
      started.length === 0 &&
      (await store.receiving.incoming(first.position))?.state === 'dropped'
    )
      await dependencies.stop(chat.userId, run.id)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const at = now()
    const isYoung = at.getTime() - (first.startedAt ?? at).getTime() < MAX_WAIT_MS
    if (PASSING.includes(error.code) || (MAY_PASS.includes(error.code) && isYoung)) return
    await database.write(async (tx) => {
      const ended = await store.receiving.changeIncoming(tx, positions, ['starting'], {
        state: 'done',
        content: null,
      })
      if (ended.length === 0) return
      const content = contentOf(first)
      await addNotice(
        tx,
        chat.id,
        filled(textsOf(content).failed, { detail: errorInWords(content?.text ?? '', error) }),
        { store, at },
        `turn:${first.turnId}`,
      )
      await addPart(tx, chat.id, { type: 'end' }, { store, at })
    })
    dependencies.wakeOutbox()
  }
}

/** What the messages of a turn say together. */
function messageOf(
  rows: readonly IncomingRow[],
): Pick<ChannelMessage, 'text' | 'files' | 'outside'> {
  const contents = rows.flatMap((row) => contentOf(row) ?? [])
  const own = contents.filter(({ isOutside }) => !isOutside).map(({ text }) => text)
  const others = contents.flatMap(({ text, isOutside, quoted }) =>
    [isOutside ? text : '', quoted].filter((one) => one !== ''),
  )
  const notes = contents.flatMap(({ notes: some }) => some)
  const overheard = contents.flatMap(({ overheard: some }) => some ?? [])
  return {
    text: [...own, ...notes].filter((text) => text !== '').join('\n\n'),
    files: contents.flatMap(({ files }) => files),
    outside: [
      ...(others.length === 0 ? [] : [{ name: 'message.txt', content: others.join('\n\n') }]),
      ...(overheard.length === 0 ? [] : [{ name: 'group.txt', content: overheard.join('\n') }]),
    ].filter(({ content }) => content !== ''),
  }
}

/** Looks after the run of a turn. Returns the run while it has not ended. */
export async function followTurn(
  place: ChatPlace,
  rows: readonly IncomingRow[],
  dependencies: TurnDependencies,
): Promise<RunRow | null> {
  const { store } = dependencies
  const [first] = rows
  const run = first?.runId == null ? undefined : await store.runs.find(first.runId)
  if (run === undefined) {
    // Its conversation was deleted.
    await endTurn(place, rows, null, dependencies)
    return null
  }
  if (run.endedAt === null) {
    if (run.status === 'awaiting_approval' || run.status === 'awaiting_input')
      await offerRequests(place, run, dependencies)
    await settleCards(place, run, dependencies)
    return run
  }
  await endTurn(place, rows, run, dependencies)
  return null
}

/** Stores the answer for the chat, once: with the end of the turn. */
async function endTurn(
  place: ChatPlace,
  rows: readonly IncomingRow[],
  run: RunRow | null,
  dependencies: TurnDependencies,
): Promise<void> {
  const { database, store, now, messengerOf, answerFiles } = dependencies
  const { chat, channel } = place
  const [first] = rows
  if (first === undefined) return
  if (run !== null) await settleCards(place, run, dependencies)
  const answer =
    run === null ? '' : ((await store.messages.find(run.conversationId, run.messageId))?.text ?? '')
  const question = run === null ? undefined : await questionOf(run, store)
  const { stopped } = localeTexts(textLanguage(question ?? answer), 'messages').chat
  const said = run === null ? stopped : answerText(run, answer, question ?? answer)
  const files = run === null ? [] : await answerFiles.of(run, answer)
  const at = now()
  const max = messengerOf(channel.type)?.maxCharacters ?? 4_000
  await database.write(async (tx) => {
    const ended = await store.receiving.changeIncoming(
      tx,
      rows.map(({ position }) => position),
      ['starting', 'running'],
      { state: 'done', content: null },
    )
    if (ended.length === 0 || !(await mayReceive(place, store, tx))) return
    const reference = `turn:${first.turnId}`
    await addAnswer(tx, chat.id, { text: said, max, reference }, { store, at })
    for (const [index, file] of files.entries())
      await addPart(
        tx,
        chat.id,
        { type: 'file', ...file },
        { store, at },
        `${reference}:file:${index}`,
      )
    await addPart(tx, chat.id, { type: 'end' }, { store, at })
  })
  dependencies.wakeOutbox()
}

/** What the person wrote. */
async function questionOf(run: RunRow, store: Store): Promise<string | undefined> {
  const answer = await store.messages.find(run.conversationId, run.messageId)
  if (answer?.parentId == null) return undefined
  return (await store.messages.find(run.conversationId, answer.parentId))?.text
}

/** The answer of a run that has ended, or why there is none, in the language of what the person wrote. */
function answerText(run: RunRow, answer: string, written: string): string {
  const { chat: texts } = localeTexts(textLanguage(written), 'messages')
  const inWords = (failure: RunRow['error'] | RunRow['reachedLimit']): string | null =>
    failure === null ? null : errorInWords(written, failure)
  const detail =
    run.status === 'failed' || run.status === 'interrupted'
      ? filled(texts.failed, { detail: inWords(run.error) ?? run.status })
      : run.status === 'stopped'
        ? texts.stopped
        : inWords(run.reachedLimit)
  const said = [answer.trim(), detail].filter((text) => text !== null && text !== '').join('\n\n')
  return said === '' ? texts.nothing : said
}
