// Finds titles, messages, tool calls, attachments and documents of a user by the words that they contain.
import { and, desc, eq } from 'drizzle-orm'
import type { MessageId } from '../../../protocol/ids.ts'
import type { Database } from '../../database.ts'
import { textBefore, toSearchEntry } from '../../search-entries.ts'
import { attachmentText } from '../conversations/attachments.ts'
import { createFileParts } from './file-parts.ts'
import { createSearchIndex } from './index-writer.ts'
import { createMessageSearch } from './messages.ts'
import { createPassageWords } from './passage-words.ts'
import { createPassageSearch } from './passages.ts'
import { createSegments } from './segments.ts'
import { createStoredTexts } from './stored-texts.ts'
import { createTitleSearch } from './titles.ts'

/** Uses the tables `messages`, `attachments` and `files`. */
export function createSearchRepository(database: Database) {
  const { readOffThread, tables } = database
  const { messages, attachments, files } = tables
  const index = createSearchIndex(database)
  return {
    titles: createTitleSearch(database),
    messages: createMessageSearch(database),
    passages: createPassageSearch(database),
    passageWords: createPassageWords(database),

    /** The text of an attachment before an entry's part of it. */
    async textBefore(messageId: MessageId, entry: number): Promise<string> {
      const { position, part } = toSearchEntry(entry)
      const [row] = await readOffThread
        .select({ text: textBefore(attachmentText(tables), part) })
        .from(attachments)
        .leftJoin(files, eq(files.id, attachments.fileId))
        .where(and(eq(attachments.messageId, messageId), eq(attachments.position, position)))
      return row?.text ?? ''
    },

    /** The row of the newest message, from which `stored.put` begins; 0 without messages. */
    async newestRow(): Promise<number> {
      const [newest] = await database.read
        .select({ row: messages.row })
        .from(messages)
        .orderBy(desc(messages.row))
        .limit(1)
      return newest?.row ?? 0
    },

    indexNextPart: createFileParts(database, index),

    index,

    stored: createStoredTexts(database, index),

    segments: createSegments(database),
  }
}
