// Tables of projects, their checkpoints and their documents.
import type { StoredFailure } from '../../protocol/failures/stored.ts'
import type { MessageId, ProjectId, RunId, UserId } from '../../protocol/ids.ts'
import type { ProjectSettings } from '../../protocol/projects/project.ts'
import type { Columns } from '../columns/postgres.ts'
import type { defineAccountTables } from './accounts.ts'

/**
 * What a path of a project held at some time. `hash` (SHA-256, hexadecimal) names the stored copy of a file's content.
 */
export type PathContent =
  | { kind: 'file'; hash: string; size: number; mode: number }
  | { kind: 'link'; target: string }
  | { kind: 'directory' }

/** How one path of a checkpoint changed; `before` or `after` is null when nothing existed there. */
export type CheckpointFile = {
  path: string
  change: 'added' | 'modified' | 'deleted'
  before: PathContent | null
  after: PathContent | null
  /** Which part of the change this belongs to, where a change has several; absent in the first. */
  part?: number
  /**
   * A renamed folder: the entry at the old path names the new one, and the entry at the new path the old one. Its contents
   * are not stored: renaming it back undoes the change.
   */
  movedTo?: string
  movedFrom?: string
}

export function defineProjectTables(
  c: Columns,
  { users }: Pick<ReturnType<typeof defineAccountTables>, 'users'>,
) {
  const owner = () =>
    c
      .key<UserId>('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' })

  const projects = c.table(
    'projects',
    {
      id: c.key<ProjectId>('id').primaryKey(),
      userId: owner(),
      name: c.text('name').notNull(),
      description: c.text('description'),
      /** Bytes of all its files after the last change; null until measured. */
      size: c.bigInteger('size'),
      /** Null: all defaults. */
      settings: c.json<ProjectSettings>('settings'),
      createdAt: c.time('created_at').notNull(),
      updatedAt: c.time('updated_at').notNull(),
    },
    (t) => [
      c.uniqueIndex('projects_user_name').on(t.userId, t.name),
      c.index('projects_user_updated').on(t.userId, t.updatedAt, t.id),
    ],
  )

  const inProject = () =>
    c
      .key<ProjectId>('project_id')
      .notNull()
      .references(() => projects.id, { onDelete: 'cascade' })

  const checkpoints = c.table(
    'checkpoints',
    {
      id: c.text('id').primaryKey(),
      projectId: inProject(),
      userId: c.key<UserId>('user_id').notNull(),
      messageId: c.key<MessageId>('message_id'),
      runId: c.key<RunId>('run_id'),
      tool: c.text('tool').notNull(),
      /** The number of listed changes (`checkpoint_files` may also contain folders), and the first of them. */
      fileCount: c.integer('file_count').notNull(),
      sample: c.json<Pick<CheckpointFile, 'path' | 'change'>[]>('sample').notNull(),
      createdAt: c.time('created_at').notNull(),
    },
    (t) => [c.index('checkpoints_project').on(t.projectId, t.createdAt, t.id)],
  )

  /** Hashes of file contents with text from outside, so that renamed and copied files stay marked. */
  const outsideContents = c.table(
    'outside_contents',
    {
      projectId: inProject(),
      /** SHA-256, hexadecimal. */
      hash: c.text('hash').notNull(),
    },
    (t) => [c.primaryKey({ columns: [t.projectId, t.hash] })],
  )

  /** The files of a checkpoint in pages, so that a change of many files is never read in one piece. */
  const checkpointFiles = c.table(
    'checkpoint_files',
    {
      checkpointId: c
        .text('checkpoint_id')
        .notNull()
        .references(() => checkpoints.id, { onDelete: 'cascade' }),
      /** Position of the page's first file among all files of the checkpoint. */
      first: c.integer('first').notNull(),
      files: c.json<CheckpointFile[]>('files').notNull(),
    },
    (t) => [c.primaryKey({ columns: [t.checkpointId, t.first] })],
  )

  const documents = c.table(
    'documents',
    {
      id: c.text('id').primaryKey(),
      projectId: inProject(),
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

  return {
    projects,
    checkpoints,
    checkpointFiles,
    outsideContents,
    documents,
    passages,
    passageVectors,
  }
}
