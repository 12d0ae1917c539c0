// Descriptions for the API reference: channels, webhooks, Python programs and speech.
import type { z } from 'zod'
import type {
  AddressToken,
  BridgeAnswer,
  BridgeIncoming,
  ChannelTest,
  ChannelToken,
  CreateChannelBody,
  CreatedChannel,
  PairBody,
  Paired,
  PatchChannelBody,
  ReceiveBody,
  Sender,
  SetSenderBody,
  TestChannelBody,
} from '../../protocol/programs/channel.ts'
import type { PythonOutcome, RunPythonBody } from '../../protocol/programs/python.ts'
import type {
  CreatedWebhook,
  ReplaceWebhookSecretBody,
  Webhook,
  WebhookDelivery,
} from '../../protocol/programs/webhook.ts'
import type { SpeakBody, Transcription } from '../../protocol/speech.ts'
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

const receive = {
  project_id: 'The project of new conversations. Null: none.',
  model: 'The model of new conversations. Null: that of the project, else the default model.',
  approval: 'The approval mode of its runs. Default: `ask`.',
  groups:
    'Which messages of a group start a run: `off`: none; `mention`: those that address the bot; `all`: all of paired senders. Default: `off`.',
  shared:
    'Whether it is for everybody: each sender pairs with an account of their own. Only for administrators.',
} satisfies FieldsOf<ReceiveBody>

const channel = {
  id: 'Identifies the channel.',
  type: 'The kind of channel: `webhook`, `email`, `telegram`, `slack` or `bridge`.',
  name: 'The name by which models address the channel.',
  settings: 'The settings of the channel without secrets.',
  direction: '`out`: it only sends; `both`: people can write through it.',
  receive: within('How it receives. Null: it only sends.', receive),
  state:
    '`off`: it only sends; `connecting`: not connected now; `receiving`; `conflict`: another program receives for the same bot; `error`: until it is changed.',
  address:
    'Where people write to it, with its token (`email` only). Null: it has no address of its own.',
  error: 'Why it does not receive, for a person. Null: no error.',
  reason: 'The machine-readable reason of `error`. Null: no error.',
  last_delivery: within('The newest message to the channel. Null: none.', delivery),
  created_at: CREATED,
  token:
    'With which a program hands over messages (`bridge` only), or the part of the address that is its own (`email`). No later response contains it.',
} satisfies FieldsOf<z.infer<typeof CreatedChannel>>

const newChannel = {
  type: channel.type,
  name: 'The name by which models address the channel: up to 50 letters, digits, `.`, `_` and `-`.',
  settings:
    'The settings of this kind of channel (docs/channels.md). Secrets in them are stored encrypted and never returned.',
  receive: within('How people can write through it. Absent: it only sends.', receive),
} satisfies FieldsOf<z.infer<typeof CreateChannelBody>>

const channelTest = {
  ok: 'Whether the settings work.',
  bot: 'As whom the service knows the bot, such as `@name`. Null: it does not say so, or the test failed.',
  error: 'Why it failed, for a person. Null: it did not.',
  ...REASON,
} satisfies FieldsOf<ChannelTest>

const sender = {
  id: 'Identifies the sender.',
  external_id: 'Who they are at the messenger.',
  name: 'How they are called there.',
  state:
    '`pending`: a stranger who was told a code; `allowed`: acts as `user_id`; `blocked`: gets nothing.',
  user_id: 'The account as which they act. Null: not paired.',
  requested_at: 'When they were first seen, or last told a code.',
  allowed_at: 'When they were last allowed to write. Null: never.',
  last_at: 'When they last wrote.',
} satisfies FieldsOf<Sender>

/** By the id of a schema in the reference. */
export const PROGRAM_DESCRIPTIONS = {
  Transcription: {
    text: 'What the recording says.',
    language: 'Its language, as the service names it. Absent: the service does not say.',
    seconds: 'How long it is; estimated by its size if the service does not say.',
  } satisfies FieldsOf<Transcription>,
  Speak: {
    text: 'The text to read.',
    voice: 'The voice, as the service names it. Default: the configured one.',
  } satisfies FieldsOf<SpeakBody>,
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
  Channel: channel,
  CreatedChannel: channel,
  CreateChannel: newChannel,
  TestChannel: {
    type: newChannel.type,
    settings: 'The settings to try (docs/channels.md). Nothing of them is stored.',
  } satisfies FieldsOf<z.infer<typeof TestChannelBody>>,
  ChannelTest: channelTest,
  PatchChannel: {
    name: newChannel.name,
    settings:
      'The settings of this kind. They replace those that are shown; what is not shown, such as a token, stays unless it is named, and null removes it.',
    receive: within('How people can write through it. Null: no longer.', receive),
  } satisfies FieldsOf<PatchChannelBody>,
  ReceiveChannel: receive,
  ReceiveSettings: receive,
  ChannelToken: {
    token: channel.token,
  } satisfies FieldsOf<z.infer<typeof ChannelToken>>,
  AddressToken: {
    token: 'The part of the address that belongs to this channel only.',
    address: channel.address,
  } satisfies FieldsOf<z.infer<typeof AddressToken>>,
  Sender: sender,
  SetSender: {
    state:
      '`blocked`, or `allowed`: the person acts as the owner of the channel, without a code. Through a shared channel and by email only a code lets somebody in.',
  } satisfies FieldsOf<z.infer<typeof SetSenderBody>>,
  Pair: { code: 'The code that the bot told.' } satisfies FieldsOf<z.infer<typeof PairBody>>,
  Paired: {
    channel: within('The channel.', { id: channel.id, name: channel.name }),
    sender: within('The sender that was paired.', sender),
  } satisfies FieldsOf<z.infer<typeof Paired>>,
  BridgeIncoming: {
    id: 'Identifies the message at the messenger: handing it over again changes nothing.',
    chat_id: 'The chat in which it was written.',
    thread_id: 'The thread in the chat. Null: none.',
    chat_name: 'How the chat is called.',
    group: 'Whether several people write in it. Default: no.',
    mention: 'In a group: whether the message addresses the bot.',
    sender: within('Who wrote it.', { id: sender.external_id, name: sender.name }),
    text: 'What was written.',
    attachments: within('Files, at most 20 MB each.', {
      name: 'The name of the file.',
      mime: 'Its media type.',
      data: 'Its content in base64.',
    }),
    forwarded: 'Whether somebody else wrote the text. It then counts as text from outside.',
    approval: within('A decision instead of a message.', {
      id: 'The `approval.id` of the request that was sent to the chat.',
      decision: '`approve` or `reject`.',
    }),
  } satisfies FieldsOf<BridgeIncoming>,
  BridgeAnswer: {
    accepted: 'Whether it does something.',
    duplicate: 'Whether it was handed over before.',
    reason:
      'Why a decision does nothing: `already_decided` if its request was decided before, or has ended. Absent otherwise.',
  } satisfies FieldsOf<BridgeAnswer>,
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
