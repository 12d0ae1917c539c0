// Tables of the documents of projects: their passages and the embeddings of these.
import type { StoredFailure } from '../../../protocol/failures/stored.ts'
import type { ProjectId, UserId } from '../../../protocol/ids.ts'
import type { Columns } from '../../columns/postgres.ts'
import type { defineProjectTables } from './projects.ts'

type Projects = ReturnType<typeof defineProjectTables>

/** The documents that the search of a project finds. */
export function defineDocumentTables(c: Columns, { projects }: Projects) {
  const documents = c.table(
    'documents',
    {
      id: c.text('id').primaryKey(),
      projectId: c
        .key<ProjectId>('project_id')
        .notNull()
        .references(() => projects.id, { onDelete: 'cascade' }),
      userId: c.key<UserId>('user_id').notNull(),
      name: c.text('name').notNull(),
      mime: c.text('mime').notNull(),
      size: c.bigInteger('size').notNull(),
      status: c.choice<'pending' | 'ready' | 'failed'>('status').notNull(),
      error: c.text('error'),
      /** The reason and parameters of `error`, for translation. */
      failure: c.json<StoredFailure>('failure'),
      /** The number of its passages. */
      passages: c.integer('passages').notNull(),
      createdAt: c.time('created_at').notNull(),
      /** SHA-256 of the uploaded file, hexadecimal; null for documents without one, such as imported ones. */
      sha256: c.text('sha256'),
      /** The encoding that was found or chosen for a text. The uploaded file is kept, so that it can be read in another one. */
      encoding: c.text('encoding'),
      /** The file of the project that it is read from, and read again when that changes; null for documents without one. */
      path: c.text('path'),
      /** The version of that file that was read last. */
      version: c.text('version'),
    },
    (t) => [
      c.index('documents_project').on(t.projectId, t.createdAt, t.id),
      c.index('documents_user').on(t.userId, t.size),
    ],
  )

  /** The full-text index on `tokens` is added to the generated migration (`full-text.ts`). */
  const passages = c.table(
    'passages',
    {
      /** An integer, because SQLite's full-text index refers to it. */
      id: c.counter('id'),
      documentId: c
        .text('document_id')
        .notNull()
        .references(() => documents.id, { onDelete: 'cascade' }),
      projectId: c.key<ProjectId>('project_id').notNull(),
      position: c.integer('position').notNull(),
      heading: c.text('heading'),
      page: c.integer('page'),
      text: c.text('text').notNull(),
      /** The text as words separated by spaces, ready to be indexed. */
      tokens: c.text('tokens').notNull(),
    },
    (t) => [
      c.uniqueIndex('passages_document').on(t.documentId, t.position),
      c.index('passages_project').on(t.projectId),
    ],
  )

  /** Embeddings of passages, where an endpoint is configured. */
  const passageVectors = c.table(
    'passage_vectors',
    {
      passageId: c
        .bigInteger('passage_id')
        .primaryKey()
        .references(() => passages.id, { onDelete: 'cascade' }),
      projectId: c.key<ProjectId>('project_id').notNull(),
      model: c.text('model').notNull(),
      /** One signed byte per dimension: only the direction counts, and bytes are precise enough. */
      vector: c.bytes('vector').notNull(),
    },
    (t) => [c.index('passage_vectors_project').on(t.projectId, t.model, t.passageId)],
  )

  return { documents, passages, passageVectors }
}
