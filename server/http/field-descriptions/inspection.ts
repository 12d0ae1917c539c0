// Descriptions for the API reference: the timeline and the record of a run.
import type { z } from 'zod'
import type {
  PromptChange,
  RecordedCall,
  RecordedExchange,
  RecordedResponse,
  RunRecord,
  StoredEvent,
} from '../../protocol/runs/run-record.ts'
import type { RunTimeline, TimelineEntry } from '../../protocol/runs/run-timeline.ts'
import { type FieldsOf, within } from './describe-fields.ts'
import { MORE_TOKENS, SKIPPED, TIMING, USAGE } from './runs.ts'

const response = {
  status: 'The HTTP status. Null: there was no response.',
  request_id: 'The id that the provider gave the request. Null: none.',
  headers_ms: 'Milliseconds until the head of the response. Null: there was none.',
  end_ms: 'Milliseconds until the end of the response. Null: there was none.',
  error: 'The beginning of a failed response, or why there was none. Null: it did not fail.',
  thinking: 'The thinking of the model.',
  text: 'The text of the model.',
  calls: within('The tool calls of the model.', {
    name: 'The name of the tool.',
    arguments: 'The arguments as JSON text.',
  }),
  finish: 'Why the response ended: `stop`, `tool_calls` or `length`. Null: unknown.',
  usage: within('The tokens that the provider reported. Null: none.', {
    prompt_tokens: 'Tokens that the model read.',
    completion_tokens: 'Tokens that the model wrote, including those of thinking.',
    cached_tokens: USAGE.cached_tokens,
    ...MORE_TOKENS,
  }),
  cut: 'Whether the response is longer than what is stored of it.',
} satisfies FieldsOf<z.infer<typeof RecordedResponse>>

const exchange = {
  model: 'The id of the requested model.',
  sent_at: 'When the request was sent.',
  method: 'Always `POST`.',
  url: 'The URL, without keys.',
  headers: 'The headers by name, with `$API_KEY` in place of keys.',
  body: within('The fields of the JSON object that was sent, in order.', {
    name: 'The name of the field.',
    json: 'Its value as JSON text. Absent: it consists of parts.',
    part: 'The hash of the part that is its value. Absent: it has another form.',
    parts: 'The hashes of the parts in the array that is its value. Absent: it has another form.',
  }),
  response: within('The response.', response),
} satisfies FieldsOf<RecordedExchange>

const change = {
  previous: within('The call that it is compared with.', {
    run_id: 'The run of the call.',
    call: 'The number of the call in that run, from 1.',
  }),
  other_model:
    'Whether the previous call used another model, so that no cache could contain this prompt.',
  prompt_tokens: 'Estimated tokens of the whole prompt.',
  same_tokens: 'Estimated tokens of its unchanged beginning.',
  first: within(
    'The first part that differs. Null: nothing changed, or parts were only appended.',
    {
      field: 'The field of the body.',
      index: 'The position in the array of the field, from 0. Null: the field is one part.',
      kind: 'How the part differs.',
      before: 'The hash of the part in the previous call. Null: there was none.',
      after: 'The hash of the part in this call. Null: there is none.',
      tools: within('If the tools differ: how. Null: they do not.', {
        added: 'Names of the added tools.',
        removed: 'Names of the removed tools.',
        changed: 'Names of the changed tools.',
      }),
    },
  ),
  options: 'Names of other fields whose values differ, such as `temperature`.',
  resent_tokens: 'Estimated tokens after the first change that were sent before, and read again.',
  extra_cost:
    'What these tokens cost more than cached ones, by currency, at the current price of the model. Empty: unknown.',
} satisfies FieldsOf<PromptChange>

const recordedCall = {
  number: 'The number of the model call in the run, from 1.',
  exchanges: within('The requests of the call, in order: one for each attempt.', exchange),
  change: within(
    'How the prompt differs from that of the previous call of the conversation. Null: there is none, or it is not recorded.',
    change,
  ),
} satisfies FieldsOf<RecordedCall>

