// Descriptions for the API reference: what an answer did, planned and cited.
import type { z } from 'zod'
import type {
  Citation,
  CitedPassage,
  ShownCitation,
} from '../../protocol/conversations/citation.ts'
import type { EditPlanBody, Plan, PlanItem } from '../../protocol/runs/plan.ts'
import type { Receipt, ReceiptCounts, ReceiptSummary } from '../../protocol/runs/receipt.ts'
import { type FieldsOf, within } from './describe-fields.ts'
import { USAGE } from './runs.ts'

const planItem = {
  id: 'Identifies the step within the plan.',
  text: 'What is to be done.',
  state: '`open`, `doing`, `done`, or `dropped`: it is not needed any more.',
} satisfies FieldsOf<PlanItem>

/** What an answer did, in four numbers. */
const COUNTS = {
  files: 'Files that differ after the answer.',
  commands: 'Commands that ran.',
  sent: 'Messages that were sent.',
  unresolved: 'Failed calls that nothing made good.',
} satisfies FieldsOf<ReceiptCounts>

const citation = {
  id: 'The name by which the answer refers to it, in brackets: `[c1]`.',
  source:
    'Where the quote was found, as the model named it: the id of a tool call, a result handle, `document:<id>` or the path of a file.',
  title: 'The title of the page, or the name of the document or file.',
  url: 'The address of the page. Absent: it is no page.',
  document_id: 'The document. Absent: it is no document.',
  page: 'The page of the document. Absent: it has none.',
  quote: 'The text as it stands in the source.',
  start: 'The position of the first character in the text of the source, in UTF-16 units.',
  end: 'The position behind the last character.',
} satisfies FieldsOf<ShownCitation>

const stored = {
  ...citation,
  before: 'Up to 500 characters of the source before the quote.',
  after: 'Up to 500 characters of the source behind it.',
} satisfies FieldsOf<Citation>

/** By the id of a schema in the reference. */
export const RECEIPT_DESCRIPTIONS = {
  Receipt: {
    calls: within('The tool calls of the answer and its sub-agents.', {
      total: 'All calls.',
      failed: 'Calls that ran and failed.',
      rejected: 'Calls that a person rejected.',
      expired: 'Calls that nobody decided in time.',
      parked: 'Calls that still waited for a person when the run ended.',
    }),
    files: within('Files that differ after the answer: one entry per path.', {
      path: 'The path in the project.',
      change: 'How the file differs from before the answer.',
      added: 'Lines added. Null: they cannot be counted.',
      removed: 'Lines removed. Null: they cannot be counted.',
      checkpoint_id:
        'The first checkpoint of the answer that has the file; restoring it undoes the change. Null: it is gone.',
    }),
    commands: within('Commands that ran, in order.', {
      command: 'The command.',
      exit_code: 'Its exit code. Null: it was killed.',
      id_ref: 'The id of the call.',
    }),
    sent: within('Messages that were sent, in order.', {
      to: 'The id of a conversation, or `channel:<name>`.',
      delivered: 'Whether it arrived. Null: it is on its way, or unknown.',
    }),
    remembered: 'Facts that were added to the memory.',
    scheduled: 'Ids of the schedules that the answer created or changed.',
    sources: within('What the answer rests on.', {
      read: 'Successful calls of tools that read.',
      cited: 'Different sources that the answer cites.',
    }),
    unfinished: within('Steps of the plan that are neither done nor dropped.', planItem),
    unresolved: within(
      'Failed calls that no later successful call of the same tool with the same target made good.',
      {
        id_ref: 'The id of the call.',
        name: 'The name of the tool.',
        error: 'Why it failed, at most 300 characters.',
      },
    ),
    grants_used: 'The ids of the grants that let calls through without asking.',
    usage: within('Tokens and cost of the run. Null: there was none here.', USAGE),
    imported: 'Whether this is a copy from an export. Absent: it is not.',
  } satisfies FieldsOf<Receipt>,
  ReceiptCounts: COUNTS,
  ReceiptSummary: {
    ...COUNTS,
    acted: 'Whether the answer used a tool that can do harm (risk medium or high).',
    changed:
      'Whether anything is different afterwards: files, messages, memory, schedules, or commands that succeeded.',
  } satisfies FieldsOf<ReceiptSummary>,
  ProgramReceipt: { receipt: 'What the answer did, in numbers.' },
  Plan: {
    items: within('The steps, in order.', planItem),
    edited_by: within('The person who changed it last. Null: the model wrote it.', {
      id: 'The id of the account.',
      name: 'Its name.',
    }),
  } satisfies FieldsOf<Plan>,
  EditPlan: {
    items: within('All steps, in order, at most 30. Each needs an id of its own.', planItem),
  } satisfies FieldsOf<z.infer<typeof EditPlanBody>>,
  StoredCitation: stored,
  Citation: citation,
  CitedPassage: {
    ...stored,
    passage: 'The quote with the text around it.',
  } satisfies FieldsOf<z.infer<typeof CitedPassage>>,
}
