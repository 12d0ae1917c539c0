// What an answer did, for people who read it in a file: a heading with lists, in the reader's language.
import { filled, localeTexts } from '../lib/locale-texts.ts'
import type { ConversationId } from '../protocol/ids.ts'
import { hasChanged, type Receipt } from '../protocol/runs/receipt.ts'
import { type DocumentLanguage, folderOf } from './document-texts.ts'
import { documentToolTitle } from './tool-titles.ts'

/** Entries of one list that a file shows; the others are counted. */
const MAX_ENTRIES = 200

/** The receipt in words. */
export interface ReceiptText {
  title: string
  /** Said when nothing is different after the answer; null otherwise. */
  nothing: string | null
  lists: { title: string; entries: string[] }[]
}

const MARKS = { added: '+', modified: '~', deleted: '−' } as const

/** The receipt of an answer in words. @param conversationId the conversation of the answer, which messages may go to. */
export function receiptText(
  receipt: Receipt,
  conversationId: ConversationId,
  language: DocumentLanguage,
): ReceiptText {
  const { receipt: texts } = localeTexts(folderOf(language), 'receipts')
  const place = (to: string): string => {
    if (to.startsWith('channel:')) return to.slice('channel:'.length)
    return to === conversationId ? texts.thisConversation : texts.otherConversation
  }
  const delivery = (delivered: boolean | null): string =>
    delivered === null ? texts.underway : delivered ? texts.delivered : texts.notDelivered
  const all = [
    {
      title: texts.filesTitle,
      entries: receipt.files.map(({ path, change, added, removed }) => {
        const lines = added === null || removed === null ? '' : ` (+${added} −${removed})`
        return `${MARKS[change]} ${path}${lines}`
      }),
    },
    {
      title: texts.commandsTitle,
      entries: receipt.commands.map(
        ({ command, exit_code: code }) =>
          `${command} (${code === null ? texts.killed : filled(texts.exit, { code })})`,
      ),
    },
    {
      title: texts.sentTitle,
      entries: receipt.sent.map(({ to, delivered }) => `${place(to)} (${delivery(delivered)})`),
    },
    { title: texts.rememberedTitle, entries: receipt.remembered },
    {
      title: texts.unresolvedTitle,
      entries: receipt.unresolved.map(
        ({ name, error }) => `${documentToolTitle(name, language)} (${error})`,
      ),
    },
    { title: texts.unfinishedTitle, entries: receipt.unfinished.map(({ text }) => text) },
  ]
  return {
    title: texts.title,
    nothing: hasChanged(receipt) ? null : texts.nothing,
    lists: all
      .filter(({ entries }) => entries.length > 0)
      .map(({ title, entries }) => ({
        title,
        entries:
          entries.length > MAX_ENTRIES
            ? [...entries.slice(0, MAX_ENTRIES), `… +${entries.length - MAX_ENTRIES}`]
            : entries,
      })),
  }
}
