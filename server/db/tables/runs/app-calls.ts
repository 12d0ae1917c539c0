// Tables of what apps of MCP servers do beside an answer: calls that are not among its steps yet, and what the model shall know of them.
import { sql } from 'drizzle-orm'
import type { RunId, UserId } from '../../../protocol/ids.ts'
import type { Artifact } from '../../../protocol/runs/step.ts'
import type { Columns } from '../../columns/postgres.ts'
import type { defineRunTables } from './runs.ts'

type Runs = Pick<ReturnType<typeof defineRunTables>, 'runs'>

/** Rows go with their run. */
export function defineAppCallTables(c: Columns, { runs }: Runs) {
  const ofRun = () =>
    c
      .key<RunId>('run_id')
      .notNull()
      .references(() => runs.id, { onDelete: 'cascade' })

  /** A row becomes two steps of the answer once the call has a result and the run has ended. */
  const appCalls = c.table(
    'app_calls',
    {
      runId: ofRun(),
      /** Identifies the call, as in steps and approval requests. */
      idRef: c.text('id_ref').notNull(),
      /** The call of the answer whose result the app shows. */
      appRef: c.text('app_ref').notNull(),
      userId: c.key<UserId>('user_id').notNull(),
      server: c.text('server').notNull(),
      /** The tool's own name at the server. */
      tool: c.text('tool').notNull(),
      /** The tool's name for models. */
      name: c.text('name').notNull(),
      arguments: c.text('arguments').notNull(),
      createdAt: c.time('created_at').notNull(),
      /** When it began to run; null while it waits for a person. */
      startedAt: c.time('started_at'),
      /** The instance that runs it. */
      owner: c.text('owner'),
      grantId: c.text('grant_id'),
      /** The result, as the steps will have it; null until there is one. */
      content: c.text('content'),
      artifact: c.json<Artifact>('artifact'),
      skipped: c.boolean('skipped').notNull().default(false),
      endedAt: c.time('ended_at'),
    },
    (t) => [
      c.primaryKey({ columns: [t.runId, t.idRef] }),
      c.index('app_calls_open').on(t.createdAt).where(sql`${t.endedAt} is null`),
    ],
  )

  /** What an app says about its state: the next message tells the model. */
  const appContexts = c.table(
    'app_contexts',
    {
      runId: ofRun(),
      /** The call of the answer whose result the app shows. */
      appRef: c.text('app_ref').notNull(),
      server: c.text('server').notNull(),
      tool: c.text('tool').notNull(),
      text: c.text('text').notNull(),
      updatedAt: c.time('updated_at').notNull(),
    },
    (t) => [c.primaryKey({ columns: [t.runId, t.appRef] })],
  )

  return { appCalls, appContexts }
}