const storedEvent = {
  what: 'What was stored. `accepted`: the message and the run; `text`: a part of a text; `model_call`: the end of a model call; `call_begun` and `result`: of a tool call; `approval` and `decision`: of an approval request; `end`: the end of the run; `suspended`: the run at a shutdown.',
  at: 'When it was durable.',
  id_ref: 'The id of the tool call. Absent: it is about none.',
  count: 'The number of such transactions in a row. Absent: 1.',
  last_at: 'When the last of several was durable. Absent: there is only one.',
  attempt: 'The attempt at the run, from 1.',
  instance: 'The process that stored it. Null: unknown.',
} satisfies FieldsOf<StoredEvent>

/** By the id of a schema in the reference. */
export const INSPECTION_DESCRIPTIONS = {
  TimelineEntry: {
    kind: 'Whether it is a model call or a tool call.',
    started_at: 'When the call began.',
    duration_ms: 'How long the call took, in milliseconds.',
    attempt: 'The attempt at the run that made the call. Absent for the first one.',
    model: 'The id of the model that answered, or of the run if none did.',
    first_output_ms: TIMING.first_output_ms,
    outcome: 'How the model call ended.',
    tool_calls: 'The number of tool calls that the model requested.',
    prompt_tokens: 'Tokens that the model read.',
    completion_tokens: 'Tokens that the model wrote, including those of thinking.',
    cached_tokens: USAGE.cached_tokens,
    cache_write_tokens: `${MORE_TOKENS.cache_write_tokens} Absent: not recorded.`,
    reasoning_tokens: MORE_TOKENS.reasoning_tokens,
    estimated: 'Whether the tokens are estimated, because the provider reported none.',
    cost: USAGE.cost,
    retries: within('Failed attempts at the model call, in order.', {
      after_ms: 'Milliseconds from the start of the call to the failure.',
      delay_ms: 'Milliseconds of waiting before the next attempt.',
      reason: 'The machine-readable reason of the failure.',
      next_model: 'The name of the model of the next attempt. Absent: the same.',
    }),
    id_ref: 'The id of the tool call.',
    name: 'The name of the tool.',
    success: 'Whether the tool call succeeded.',
    skipped: SKIPPED,
    cached: 'Whether the result of an equal earlier call was used.',
    sub_agents: within('What the sub-agents of the tool call did in all. Absent: it had none.', {
      model_calls: 'The number of their model calls.',
      tool_calls: 'The number of their tool calls.',
      prompt_tokens: 'Tokens that their models read.',
      completion_tokens: 'Tokens that their models wrote, including those of thinking.',
      cost: USAGE.cost,
    }),
  } satisfies FieldsOf<TimelineEntry>,
  RunTimeline: {
    run_id: 'The run.',
    entries:
      'The first 500 model calls and tool calls. Empty for runs from before they were stored.',
  } satisfies FieldsOf<RunTimeline>,
  RunRecord: {
    run_id: 'The run.',
    calls: within('The model calls of the run, in order.', recordedCall),
    parts: within('The parts of prompts by hash. A missing one is no longer stored.', {
      json: 'The part as JSON text. Images and files are replaced by their type and size.',
      characters: 'The length of the part; more than `json` has if it was too long to be stored.',
    }),
    tools: within('The tool calls of the run, in order.', {
      id_ref: 'The id of the tool call.',
      name: 'The name of the tool.',
      arguments: 'The arguments as JSON text.',
      result: 'The result as JSON text. Null: there is none yet.',
      characters: 'The length of both texts. Absent: they are complete.',
    }),
    stored: within('The transactions of the run that were committed, in order.', storedEvent),
    keep_days: 'Days after which requests and responses are removed. 0: they are not recorded.',
  } satisfies FieldsOf<RunRecord>,
}
