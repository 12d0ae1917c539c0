// Tables of what runs wait for from a person: approvals of tool calls, and answers to questions of MCP servers.
import type { RunId } from '../../../protocol/ids.ts'
import type { InputAnswer, InputQuestion } from '../../../protocol/runs/input.ts'
import type { ApprovalPreview, RiskLevel } from '../../../protocol/runs/run-event.ts'
import type { Columns } from '../../columns/postgres.ts'
import type { defineRunTables } from './runs.ts'

/** A run waits until each of its rows has a decision or an answer. */
export function defineApprovalTables(
  c: Columns,
  { runs }: Pick<ReturnType<typeof defineRunTables>, 'runs'>,
) {
  const approvals = c.table(
    'approvals',
    {
      runId: c
        .key<RunId>('run_id')
        .notNull()
        .references(() => runs.id, { onDelete: 'cascade' }),
      idRef: c.text('id_ref').notNull(),
      /** The position of its call in the iteration. */
      position: c.integer('position').notNull(),
      name: c.text('name').notNull(),
      arguments: c.text('arguments').notNull(),
      riskLevel: c.choice<RiskLevel>('risk_level').notNull(),
      preview: c.json<ApprovalPreview>('preview'),
      status: c.choice<'pending' | 'approved' | 'rejected'>('status').notNull(),
      reason: c.text('reason'),
      /** Arguments that the person changed. */
      decidedArguments: c.text('decided_arguments'),
      createdAt: c.time('created_at').notNull(),
      decidedAt: c.time('decided_at'),
    },
    (t) => [c.primaryKey({ columns: [t.runId, t.idRef] })],
  )

  /** Questions that MCP servers ask the person while a call runs, with the answers; removed when the run ends. */
  const runInputs = c.table(
    'run_inputs',
    {
      runId: c
        .key<RunId>('run_id')
        .notNull()
        .references(() => runs.id, { onDelete: 'cascade' }),
      idRef: c.text('id_ref').notNull(),
      callId: c.text('call_id').notNull(),
      /** Which round of questions of the call, from 0; a round has one question or several. */
      round: c.integer('round').notNull(),
      position: c.integer('position').notNull(),
      question: c.json<InputQuestion>('question').notNull(),
      /** The server's own key of the question; null when it waits for the answer on an open connection. */
      key: c.text('key'),
      /** What the server wants back unchanged with the answers of the round. */
      requestState: c.text('request_state'),
      answer: c.json<InputAnswer>('answer'),
      createdAt: c.time('created_at').notNull(),
    },
    (t) => [c.primaryKey({ columns: [t.runId, t.idRef] })],
  )

  return { approvals, runInputs }
}
