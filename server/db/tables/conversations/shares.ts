// Tables of shared copies of conversations.
import { sql } from 'drizzle-orm'
import type { ShareInclude } from '../../../protocol/conversations/share.ts'
import type { ConversationId } from '../../../protocol/ids.ts'
import type { Columns } from '../../columns/postgres.ts'
import type { defineAccountTables } from '../accounts/accounts.ts'
import { ownedBy } from '../owner.ts'
import type { defineConversationTables } from './conversations.ts'

type Needed = Pick<ReturnType<typeof defineAccountTables>, 'users'> &
  Pick<ReturnType<typeof defineConversationTables>, 'conversations'>

/** Defines `shares`, `shareMessages` and `shareFiles`. */
export function defineShareTables(c: Columns, { users, conversations }: Needed) {
  const shares = c.table(
    'shares',
    {
      id: c.text('id').primaryKey(),
      userId: ownedBy(c, users),
      conversationId: c
        .key<ConversationId>('conversation_id')
        .notNull()
        .references(() => conversations.id, { onDelete: 'cascade' }),
      /** SHA-256 of the token in a link, with which its share is found. */
      tokenHash: c.text('token_hash').notNull(),
      /** The encrypted token, so that the owner can be shown the link again. */
      sealedToken: c.text('sealed_token').notNull(),
      passwordHash: c.text('password_hash'),
      include: c.json<ShareInclude[]>('include').notNull(),
      title: c.text('title').notNull(),
      /** Identifies the rows of the copy that is shown; null until the first copy is complete. */
      revision: c.text('revision'),
      views: c.integer('views').notNull(),
      createdAt: c.time('created_at').notNull(),
      renewedAt: c.time('renewed_at').notNull(),
      expiresAt: c.time('expires_at'),
    },
    (t) => [
      c.uniqueIndex('shares_token').on(t.tokenHash),
      c.uniqueIndex('shares_conversation').on(t.conversationId),
      c.index('shares_user').on(t.userId, t.createdAt, t.id),
    ],
  )
  const ofShare = () =>
    c
      .text('share_id')
      .notNull()
      .references(() => shares.id, { onDelete: 'cascade' })

  /** The messages of a copy, each as the JSON of `SharedMessage`. */
  const shareMessages = c.table(
    'share_messages',
    {
      shareId: ofShare(),
      revision: c.text('revision').notNull(),
      position: c.integer('position').notNull(),
      content: c.text('content').notNull(),
    },
    (t) => [c.primaryKey({ columns: [t.shareId, t.revision, t.position] })],
  )

  /** Copies of attachments, and of files of apps. */
  const shareFiles = c.table(
    'share_files',
    {
      shareId: ofShare(),
      revision: c.text('revision').notNull(),
      position: c.integer('position').notNull(),
      kind: c.choice<'text' | 'image' | 'app'>('kind').notNull(),
      /** Of a file of an app, its path in the project. */
      name: c.text('name').notNull(),
      mime: c.text('mime'),
      /** Empty if `sha256` is set. Else text as it is, images as base64. */
      content: c.text('content').notNull(),
      /** The blob with the content; null in copies made before blobs existed. */
      sha256: c.text('sha256'),
      size: c.bigInteger('size'),
    },
    (t) => [
      c.primaryKey({ columns: [t.shareId, t.revision, t.position] }),
      c.index('share_files_blob').on(t.sha256).where(sql`${t.sha256} is not null`),
    ],
  )
  return { shares, shareMessages, shareFiles }
}
