// What a run exchanged with providers and stored, in detail: requests in parts that are stored once, responses, tool calls.
import { z } from 'zod'
import { Timestamp } from '../envelope.ts'
import { CallId, RunId } from '../ids.ts'

/** Names a part by its content. */
const PartHash = z.string().max(64)

/** A value of the body of a request: JSON text, one part, or an array of parts. */
const RecordedField = z.union([
  z.object({ name: z.string(), json: z.string() }),
  z.object({ name: z.string(), part: PartHash }),
  z.object({ name: z.string(), parts: z.array(PartHash) }),
])
/** A field of a request's body, as stored. */
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
  /** Milliseconds until its head and its end; null if it had none. */
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
  /** It is longer than what is kept of it. */
  cut: z.boolean(),
})

/** One request to a provider and its response. */
export const RecordedExchange = z.object({
  /** The id of the model that was asked. */
  model: z.string(),
  sent_at: Timestamp,
  method: z.literal('POST'),
  /** Without keys. */
  url: z.string(),
  /** `$API_KEY` stands for keys. */
  headers: z.record(z.string(), z.string()),
  /** The JSON object that was sent, its fields in order. */
  body: z.array(RecordedField),
  response: RecordedResponse,
})
/** One request to a provider and its response, as recorded. */
export type RecordedExchange = z.infer<typeof RecordedExchange>

/** One part of a prompt, in the order in which providers read it: tools, system, messages. */
const PromptPlace = z.object({
  /** The field of the body. */
  field: z.string(),
  /** Its place in the field's array; null where the field is one part. */
  index: z.int().min(0).nullable(),
})

/** What differs from the previous call of the conversation. */
export const PromptChange = z.object({
  /** The call it is compared with. */
  previous: z.object({ run_id: RunId, call: z.int().min(1) }),
  /** Another model was asked, so no cache could have this prompt. */
  other_model: z.boolean(),
  /** Estimated tokens of the whole prompt, and of its beginning that is the same as before. */
  prompt_tokens: z.int().min(0),
  same_tokens: z.int().min(0),
  /** The first part that is not the same; null when parts were only appended, or nothing changed. */
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
  /** What these cost more than from a cache, at the model's price of today, by currency; empty where it is not known. */
  extra_cost: z.record(z.string(), z.number()),
})
/** What changed in a prompt since the previous call, and what the provider could cache. */
export type PromptChange = z.infer<typeof PromptChange>

/** What one model call of a run sent and received. */
export const RecordedCall = z.object({
  /** The number of the model call in the run, from 1: the n-th model call of its timeline. */
  number: z.int().min(1),
  /** Each attempt at the call is an exchange of its own: retries, fallbacks, continued answers. */
  exchanges: z.array(RecordedExchange),
  /** Null for the first call of a conversation, and where the previous one is not recorded. */
  change: PromptChange.nullable(),
})
/** One model call of a run, with its exchanges. */
export type RecordedCall = z.infer<typeof RecordedCall>

/** A transaction of the run that was committed. */
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
  /** Of the tool call. */
  id_ref: z.string().optional(),
  /** How many transactions in a row, where there were several, the last of them at `last_at`. */
  count: z.int().min(2).optional(),
  last_at: Timestamp.optional(),
  attempt: z.int().min(1),
  /** The process that stored it. */
  instance: z.string().nullable(),
})
/** A commit of a run. */
export type StoredEvent = z.infer<typeof StoredEvent>

const RecordedTool = z.object({
  id_ref: CallId,
  name: z.string(),
  arguments: z.string(),
  /** Null until there is one. */
  result: z.string().nullable(),
  /** Of the two texts, where they are longer than what is here. */
  characters: z.int().optional(),
})

/** One part of a request. */
const RecordedPart = z.object({
  /** JSON text as it was sent. Images and files are replaced by their type and size. */
  json: z.string(),
  /** Characters of the part; more than `json` has where it was too long to be kept. */
  characters: z.int().min(0),
})
/** A part of a prompt, with its text if it is still stored. */
export type RecordedPart = z.infer<typeof RecordedPart>

/** What a run sent to models and received, as the inspector shows it. */
export const RunRecord = z
  .object({
    run_id: RunId,
    calls: z.array(RecordedCall),
    /** By hash; one that is missing is no longer stored. */
    parts: z.record(z.string(), RecordedPart),
    tools: z.array(RecordedTool),
    stored: z.array(StoredEvent),
    /** Days after which requests and responses are removed; 0: they are not recorded. */
    keep_days: z.int().min(0),
  })
  .meta({ id: 'RunRecord' })
/** Everything that is recorded of a run. */
export type RunRecord = z.infer<typeof RunRecord>

const MISSING: RecordedPart = { json: '"[no longer stored]"', characters: 0 }

/**
 * The JSON text of a request, exactly as it was sent, except that images, files and what providers sealed are replaced, and
 * parts that are no longer stored.
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
