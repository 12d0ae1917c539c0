// Descriptions for the API reference: runs, steps, approvals, questions of MCP servers, usage.

import type { z } from 'zod'
import type { Approval } from '../../protocol/runs/approval.ts'
import type {
  ApprovalLink,
  ApprovalLinkBody,
  LinkDecided,
  LinkDecisionBody,
  LinkedApproval,
} from '../../protocol/runs/approval-link.ts'
import type { BackgroundTask } from '../../protocol/runs/background.ts'
import type { InputAnswerBody, PendingInput } from '../../protocol/runs/input.ts'
import type { ApprovalDecisionBody, Run, RunFailure } from '../../protocol/runs/run.ts'
import type {
  ApprovalPreview,
  PendingApproval,
  ReachedLimit,
} from '../../protocol/runs/run-event.ts'
import type { ListedRun } from '../../protocol/runs/run-list.ts'
import type { AnswerTiming } from '../../protocol/runs/run-timeline.ts'
import type { TokenStats } from '../../protocol/runs/stats.ts'
import type { Step } from '../../protocol/runs/step.ts'
import type { SubAgentView } from '../../protocol/runs/tool-progress.ts'
import type { Usage } from '../../protocol/runs/usage.ts'
import { type Descriptions, type FieldsOf, within } from './describe-fields.ts'
import { DECIDED_GRANT } from './grants.ts'
import { CREATED, REASON } from './shared.ts'

/** Tokens and cost of model calls. */
export const USAGE = {
  prompt_tokens: 'Tokens that the models read.',
  completion_tokens: 'Tokens that the models wrote, including those of thinking.',
  total_tokens: 'The sum of `prompt_tokens` and `completion_tokens`.',
  cached_tokens: 'The part of `prompt_tokens` that providers read from their caches.',
  cost: 'The cost by currency, from the prices at the time of use. Empty: the models have no price.',
} satisfies FieldsOf<Usage>
/** Parts of the tokens that `USAGE` does not name. */
export const MORE_TOKENS = {
  cache_write_tokens: 'The part of `prompt_tokens` that providers wrote to their caches.',
  reasoning_tokens: 'The part of `completion_tokens` that models thought with.',
}

/** How long an answer took. */
export const TIMING = {
  first_output_ms:
    'Milliseconds until the first thinking, text or tool call. Null: there was none.',
  duration_ms: 'Milliseconds in which at least one call ran, so without waiting for a person.',
  reasoning_tokens: 'The part of the completion tokens that the models thought with.',
  cache_write_tokens: 'The part of the prompt tokens that the providers wrote to their caches.',
} satisfies FieldsOf<AnswerTiming>

const preview: Descriptions = {
  display: 'One line that says what the call would do.',
  display_code: 'The machine-readable form of `display`, for translations.',
  display_params: 'The values in the text of `display`, by placeholder, for translations.',
  diff: 'The change of a file as a unified diff.',
  command: 'The command that would run.',
  warning: 'A warning, for example that the call is not isolated from the host.',
  warning_code: 'The machine-readable form of `warning`, for translations.',
} satisfies Partial<FieldsOf<ApprovalPreview>>

const pendingApprovals = within('Tool calls that wait for your decision.', {
  id_ref: 'The id of the tool call. Send it back with your decision.',
  approval_id: 'Its id in `GET /api/approvals`.',
  call_hash:
    'The SHA-256, in hex, of the canonical JSON (RFC 8785) of `arguments`, `id_ref`, `name` and `run_id`. Send it back, so that you decide only what you were shown.',
  deadline: 'When the request expires. Null: it does not.',
  name: 'The name of the tool.',
  arguments: 'The arguments as JSON text.',
  risk_level: 'How much harm the call can do.',
  preview: within('What the call would do. Absent: no preview is available.', preview),
  origin:
    '`app`: an app of an MCP server made the call, which waits also after the run. Absent: the model did.',
} satisfies FieldsOf<PendingApproval>)

