// While a run works for a chat: shows that something happens, at most as often as messengers bear.

import type { Database } from '../db/database.ts'
import type { ChatPlace } from '../db/repositories/deliveries/receiving.ts'
import type { RunRow } from '../db/repositories/runs/runs.ts'
import type { Store } from '../db/store.ts'
import { errorText } from '../errors.ts'
import { localeTexts } from '../lib/locale-texts.ts'
import { textLanguage } from '../lib/text-language.ts'
import type { Messenger } from '../messaging/messenger.ts'
import type { RunId } from '../protocol/ids.ts'
import { mayReceive } from './permission.ts'

const TYPING_MS = 5_000
const EDIT_MS = 3_000
/** A short answer comes without a message about it. */
const FIRST_MS = 3_000
const TIMEOUT_MS = 5_000

/** What showing progress needs. */
export interface ProgressDependencies {
  database: Database
  store: Store
  now(): Date
  messengerOf(type: string): Messenger | null
  settingsOf(channel: ChatPlace['channel']): unknown
  log: { warn(details: object, message: string): void }
}

interface Shown {
  runId: RunId
  typingAt: number
  editedAt: number
  text: string | null
}

/** Shows what the runs of chats do; what fails is not repeated, because the next one is newer. */
export function createProgress(dependencies: ProgressDependencies) {
  const { store, database, now, messengerOf, settingsOf, log } = dependencies
  const shown = new Map<string, Shown>()

  async function set({ chat }: ChatPlace, text: string): Promise<void> {
    const current = await store.receiving.chat(chat.id)
    if (current === undefined || !(await mayReceive(current, store))) return
    const externalId = current.chat.progressId
    const next = await tell(current, { text, externalId })
    if (next === externalId) return
    await database.write(async (tx) => {
      await store.receiving.changeChat(tx, chat.id, { progressId: next })
    })
  }

  /** Removes what a chat shows, whichever process has shown it. */
  async function remove(chatId: string): Promise<void> {
    const current = await store.receiving.chat(chatId)
    const externalId = current?.chat.progressId ?? null
    if (current === undefined || externalId === null) return
    if (await mayReceive(current, store)) await tell(current, { text: null, externalId })
    await database.write(async (tx) => {
      await store.receiving.changeChat(tx, chatId, { progressId: null })
    })
  }

  async function tell(
    { chat, channel }: ChatPlace,
    progress: { text: string | null; externalId: string | null },
  ): Promise<string | null> {
    const to = { chatId: chat.externalId, threadId: chat.threadId }
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const messenger = messengerOf(channel.type)
    return (await messenger?.showProgress?.(settingsOf(channel), to, progress, signal)) ?? null
  }

  const quietly = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work()
    } catch (error) {
      log.warn({ cause: errorText(error) }, 'the progress of a run could not be shown')
    }
  }

  return {
    /** Shows what the run does now. */
    async show(place: ChatPlace, run: RunRow): Promise<void> {
      const { chat, channel } = place
      const at = now().getTime()
      const before = shown.get(chat.id)
      // The answer of another run has come between.
      if (before !== undefined && before.runId !== run.id) await quietly(() => remove(chat.id))
      const one =
        before?.runId === run.id ? before : { runId: run.id, typingAt: 0, editedAt: 0, text: null }
      shown.set(chat.id, one)
      const messenger = messengerOf(channel.type)
      if (
        messenger?.showTyping !== undefined &&
        run.status === 'running' &&
        at - one.typingAt >= TYPING_MS
      ) {
        one.typingAt = at
        const to = { chatId: chat.externalId, threadId: chat.threadId }
        await quietly(async () => {
          if (!(await mayReceive(place, store))) return
          await messenger.showTyping?.(settingsOf(channel), to, AbortSignal.timeout(TIMEOUT_MS))
        })
      }
      const isEarly = at - (run.startedAt ?? run.createdAt).getTime() < FIRST_MS
      if (messenger?.showProgress === undefined || isEarly || at - one.editedAt < EDIT_MS) return
      const text = await textOf(run, store)
      if (text === one.text) return
      one.text = text
      one.editedAt = at
      await quietly(() => set(place, text))
    },

    /** The chat is at rest: nothing is shown any more, also of what a process has shown that is gone. */
    async end(chatId: string): Promise<void> {
      shown.delete(chatId)
      await quietly(() => remove(chatId))
    },
  }
}

/** What the run does, in words: its newest tool. */
async function textOf(run: RunRow, store: Store): Promise<string> {
  const conversation = await store.conversations.find(run.userId, run.conversationId)
  const language = textLanguage(conversation?.title ?? '')
  const { chat } = localeTexts(language, 'messages')
  if (run.status === 'awaiting_approval' || run.status === 'awaiting_input')
    return `⏸ ${chat.waits}`
  const steps = await store.ledger.steps(run.messageId)
  const last = steps.findLast(({ type }) => type === 'tool_call')
  if (last === undefined) return `… ${chat.working}`
  const names: Readonly<Record<string, string>> = localeTexts(language, 'tools').toolNames
  return `… ${names[last.name] ?? last.name}`
}
