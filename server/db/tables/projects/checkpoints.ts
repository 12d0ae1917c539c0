// Tables of checkpoints: what each change of a project's files replaced.
import { sql } from 'drizzle-orm'
import type { MessageId, ProjectId, RunId, UserId } from '../../../protocol/ids.ts'
import type { Columns } from '../../columns/postgres.ts'
import type { defineProjectTables } from './projects.ts'

/**
 * What a path of a project contained at some time. `hash` (SHA-256, hexadecimal) names the stored copy of a file's content.
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
  /** Which part of the change this belongs to, if it has several; absent in the first. */
  part?: number
  /**
   * A renamed folder: the entry at the old path names the new one, and the entry at the new path the old one. Its contents
   * are not stored: renaming it back undoes the change.
   */
  movedTo?: string
  movedFrom?: string
}

type Projects = ReturnType<typeof defineProjectTables>

/** Contents are copied to the content store; the rows name them by hash. */
export function defineCheckpointTables(c: Columns, { projects }: Projects) {
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
      /** Who changed it; null for changes from before projects had members, which `userId` made. */
      actorId: c.key<UserId>('actor_id'),
      messageId: c.key<MessageId>('message_id'),
      runId: c.key<RunId>('run_id'),
      tool: c.text('tool').notNull(),
      /** The number of listed changes (`checkpoint_files` may also contain folders), and the first of them. */
      fileCount: c.integer('file_count').notNull(),
      sample: c.json<Pick<CheckpointFile, 'path' | 'change'>[]>('sample').notNull(),
      createdAt: c.time('created_at').notNull(),
    },
    (t) => [
      c.index('checkpoints_project').on(t.projectId, t.createdAt, t.id),
      c.index('checkpoints_message').on(t.messageId).where(sql`${t.messageId} is not null`),
    ],
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

  return { checkpoints, checkpointFiles, outsideContents }
}
