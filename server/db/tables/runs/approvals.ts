// Tables of what runs wait for from a person: approvals of tool calls, answers to questions of MCP servers, and who is told how.
import { sql } from 'drizzle-orm'
import type { RunId, UserId } from '../../../protocol/ids.ts'
import type { DecidedThrough, RequestState } from '../../../protocol/runs/approval.ts'
import type { InputAnswer, InputQuestion } from '../../../protocol/runs/input.ts'
import type { ApprovalPreview, RiskLevel } from '../../../protocol/runs/run-event.ts'
import type { Columns } from '../../columns/postgres.ts'
import type { defineRunTables } from './runs.ts'

/** The columns of everything that a person is asked to decide. A version without them leaves them at their defaults. */
const requestColumns = (c: Columns) => ({
  /** Identifies the request in the list of its user. */
  id: c.randomId('id'),
  /** The user of the run; '' for requests that a version without the list has stored. */
  userId: c.text('user_id').notNull().default(''),
  /** Whether the conversation contained text from outside. */
  tainted: c.boolean('tainted').notNull().default(false),
  /** Null for requests from before it was stored. */
  callHash: c.text('call_hash'),
  createdAt: c.time('created_at').notNull(),
  /** When the request expires; null if it does not. */
  deadline: c.time('deadline'),
  decidedAt: c.time('decided_at'),
  /** Null for what no person decided, and for decisions from before it was stored. */
  decidedBy: c.key<UserId>('decided_by'),
  decidedThrough: c.choice<DecidedThrough>('decided_through'),
})

type Runs = Pick<ReturnType<typeof defineRunTables>, 'runs'>

/** Questions that MCP servers ask the person while a call runs, with the answers. */
const defineRunInputs = (c: Columns, { runs }: Runs) =>
  c.table(
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
      /** Removed when the question is closed. */
      answer: c.json<InputAnswer>('answer'),
      status: c.choice<RequestState>('status').notNull().default('pending'),
      /** Set when its call has a result or its run has ended: from then on, the row is only history. */
      closedAt: c.time('closed_at'),
      ...requestColumns(c),
    },
    (t) => [
      c.primaryKey({ columns: [t.runId, t.idRef] }),
      c.uniqueIndex('run_inputs_id').on(t.id),
      c.index('run_inputs_user').on(t.userId, t.createdAt, t.id),
    ],
  )

/** Links with which a request can be decided. They stay after their end, so that they are not taken for guesses. */
const defineApprovalLinks = (c: Columns, { runs }: Runs) =>
  c.table(
    'approval_links',
    {
      /** The hash of the token. */
      hash: c.text('hash').primaryKey(),
      runId: c
        .key<RunId>('run_id')
        .notNull()
        .references(() => runs.id, { onDelete: 'cascade' }),
      approvalId: c.text('approval_id').notNull(),
      /** Who made it, and who alone can approve with it. */
      userId: c.key<UserId>('user_id').notNull(),
      /** The hash of the call that it is for. */
      callHash: c.text('call_hash').notNull(),
      createdAt: c.time('created_at').notNull(),
      expiresAt: c.time('expires_at').notNull(),
    },
    (t) => [
      c.index('approval_links_request').on(t.approvalId, t.expiresAt),
      c.index('approval_links_run').on(t.runId),
    ],
  )

/** A run waits until each of its rows has a decision or an answer. The rows stay when the run ends. */
export function defineApprovalTables(c: Columns, { runs }: Runs) {
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
      status: c.choice<RequestState>('status').notNull(),
      reason: c.text('reason'),
      /** Arguments that the person changed. */
      decidedArguments: c.text('decided_arguments'),
      /** Whether an app of an MCP server made the call: the request does not end with the run. */
      byApp: c.boolean('by_app').notNull().default(false),
      ...requestColumns(c),
    },
    (t) => [
      c.primaryKey({ columns: [t.runId, t.idRef] }),
      c
        .index('approvals_by_app')
        .on(t.createdAt)
        .where(sql`${t.byApp} and ${t.status} = 'pending'`),
      c.uniqueIndex('approvals_id').on(t.id),
      c.index('approvals_user').on(t.userId, t.createdAt, t.id),
      c
        .index('approvals_user_pending')
        .on(t.userId, t.createdAt, t.id)
        .where(sql`${t.status} = 'pending'`),
    ],
  )

  const runInputs = defineRunInputs(c, { runs })

  const approvalLinks = defineApprovalLinks(c, { runs })

  /** Which entries of their user's list `ask` were used for a request, each once. */
  const requestNotices = c.table(
    'request_notices',
    {
      requestId: c.text('request_id').notNull(),
      /** `push` or `channel:<name>`, and after how many seconds. */
      through: c.text('through').notNull(),
      runId: c
        .key<RunId>('run_id')
        .notNull()
        .references(() => runs.id, { onDelete: 'cascade' }),
      at: c.time('at').notNull(),
    },
    (t) => [
      c.primaryKey({ columns: [t.requestId, t.through] }),
      c.index('request_notices_run').on(t.runId),
    ],
  )

  return { approvals, runInputs, approvalLinks, requestNotices }
}
