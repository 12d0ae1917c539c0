// What a run exchanged with providers and stored, in detail: requests (in parts that are stored once), responses, tool
// calls.
import { z } from 'zod'
import { Timestamp } from '../envelope.ts'
import { CallId, RunId } from '../ids.ts'

/** The hash of a part's content, which names the part. */
const PartHash = z.string().max(64)

const RecordedField = z.union([
  z.object({ name: z.string(), json: z.string() }),
  z.object({ name: z.string(), part: PartHash }),
  z.object({ name: z.string(), parts: z.array(PartHash) }),
])
/** A field of a request's body, as recorded: JSON text, one part, or an array of parts. */
export type RecordedField = z.infer<typeof RecordedField>

const RecordedUsage = z.object({
  prompt_tokens: z.int().min(0),
  completion_tokens: z.int().min(0),
  cached_tokens: z.int().min(0),
  cache_write_tokens: z.int().min(0),
  reasoning_tokens: z.int().min(0),
})

export const RecordedResponse = z.object({
  /** Null if there was none. */
  status: z.int().nullable(),
  /** The provider's id of the request. */
  request_id: z.string().nullable(),
  /** Milliseconds until its head and its end; null if there was none. */
  headers_ms: z.int().min(0).nullable(),
  end_ms: z.int().min(0).nullable(),
  /** The beginning of the body of a failed response, or why there was none. */
  error: z.string().nullable(),
  thinking: z.string(),
  text: z.string(),
  calls: z.array(z.object({ name: z.string(), arguments: z.string() })),
  /** Why it ended: `stop`, `tool_calls`, `length`. */
  finish: z.string().nullable(),
  /** Null if the provider reported none. */
  usage: RecordedUsage.nullable(),
  /** Whether the response is longer than what is stored of it. */
  cut: z.boolean(),
})

/** One request to a provider and its response, as recorded. */
export const RecordedExchange = z.object({
  /** The id of the requested model. */
  model: z.string(),
  sent_at: Timestamp,
  method: z.literal('POST'),
  /** The URL, without keys. */
  url: z.string(),
  /** The headers, with `$API_KEY` in place of keys. */
  headers: z.record(z.string(), z.string()),
  /** The JSON object that was sent, its fields in order. */
  body: z.array(RecordedField),
  response: RecordedResponse,
})
export type RecordedExchange = z.infer<typeof RecordedExchange>

/** One part of a prompt, in the order in which providers read it: tools, system, messages. */
const PromptPlace = z.object({
  /** The field of the body. */
  field: z.string(),
  /** Its position in the field's array; null if the field is one part. */
  index: z.int().min(0).nullable(),
})

/** How a prompt differs from the previous call of the conversation, and what the provider could cache. */
export const PromptChange = z.object({
  /** The call that it is compared with. */
  previous: z.object({ run_id: RunId, call: z.int().min(1) }),
  /** Whether the previous call used another model, so that no cache could contain this prompt. */
  other_model: z.boolean(),
  /** Estimated tokens of the whole prompt, and of its unchanged beginning. */
  prompt_tokens: z.int().min(0),
  same_tokens: z.int().min(0),
  /** The first part that differs; null if parts were only appended or nothing changed. */
  first: z
    .object({
      ...PromptPlace.shape,
      kind: z.enum(['changed', 'added', 'removed']),
      /** The parts; null where there is none. */
      before: PartHash.nullable(),
      after: PartHash.nullable(),
      /** Names of tools that were added, removed and changed. */
      tools: z
        .object({
          added: z.array(z.string()),
          removed: z.array(z.string()),
          changed: z.array(z.string()),
        })
        .nullable(),
    })
    .nullable(),
  /** Fields of the body other than the prompt whose values differ, such as `temperature`. */
  options: z.array(z.string()),
  /** Estimated tokens after the first change that were sent before and had to be read again. */
  resent_tokens: z.int().min(0),
  /**
   * The additional cost of these compared with cached ones, at the model's current price, by currency; empty if unknown.
   */
  extra_cost: z.record(z.string(), z.number()),
})
export type PromptChange = z.infer<typeof PromptChange>

/** One model call of a run, with what it sent and received. */
export const RecordedCall = z.object({
  /** The number of the model call in the run, from 1: the n-th model call of its timeline. */
  number: z.int().min(1),
  /** One exchange per attempt at the call: retries, fallbacks, continued answers. */
  exchanges: z.array(RecordedExchange),
  /** Null for the first call of a conversation, and where the previous one is not recorded. */
  change: PromptChange.nullable(),
})
export type RecordedCall = z.infer<typeof RecordedCall>

/** A committed transaction of a run. */
export const StoredEvent = z.object({
  /**
   * `accepted`: the message and the run; `text`: text that was being written; `model_call`: the end of a model call with its
   * text, calls and usage; `call_begun`, `result`: of a tool call; `approval`, `decision`: of an approval request; `end`: the
   * end with its usage; `suspended`: at a shutdown.
   */
  what: z.enum([
    'accepted',
    'text',
    'model_call',
    'call_begun',
    'result',
    'approval',
    'decision',
    'end',
    'suspended',
  ]),
  /** When it was durable. */
  at: Timestamp,
  /** The call, for events of a tool call. */
  id_ref: z.string().optional(),
  /** The number of such transactions in a row, if there were several, the last of them at `last_at`. */
  count: z.int().min(2).optional(),
  last_at: Timestamp.optional(),
  attempt: z.int().min(1),
  /** The process that stored it. */
  instance: z.string().nullable(),
})
export type StoredEvent = z.infer<typeof StoredEvent>

const RecordedTool = z.object({
  id_ref: CallId,
  name: z.string(),
  arguments: z.string(),
  /** Null until there is a result. */
  result: z.string().nullable(),
  /** Total characters of both texts; absent if they are complete here. */
  characters: z.int().optional(),
})

const RecordedPart = z.object({
  /** JSON text as it was sent. Images and files are replaced by their type and size. */
  json: z.string(),
  /** Characters of the part; more than `json` has if the part was too long to be stored. */
  characters: z.int().min(0),
})
/** A part of a prompt, with its text. */
export type RecordedPart = z.infer<typeof RecordedPart>

/** Everything that is recorded of a run: what it sent to models and received, as the inspector shows it. */
export const RunRecord = z
  .object({
    run_id: RunId,
    calls: z.array(RecordedCall),
    /** The parts by hash; a missing one is no longer stored. */
    parts: z.record(z.string(), RecordedPart),
    tools: z.array(RecordedTool),
    stored: z.array(StoredEvent),
    /** Days after which requests and responses are removed; 0 if they are not recorded. */
    keep_days: z.int().min(0),
  })
  .meta({ id: 'RunRecord' })
export type RunRecord = z.infer<typeof RunRecord>

const MISSING: RecordedPart = { json: '"[no longer stored]"', characters: 0 }

/**
 * The JSON text of a request exactly as it was sent, except for parts that are no longer stored and for images, files and
 * sealed data of providers, which are replaced.
 */
export function requestBodyOf(
  { body }: Pick<RecordedExchange, 'body'>,
  parts: Readonly<Record<string, RecordedPart>>,
): string {
  const jsonOf = (hash: string): string => (parts[hash] ?? MISSING).json
  const fields = body.map((field) => {
    const value =
      'json' in field
        ? field.json
        : 'part' in field
          ? jsonOf(field.part)
          : `[${field.parts.map(jsonOf).join(',')}]`
    return `${JSON.stringify(field.name)}:${value}`
  })
  return `{${fields.join(',')}}`
}