const choice = { const: 'The value.', title: 'The text for a person.' }
const PENDING_INPUT = {
  id_ref: 'Identifies the question. Send it back with your answer.',
  call_ref: 'The id of the tool call that waits for the answer.',
  server: 'The name of the MCP server that asks.',
  host: 'The host of the server. Null: a program on the machine of this server.',
  mode: '`form`: fill in `schema`; `url`: open `url`.',
  message: 'The question.',
  schema: within('The form: a part of JSON Schema. Only for `form`.', {
    type: 'Always `object`.',
    properties: within('The fields of the form by name.', {
      type: 'The type of the value.',
      title: 'The label of the field. Absent: its name.',
      description: 'What to enter. Absent: nothing is said.',
      default: 'The value at first. Absent: none.',
      minLength: 'The minimum number of characters. Absent: 0.',
      maxLength: 'The maximum number of characters. Absent: no limit.',
      format: 'The format of the text. Absent: any.',
      minimum: 'The smallest number. Absent: no limit.',
      maximum: 'The largest number. Absent: no limit.',
      oneOf: within('The values of which one can be chosen.', choice),
      minItems: 'The minimum number of chosen values. Absent: 0.',
      maxItems: 'The maximum number of chosen values. Absent: no limit.',
      items: within('The values of which several can be chosen.', {
        anyOf: within('The values.', choice),
      }),
    }),
    required: 'Names of the fields that must be filled in. Absent: none.',
  }),
  url: 'The page to open. Only for `url`.',
} satisfies FieldsOf<PendingInput>
const pendingInputs = within('Questions of MCP servers that wait for your answer.', PENDING_INPUT)

/** Where a run or a message comes from. */
export const ORIGIN = within('What started the run.', {
  type: '`page`: a person; `api`: a program with an API key; `schedule`, `hook`, `channel`: something that happens while nobody looks; `app`: a page that an answer has made.',
  id: 'Identifies the schedule, hook or channel. Absent for others.',
  name: 'Its name. Absent for others.',
  sender: within('Who wrote at a messenger. Absent for others.', {
    id: 'Identifies the sender here.',
    external_id: 'Identifies the sender at the messenger.',
    name: 'The name of the sender at the messenger.',
  }),
})

const failure = {
  content: 'Why the run failed, as a text for a person.',
  code: 'The error code.',
  retryable: 'Whether another attempt may succeed.',
  reason: 'A more specific reason than `code`. Absent in runs from before it was stored.',
  params: 'The values in the text, by placeholder, for translations.',
} satisfies FieldsOf<RunFailure>

const run = {
  id: 'Identifies the run.',
  conversation_id: 'The conversation of the run.',
  message_id: 'The assistant message that the run writes.',
  user_message_id: 'The user message that the run answers. Null for background tasks.',
  status: 'The status of the run. `completed`, `stopped`, `failed` and `interrupted` are final.',
  model: 'The id of the model.',
  origin: ORIGIN,
  usage: within('Tokens and cost so far.', USAGE),
  finish_reason: 'Why the run ended. Null while it is unfinished, and if it failed.',
  limit: 'The limit that ended the run with `budget`. Null: none.',
  error: within('Why the run failed. Null: it did not fail.', failure),
  pending_approvals: pendingApprovals,
  pending_inputs: pendingInputs,
  created_at: CREATED,
  ended_at: 'When the run ended. Null while it is unfinished.',
} satisfies FieldsOf<Run>

/** What `skipped` says of a tool call. */
export const SKIPPED =
  'Whether the tool did not run, because the call was rejected or a limit was reached.'

const step = {
  id: 'Identifies the step within its message: `step-` and the index.',
  index: 'The position within the message, from 0.',
  type: 'The kind of step.',
  content: 'The text of the step. In a tool result: the JSON text that the model receives.',
  duration_ms: 'How long the model thought, in milliseconds. Absent while it thinks, or unknown.',
  id_ref: 'The id of the tool call. The call and its result have the same.',
  name: 'The name of the tool.',
  arguments: 'The arguments as JSON text, exactly as the model wrote them.',
  grant_id: 'The grant that let the call through. Absent: it needed none.',
  skipped: SKIPPED,
  artifact: 'What a person sees of the result. Absent: nothing besides the text.',
  origin:
    '`app`: an app of an MCP server made the call, beside the answer; models do not learn of it. Absent: the model did.',
} satisfies FieldsOf<Step>

