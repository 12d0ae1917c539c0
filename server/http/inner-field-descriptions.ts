// Descriptions for the API reference, continued: documents, keys, statistics, and objects inside other objects.
import type { z } from 'zod'
import type { ApiKey } from '../protocol/accounts/user.ts'
import type { Price } from '../protocol/models/catalog.ts'
import type { Document, DocumentPassage } from '../protocol/projects/knowledge.ts'
import type { PendingInput } from '../protocol/runs/input.ts'
import type { RunFailure } from '../protocol/runs/run.ts'
import type { PendingApproval } from '../protocol/runs/run-event.ts'
import type { AnswerTiming } from '../protocol/runs/run-timeline.ts'
import type { TokenStats } from '../protocol/runs/stats.ts'
import type { Usage } from '../protocol/runs/usage.ts'
import type { Fields } from './describe-fields.ts'

const tokens = {
  prompt_tokens: 'Tokens that the models read.',
  completion_tokens: 'Tokens that the models wrote, including those of thinking.',
  total_tokens: 'The sum of `prompt_tokens` and `completion_tokens`.',
  cached_tokens: 'The part of `prompt_tokens` that providers read from their caches.',
  cost: 'The cost by currency, from the prices at the time of use. Empty: the models have no price.',
} satisfies Fields<Usage>

const apiKey = {
  id: 'Identifies the key.',
  name: 'A name by which you recognize the key.',
  prefix: 'The first characters of the key.',
  scopes:
    'What the key may do. `read`: GET requests under `/api`; `api`: everything under `/api` except administration; `admin`: administration, too; `v1`, `mcp`: the interfaces at these paths. Null: everything that its owner may do, except creating keys and managing sessions and the password.',
  created_at: 'When it was created.',
  expires_at: 'When the key stops working. Null: never.',
  last_used_at: 'When the key was last used. Null: never.',
} satisfies Fields<z.infer<typeof ApiKey>>

/** By the id of a schema in the reference. */
export const MORE_DESCRIPTIONS = {
  Document: {
    id: 'Identifies the document.',
    name: 'The name of the file.',
    size: 'The size of the file in bytes.',
    status: '`pending`: it is being read; `ready`: search can find it; `failed`: see `error`.',
    error: 'Why the document could not be read, for a person. Null: no error.',
    reason: 'The machine-readable reason of `error`. Null: no error.',
    params: 'The values in the text of `error`, for translations.',
    passages: 'The number of indexed passages. It grows while the document is pending.',
    created_at: 'When it was created.',
  } satisfies Fields<Document>,
  DocumentPassage: {
    position: 'The position within the document, from 0.',
    heading: 'The heading above the passage. Null: none.',
    page: 'The page of the passage, from 1. Null for formats without pages.',
    text: 'The text of the passage.',
  } satisfies Fields<z.infer<typeof DocumentPassage>>,
  ApiKey: apiKey,
  CreateApiKey: apiKey,
  TokenStats: {
    ...tokens,
    cache_write_tokens: 'The part of `prompt_tokens` that providers wrote to their caches.',
    reasoning_tokens: 'The part of `completion_tokens` that models thought with.',
    period: 'Today, the last 7 days or the last 30 days, in UTC.',
    by_model: 'The same numbers by model id.',
    daily: 'The same numbers by date (`YYYY-MM-DD`, UTC). Absent for `daily`.',
    hourly: 'The same numbers by hour (`00` to `23`, UTC). Only for `daily`.',
  } satisfies Fields<TokenStats>,
} as const

/** By the name of the field that contains the object, or a list of such objects. */
export const INNER_DESCRIPTIONS = {
  usage: tokens,
  timing: {
    first_output_ms:
      'Milliseconds until the first thinking, text or tool call. Null: there was none.',
    duration_ms:
      'Milliseconds from the start of the first call to the end of the last, including waits for a person.',
    reasoning_tokens: 'The part of the completion tokens that the models thought with.',
    cache_write_tokens: 'The part of the prompt tokens that providers wrote to their caches.',
  } satisfies Fields<AnswerTiming>,
  price: {
    currency: 'The currency of all rates.',
    input: 'Per million input tokens.',
    output: 'Per million output tokens.',
    cached_input: 'Per million tokens that the provider read from its cache. Default: `input`.',
    cache_write: 'Per million tokens that the provider wrote to its cache. Default: `input`.',
    reasoning: 'Per million tokens of thinking. Default: `output`.',
    tiers: 'Other rates for the whole request if its input has more than `above` tokens.',
  } satisfies Fields<Price>,
  pending_approvals: {
    id_ref: 'The id of the tool call. Send it back with your decision.',
    name: 'The name of the tool.',
    arguments: 'The arguments as JSON text.',
    risk_level: 'How much harm the call can do.',
    preview: 'What the call would do. Absent: no preview is available.',
  } satisfies Fields<PendingApproval>,
  pending_inputs: {
    id_ref: 'Identifies the question. Send it back with your answer.',
    call_ref: 'The id of the tool call that waits for the answer.',
    server: 'The name of the MCP server that asks.',
    host: 'The host of the server. Null: a program on the machine of this server.',
    mode: '`form`: fill in `schema`; `url`: open `url`.',
    message: 'The question.',
    schema: 'The form. Only for `form`.',
    url: 'The page to open. Only for `url`.',
  } satisfies Fields<PendingInput>,
  error: {
    content: 'Why the run failed, as a text for a person.',
    code: 'The error code.',
    retryable: 'Whether another attempt may succeed.',
    reason: 'A more specific reason than `code`. Absent in runs from before it was stored.',
    params: 'The values in the text, for translations.',
  } satisfies Fields<RunFailure>,
} as const
