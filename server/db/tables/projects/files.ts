// The table of files: what users uploaded for their messages. The bytes are in the blob store.
import { sql } from 'drizzle-orm'
import type { DescribedFailure } from '../../../protocol/failures/stored.ts'
import type { FileId } from '../../../protocol/ids.ts'
import type { Columns } from '../../columns/postgres.ts'
import type { defineAccountTables } from '../accounts/accounts.ts'
import { ownedBy } from '../owner.ts'

/** Defines `files` and `unused_blobs`. */
export function defineFileTables(
  c: Columns,
  { users }: Pick<ReturnType<typeof defineAccountTables>, 'users'>,
) {
  const files = c.table(
    'files',
    {
      id: c.key<FileId>('id').primaryKey(),
      userId: ownedBy(c, users),
      kind: c.choice<'text' | 'image'>('kind').notNull(),
      name: c.text('name').notNull(),
      mime: c.text('mime').notNull(),
      /** Bytes of the stored content. */
      size: c.bigInteger('size').notNull(),
      /** Names the blob with the content: SHA-256, hexadecimal. */
      sha256: c.text('sha256').notNull(),
      /** The blob with the thumbnail of an image. */
      thumbnailSha256: c.text('thumbnail_sha256'),
      width: c.integer('width'),
      height: c.integer('height'),
      /** Pages, slides or sheets of a document. */
      pages: c.integer('pages'),
      /** Why no text could be read from it. */
      failure: c.json<DescribedFailure>('failure'),
      createdAt: c.time('created_at').notNull(),
      /** Characters of `text`. */
      characters: c.integer('characters'),
      /** The text for models and for the search; null for images. Behind the other columns, so that those are read without it. */
      text: c.text('text'),
      /** The encoding in which the bytes of a text were read. Read only with `text`: SQLite finds it behind that. */
      encoding: c.text('encoding'),
    },
    (t) => [
      c.index('files_user').on(t.userId, t.size),
      c.index('files_created').on(t.createdAt),
      c.index('files_blob').on(t.sha256),
      c.index('files_thumbnail').on(t.thumbnailSha256).where(sql`${t.thumbnailSha256} is not null`),
    ],
  )
  /** Blobs that nothing refers to, each with the time at which the garbage collection first saw that. */
  const unusedBlobs = c.table('unused_blobs', {
    sha256: c.text('sha256').primaryKey(),
    seenAt: c.time('seen_at').notNull(),
  })
  return { files, unusedBlobs }
}