const agents = within('The sub-agents of the call and what they did.', {
  name: 'The name of the sub-agent.',
  state: 'What the sub-agent is doing.',
  text: 'The end of its latest text.',
  calls: within('Its tool calls, in order.', {
    name: 'The name of the tool.',
    arguments: 'The arguments as JSON text, shortened if they are long.',
    state: 'The state of the call.',
    grant_id: 'The grant that let the call through. Absent: it needed none.',
  }),
} satisfies FieldsOf<SubAgentView>)

const tokens = {
  prompt_tokens: USAGE.prompt_tokens,
  completion_tokens: USAGE.completion_tokens,
  total_tokens: USAGE.total_tokens,
  cached_tokens: USAGE.cached_tokens,
  ...MORE_TOKENS,
}
const tokensByBothNames = {
  ...tokens,
  prompt: 'The same as `prompt_tokens`.',
  completion: 'The same as `completion_tokens`.',
  total: 'The same as `total_tokens`.',
}

/** By the id of a schema in the reference. */
export const RUN_DESCRIPTIONS = {
  Step: step,
  Artifact: {
    display: 'One line that summarizes the result.',
    diff: 'The change of a file as a unified diff.',
    added: 'The number of added lines.',
    removed: 'The number of removed lines.',
    untrusted: 'Whether the result contains text from outside.',
    agents,
    files: within('Files and images that the call created.', {
      name: 'The name of the file.',
      mime: 'The media type.',
      size: 'The size in bytes.',
      data: 'The content as a data URL. Absent: it is stored elsewhere.',
      file_id: 'The attachment of the answer that the file became. Absent: none.',
      for_model: 'Whether models that accept images see it with the result.',
    }),
    app: within('The app of an MCP server that shows the result.', {
      server: 'The name of the server.',
      uri: 'The address of its document, for `GET /api/mcp/apps/{server}`.',
      tool: 'The name of the tool at its server.',
    }),
    app_result:
      'The result as the MCP server sent it, for its app. Absent: the result has no app, or is long.',
  },
  Run: run,
  ListedRun: {
    id: run.id,
    conversation_id: run.conversation_id,
    conversation_title: 'The title of the conversation. Empty: it has none.',
    message_id: run.message_id,
    kind: '`chat`: the answer to a message; `background`: a background task.',
    status: run.status,
    model: run.model,
    usage: run.usage,
    created_at: run.created_at,
    ended_at: run.ended_at,
  } satisfies FieldsOf<ListedRun>,
  BackgroundTask: {
    id: 'Identifies the task and its run.',
    task: 'What the model was asked to do.',
    announce: 'Whether its answer is added to the conversation when it is done.',
    status: run.status,
    message_id: 'The message with its answer.',
    result: 'Its answer. Empty until there is one.',
    error: 'Why it failed, for a person. Null: it did not.',
    ...REASON,
    usage: run.usage,
    pending_approvals: pendingApprovals,
    created_at: CREATED,
    ended_at: 'When it ended. Null while it is unfinished.',
  } satisfies FieldsOf<BackgroundTask>,
  ApprovalDecision: {
    id_ref: 'The id of the tool call, from `pending_approvals`.',
    decision: 'Whether to run the call.',
    reason: 'Why you reject the call. The model reads it.',
    arguments: 'Arguments to run the tool with instead of those of the model.',
    remember:
      'Approves later calls, too: all of the tool in this run or in this conversation, or those that `grant` describes.',
    grant: within('The grant that the approval also stores, in one transaction.', DECIDED_GRANT),
    call_hash: 'The hash that you were shown. With any other, nothing is decided.',
  } satisfies FieldsOf<ApprovalDecisionBody>,
  Approval: {
    id: 'Identifies the request.',
    type: '`approval`: a tool call waits for permission; `input`: an MCP server asks a question.',
    run_id: 'The run that waits.',
    id_ref: 'The id of the tool call, or of the question.',
    conversation_id: 'The conversation of the run.',
    conversation_title: 'The title of the conversation. Null: you decide for somebody else.',
    project_id: 'The project of the run. Null: none.',
    person: within('Whose run it is. Null: yours.', {
      id: 'Identifies the account.',
      name: 'The name of the account.',
    }),
    origin: ORIGIN,
    name: 'The tool. Only for approvals.',
    arguments:
      'The arguments as the model wrote them, without defaults. Only for approvals; decisions do not change it.',
    risk_level: 'How much harm the call can do. Only for approvals.',
    preview: within('What the call would do. Absent: no preview is available.', preview),
    input: within('The question. Only for `input`.', PENDING_INPUT),
    partial:
      'In lists, `true` where `arguments`, `decided_arguments` and `preview` are left out because they are long; `GET /api/approvals/:id` has them.',
    tainted: 'Whether the conversation contained text from outside.',
    call_hash:
      'The SHA-256, in hex, of the canonical JSON (RFC 8785) of `arguments`, `id_ref`, `name` and `run_id`.',
    requested_at: 'When the run began to wait.',
    deadline: 'When the request expires. Null: it does not.',
    state:
      '`pending`: it waits; `expired`: nobody decided in time; `void`: the run no longer needs the decision.',
    decided_at: 'When it was decided. Null: it was not.',
    decided_by: within('Who decided. Null: nobody, or a deleted account.', {
      id: 'Identifies the account.',
      name: 'The name of the account.',
    }),
    decided_through:
      'How the decision came. Null: it was not decided, or is from before this was stored.',
    decided_arguments: 'The arguments that a person changed. Absent: none.',
    reason: 'Why a person rejected the call. Null: no reason.',
  } satisfies FieldsOf<Approval>,
  ApprovalLinkBody: {
    expires_in: 'Seconds until the link expires. Default: 3600.',
  } satisfies FieldsOf<z.infer<typeof ApprovalLinkBody>>,
  ApprovalLink: {
    url: 'The link. Its token is not stored and cannot be read later.',
    expires_at: 'When the link expires; it ends earlier with the decision.',
  } satisfies FieldsOf<z.infer<typeof ApprovalLink>>,
  LinkedApproval: {
    approval: 'The request, without the title of its conversation.',
    may_approve:
      '`yes`: you can approve the call here; `sign_in_required`: only the person who made the link can, signed in; `open_the_page`: only the page can.',
    expires_at: 'When the link expires.',
  } satisfies FieldsOf<LinkedApproval>,
  LinkDecision: {
    decision: 'Whether to run the call.',
    reason: 'Why you reject the call. The model reads it.',
  } satisfies FieldsOf<LinkDecisionBody>,
  LinkDecided: {
    decision: 'What was decided.',
  } satisfies FieldsOf<z.infer<typeof LinkDecided>>,
  InputAnswer: {
    id_ref: 'The id of the question, from `pending_inputs`.',
    action: '`accept`: answers it; `decline`: refuses; `cancel`: closes it without an answer.',
    content: 'The value of each field of the form by name. Only with `accept`.',
    call_hash: 'The hash that you were shown. With any other, nothing is answered.',
  } satisfies FieldsOf<InputAnswerBody>,
  ReachedLimit: {
    content: 'Which limit was reached, as a text for a person.',
    reason: 'The machine-readable reason.',
    params: 'The values in the text, by placeholder, for translations.',
    complete:
      'Whether the answer was complete when it went beyond the limit. There is nothing to resume then. Default: `false`.',
  } satisfies FieldsOf<ReachedLimit>,
  TokenStats: {
    ...tokens,
    cost: USAGE.cost,
    period: 'Today, the last 7 days or the last 30 days, in UTC.',
    by_model: within('The same numbers by model id.', { ...tokensByBothNames, cost: USAGE.cost }),
    daily: within(
      'The same numbers by date (`YYYY-MM-DD`, UTC). Absent for `daily`.',
      tokensByBothNames,
    ),
    hourly: within(
      'The same numbers by hour (`00` to `23`, UTC). Only for `daily`.',
      tokensByBothNames,
    ),
  } satisfies FieldsOf<TokenStats>,
}
