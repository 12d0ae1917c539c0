// Accounts, messages and runs that many suites start with.

import { eq } from 'drizzle-orm'
import type { Database } from '../../../server/db/database.ts'
import type { UserRow } from '../../../server/db/repositories/accounts/users.ts'
import type { MessageRow } from '../../../server/db/repositories/conversations/messages.ts'
import type { FileRow } from '../../../server/db/repositories/projects/files.ts'
import type { RunRow } from '../../../server/db/repositories/runs/runs.ts'
import { createStore, type Store } from '../../../server/db/store.ts'
import { newId } from '../../../server/lib/ids.ts'
import type { Attachment } from '../../../server/protocol/conversations/message.ts'
import type { ConversationId, MessageId, RunId, UserId } from '../../../server/protocol/ids.ts'
import { MESSAGE_DEFAULTS, RUN_DEFAULTS } from '../../../server/runs/start/row-defaults.ts'

/** Admits everybody to `users.register`; the first one becomes the administrator. */
export const admitAll: Parameters<Store['users']['register']>[1] = async (_tx, count) => ({
  role: count === 0 ? 'admin' : 'user',
})

/** Registers an account; the first one becomes the administrator. */
export const somebody = (store: Store, username = newId<string>().slice(-12)): Promise<UserRow> =>
  store.users.register({ username, passwordHash: 'hash' }, admitAll)

/** Stores a message as the leaf that is shown; returns its id. */
export async function say(
  database: Database,
  conversationId: ConversationId,
  text: string,
  parentId: MessageId | null,
  more: Partial<MessageRow> & { files?: (Attachment | FileRow)[] } = {},
): Promise<MessageId> {
  const { files, ...changes } = more
  const message: MessageRow = {
    ...MESSAGE_DEFAULTS,
    id: newId<MessageId>(),
    conversationId,
    parentId,
    role: 'user',
    text,
    createdAt: new Date(),
    ...changes,
  }
  const { conversations } = database.tables
  const [owner] = await database.read
    .select({ userId: conversations.userId })
    .from(conversations)
    .where(eq(conversations.id, conversationId))
  if (owner === undefined) throw new Error('no such conversation')
  await database.write((tx) =>
    createStore(database).messages.insert(tx, owner.userId, [message], files),
  )
  return message.id
}

/** The row of an active run. */
export const chatRun = (
  userId: UserId,
  conversationId: ConversationId,
  messageId: MessageId,
): RunRow => ({
  ...RUN_DEFAULTS,
  id: newId<RunId>(),
  conversationId,
  userId,
  projectId: null,
  messageId,
  userMessageId: null,
  model: 'demo',
  options: {},
  clientId: null,
  owner: null,
  createdAt: new Date(),
  startedAt: null,
})

/** Stores a run in progress with its answer, in a new conversation of a new user. */
export async function storeRun(
  database: Database,
  store: Store,
  more: Partial<RunRow> = {},
): Promise<RunRow> {
  const user = await somebody(store)
  const conversation = await store.conversations.create(user.id, {})
  const message = await say(database, conversation.id, '', null, {
    role: 'assistant',
    status: 'streaming',
  })
  const run: RunRow = {
    ...chatRun(user.id, conversation.id, message),
    status: 'running',
    ...more,
  }
  await database.write((tx) => store.runs.insert(tx, run))
  return run
}
