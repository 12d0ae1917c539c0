// Requests for decisions at a messenger: a card with buttons for each, bound to the exact call, and what became of it.

import type { Database } from '../db/database.ts'
import type { ChatPlace, IncomingRow } from '../db/repositories/deliveries/receiving.ts'
import { type ApprovalRow, hashOfRequest } from '../db/repositories/runs/approvals.ts'
import type { RunRow } from '../db/repositories/runs/runs.ts'
import type { Store } from '../db/store.ts'
import { AppError } from '../errors.ts'
import { filled, localeTexts } from '../lib/locale-texts.ts'
import { textLanguage } from '../lib/text-language.ts'
import type { Messenger } from '../messaging/messenger.ts'
import { waitingText } from '../messaging/waiting-notice.ts'
import { CallId, RunId } from '../protocol/ids.ts'
import { actorIn, doorOf } from './actor.ts'
import { contentOf, PartContent } from './content.ts'
import { errorInWords } from './error-in-words.ts'
import type { MessageLinks } from './links.ts'
import { addNotice, addPart } from './parts.ts'
import { mayReceive } from './permission.ts'
import type { PersonActs } from './person-acts.ts'
import { answerHint, askedField, questionReference } from './questions.ts'

const MAX_PREVIEW = 1_000

/** What cards need. */
export interface CardDependencies extends Pick<MessageLinks, 'waitingUrl' | 'decisionUrl'> {
  database: Database
  store: Store
  now(): Date
  approvesHigh: boolean
  messengerOf(type: string): Messenger | null
  wakeOutbox(): void
}

/** Names what became of the card of an undo. */
export const settledReference = (partId: string): string => `settled:${partId}`

const cardOf = (approvalId: string): string => `card:${approvalId}`

/** The texts in the language of a conversation's title. */
async function textsFor(run: RunRow, { store }: Pick<CardDependencies, 'store'>) {
  const conversation = await store.conversations.find(run.userId, run.conversationId)
  const title = conversation?.title ?? ''
  return { title, texts: localeTexts(textLanguage(title), 'messages') }
}

/** Stores a card for each request of the run that waits and has none. */
export async function offerRequests(
  place: ChatPlace,
  run: RunRow,
  dependencies: CardDependencies,
): Promise<void> {
  const { database, store, now, approvesHigh } = dependencies
  const { chat } = place
  const approvals = (await store.runs.approvals(run.id)).filter(
    ({ status }) => status === 'pending',
  )
  const inputs = (await store.runInputs.pending([run.id])).get(run.id) ?? []
  if (approvals.length === 0 && inputs.length === 0) return
  if (!(await mayReceive(place, store))) return
  const { title, texts } = await textsFor(run, dependencies)
  const links = await decisionLinks(place, run, approvals, dependencies)
  const at = now()
  let isAdded = false
  await database.write(async (tx) => {
    isAdded = false
    for (const request of approvals) {
      const isHigh = request.riskLevel === 'high' && !approvesHigh
      const preview = previewOf(request).slice(0, MAX_PREVIEW)
      const url = dependencies.waitingUrl() ?? undefined
      const base = { name: request.name, riskLevel: request.riskLevel, person: null, preview }
      const said = waitingText({ ...base, url: undefined }, title)
      const link = links === null ? url : links.get(request.id)
      // Its card was stored meanwhile.
      if (links !== null && link === undefined) continue
      const text =
        isHigh || links !== null
          ? `${said}\n\n${filled(texts.chat.openPage, { url: link ?? '' }).trim()}`
          : said
      const card: PartContent = {
        type: 'card',
        runId: run.id,
        idRef: request.idRef,
        approvalId: request.id,
        callHash: hashOfRequest(request),
        name: request.name,
        riskLevel: request.riskLevel,
        preview,
        text,
        canApprove: !isHigh,
      }
      const added = await addPart(tx, chat.id, card, { store, at }, cardOf(request.id))
      isAdded ||= added
    }
    for (const input of inputs) {
      // Where anybody can pretend to be the person, their words answer nothing.
      const asked = canPress(place, dependencies) ? askedField(input) : null
      const url = asked === null ? (dependencies.waitingUrl() ?? undefined) : undefined
      const said = waitingText(
        { name: input.server, riskLevel: null, person: null, preview: input.message, url },
        title,
      )
      const notice = asked === null ? said : `${said}\n\n${answerHint(asked, texts.chat)}`
      const reference = questionReference(run.id, input.id_ref)
      const added = await addNotice(tx, chat.id, notice, { store, at }, reference)
      isAdded ||= added
    }
  })
  if (isAdded) dependencies.wakeOutbox()
}

/** Whether people decide in the chat itself: nobody else can write there in their name. */
const canPress = (
  { channel }: Pick<ChatPlace, 'channel'>,
  { messengerOf }: Pick<CardDependencies, 'messengerOf'>,
): boolean => messengerOf(channel.type)?.hasButtons !== false

/** Links for the requests that have no card yet, where people cannot press buttons; null where they can. */
async function decisionLinks(
  { chat, channel }: ChatPlace,
  run: RunRow,
  approvals: readonly ApprovalRow[],
  { store, messengerOf, decisionUrl, waitingUrl }: CardDependencies,
): Promise<Map<string, string> | null> {
  if (canPress({ channel }, { messengerOf })) return null
  const links = new Map<string, string>()
  for (const { id } of approvals) {
    if ((await store.parts.findByReference(chat.id, cardOf(id))) !== undefined) continue
    links.set(id, (await decisionUrl(run.userId, id)) ?? waitingUrl() ?? '')
  }
  return links
}

