// Descriptions for the API reference: channels, webhooks and Python programs.
import type { z } from 'zod'
import type { Channel, CreateChannelBody } from '../../protocol/programs/channel.ts'
import type { PythonOutcome, RunPythonBody } from '../../protocol/programs/python.ts'
import type {
  CreatedWebhook,
  ReplaceWebhookSecretBody,
  Webhook,
  WebhookDelivery,
} from '../../protocol/programs/webhook.ts'
import { type FieldsOf, within } from './describe-fields.ts'
import { CREATED, REASON } from './shared.ts'

const delivery = {
  status:
    '`delivered`: the receiver accepted it; `pending`: not yet, it is tried again; `failed`: it is not tried again.',
  attempts: 'The number of attempts so far.',
  error: 'Why the last attempt failed, for a person. Null: no error.',
  ...REASON,
  created_at: CREATED,
}

const webhook = {
  id: 'Identifies the webhook.',
  url: 'The address that receives the events: `http://` or `https://`, without a password.',
  events:
    'The events to send. `run.ended`: a run ended; `approval.required`: a tool call waits for a person; `quota.reached`: a limit was reached.',
  is_active:
    'Whether events are sent. A webhook becomes inactive when its receiver responds with 410.',
  earlier_secret_until:
    'Until then, requests also carry the signature of the replaced secret. Null: none was replaced.',
  last_delivery: 'The newest event that was sent or will be sent. Null: none.',
  created_at: CREATED,
  secret: 'The secret that signs requests (`whsec_…`). No later response contains it.',
} satisfies FieldsOf<CreatedWebhook>

/** By the id of a schema in the reference. */
export const PROGRAM_DESCRIPTIONS = {
  RunPython: {
    code: 'The program.',
    files:
      'Paths or patterns of the project’s files (`data/*.csv`) that the program can read in `/workspace`.',
  } satisfies FieldsOf<z.infer<typeof RunPythonBody>>,
  PythonOutcome: {
    status:
      'How it ended. `refused`: nothing ran, because the program uses what the server’s strictness does not allow, or is not Python; `raised`: with an exception.',
    stdout: 'What it printed.',
    stderr: 'What it wrote to the standard error output.',
    result: 'The value of its last expression. Null: it has none.',
    error: 'What went wrong, for a person: a traceback, or why it ended. Null: nothing.',
    duration_ms: 'How long it took, in milliseconds, with the wait for its turn.',
    files: within('The files that it wrote to `/output`.', {
      name: 'The path in `/output`.',
      mime: 'The media type, by the file’s name.',
      size: 'The size in bytes.',
      data: 'The content as a data URL. Absent: the file is larger than 1 MB, or all together than 2 MB.',
    }),
    omitted_files:
      'The number of files left out because there were too many or they were too large.',
  } satisfies FieldsOf<PythonOutcome>,
  Channel: {
    id: 'Identifies the channel.',
    type: 'The kind of channel: `webhook`, `email` or `telegram`.',
    name: 'The name by which models address the channel.',
    settings: 'The settings of the channel without secrets.',
    last_delivery: within('The newest message to the channel. Null: none.', delivery),
    created_at: CREATED,
  } satisfies FieldsOf<Channel>,
  CreateChannel: {
    type: 'The kind of channel: `webhook`, `email` or `telegram`.',
    name: 'The name by which models address the channel: up to 50 letters, digits, `.`, `_` and `-`.',
    settings:
      'The settings of this kind of channel (docs/api.md). Secrets in them are stored encrypted and never returned.',
  } satisfies FieldsOf<z.infer<typeof CreateChannelBody>>,
  Webhook: webhook satisfies FieldsOf<Webhook>,
  CreatedWebhook: webhook,
  CreateWebhook: webhook,
  PatchWebhook: webhook,
  ReplaceWebhookSecret: {
    overlap_hours:
      'Hours during which requests also carry the signature of the old secret, up to 168. Use 0 if somebody else may know it. Default: 24.',
  } satisfies FieldsOf<z.infer<typeof ReplaceWebhookSecretBody>>,
  WebhookDelivery: {
    ...delivery,
    id: 'Identifies the delivery, also in its header `webhook-id`.',
    event: 'The kind of event.',
    next_attempt_at: 'When the next attempt is made. Null: there is none.',
  } satisfies FieldsOf<WebhookDelivery>,
}