/** What a call would do, in words or as it is. */
function previewOf({ preview, arguments: written }: ApprovalRow): string {
  const said = [preview?.display, preview?.command, preview?.diff].filter(
    (part) => part !== undefined && part !== '',
  )
  return said.length === 0 ? written : said.join('\n')
}

/** Says at each card of the run what became of its request. */
export async function settleCards(
  { chat }: ChatPlace,
  run: RunRow,
  dependencies: CardDependencies,
): Promise<void> {
  const { database, store, now } = dependencies
  const decided = (await store.runs.approvals(run.id)).filter(({ status }) => status !== 'pending')
  if (decided.length === 0) return
  const { texts } = await textsFor(run, dependencies)
  let isAdded = false
  for (const { id, status, name } of decided) {
    const card = await store.parts.findByReference(chat.id, cardOf(id))
    if (card === undefined) continue
    const said = {
      approved: texts.chat.approved,
      rejected: texts.chat.rejected,
      expired: texts.chat.expired,
    }
    const known = new Map<string, string>(Object.entries(said)).get(status) ?? texts.chat.void
    const text = known.replace('{{tool}}', name)
    await database.write(async (tx) => {
      const settled: PartContent = { type: 'settled', of: card.id, text }
      const added = await addPart(tx, chat.id, settled, { store, at: now() }, `settled:${id}`)
      isAdded ||= added
    })
  }
  if (isAdded) dependencies.wakeOutbox()
}

/** What deciding needs. */
export interface DecideDependencies
  extends CardDependencies,
    Pick<PersonActs, 'decide' | 'restore'> {}

/** A button was pressed, or `/approve` or `/reject` written: decides exactly the call of that card. Returns what to say. */
export async function press(
  { chat, channel }: ChatPlace,
  row: IncomingRow,
  { part: id, choice }: { part: string; choice: 'approve' | 'reject' },
  dependencies: DecideDependencies,
): Promise<string | null> {
  const { store } = dependencies
  const part = await store.parts.find(id)
  // Of another chat, or made up.
  if (part === undefined || part.channel.id !== channel.id) return null
  if (part.chat.externalId !== chat.externalId) return null
  const content = PartContent.parse(JSON.parse(part.delivery.content))
  const { chat: texts } = localeTexts(
    textLanguage('text' in content ? content.text : ''),
    'messages',
  )
  const sender =
    row.senderId === null ? undefined : await store.receiving.findSender(channel.id, row.senderId)
  if (sender?.state !== 'allowed' || sender.userId !== chat.userId) return null
  const actor = await actorIn({ chat, channel }, sender.externalId, store)
  if (content.type === 'undo')
    return await undo({ chat, channel }, id, content, choice, dependencies)
  if (content.type !== 'card') return null
  if (choice === 'approve' && !content.canApprove)
    return filled(texts.openPage, { url: dependencies.waitingUrl() ?? '' }).trim()
  try {
    await dependencies.decide(
      chat.userId,
      {
        runId: RunId.parse(content.runId),
        idRef: CallId.parse(content.idRef),
        callHash: content.callHash,
        decision: choice,
      },
      actor,
    )
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const decided = (await store.runs.approvals(RunId.parse(content.runId))).find(
      ({ id: one }) => one === content.approvalId,
    )
    const wanted = choice === 'approve' ? 'approved' : 'rejected'
    // Another press of the same button, or this one before the server ended.
    const isDone = decided?.status === wanted && decided.decidedThrough === doorOf(channel)
    if (!isDone)
      return filled(texts.notDecided, {
        detail: errorInWords(content.text, error),
      })
  }
  const run = await store.runs.find(RunId.parse(content.runId))
  if (run !== undefined) await settleCards({ ...part, isActive: true }, run, dependencies)
  return null
}

/** Restores the project once, however often the button is pressed. */
async function undo(
  { chat }: Pick<ChatPlace, 'chat' | 'channel'>,
  partId: string,
  content: Extract<PartContent, { type: 'undo' }>,
  choice: 'approve' | 'reject',
  { database, store, now, restore, wakeOutbox }: DecideDependencies,
): Promise<string | null> {
  const { chat: texts } = localeTexts(textLanguage(content.text), 'messages')
  const reference = settledReference(partId)
  if ((await store.parts.findByReference(chat.id, reference)) !== undefined) return null
  let said: string = texts.undoKept
  if (choice === 'approve')
    try {
      const restored = await restore(chat.userId, content.projectId, content.messageId)
      said = filled(texts.undone, { files: restored })
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      return filled(texts.failed, { detail: errorInWords(content.text, error) })
    }
  // After the restore: if the server ends before this, the button is obeyed again.
  await database.write(async (tx) => {
    const settled: PartContent = { type: 'settled', of: partId, text: said }
    await addPart(tx, chat.id, settled, { store, at: now() }, reference)
  })
  wakeOutbox()
  return null
}

/** The one card of a chat whose request waits; null if there is none, or more than one. */
export async function onlyCard(
  { chat }: ChatPlace,
  runId: RunId,
  { store }: Pick<CardDependencies, 'store'>,
): Promise<{ part: string | null; waiting: number }> {
  const waiting = (await store.runs.approvals(runId)).filter(({ status }) => status === 'pending')
  const [only] = waiting
  if (only === undefined || waiting.length > 1) return { part: null, waiting: waiting.length }
  const card = await store.parts.findByReference(chat.id, cardOf(only.id))
  return { part: card?.id ?? null, waiting: 1 }
}

/** What was pressed. */
export const pressedOf = (row: IncomingRow) => contentOf(row)?.decision ?? null
