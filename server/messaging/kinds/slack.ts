// Slack: messages from an app of the user's workspace by its Web API, and what people write to it by Socket Mode.
import { z } from 'zod'
import type { GuardedConnections } from '../../net/guarded-fetch.ts'
import { storedFailure } from '../../protocol/failures/stored.ts'
import { defineChannelKind, type SendOutcome, type TestOutcome } from '../channel-kind.ts'
import type { Destination, OutgoingPart, PartOutcome } from '../messenger.ts'
import {
  createSlackApi,
  isSocketModeOff,
  isTokenRefused,
  outcomeOf,
  type Slack,
  type SlackSettings,
} from './slack/api.ts'
import { receiveFromSlack } from './slack/socket.ts'
import { slackMarks, slackPlain } from './slack/text.ts'

/** Slack advises against longer messages. */
const MAX_CHARACTERS = 4_000
/** Of the text in a block. */
const MAX_BLOCK_CHARACTERS = 3_000
const FILE_TIMEOUT_MS = 60_000

const Settings = z.object({
  app_token: z
    .string()
    .regex(/^xapp-[\w-]{1,300}$/, { error: 'an app-level token, which begins with `xapp-`' }),
  bot_token: z
    .string()
    .regex(/^(xoxe\.)?xoxb-[\w-]{1,300}$/, { error: 'a bot token, which begins with `xoxb-`' }),
})

/** `apiUrl` replaces the address of Slack's methods, for tests and proxies. */
export function createSlackKind(dependencies: {
  fetch: GuardedConnections
  apiUrl?: string | undefined
  now(): Date
}) {
  const slack = createSlackApi({
    ...dependencies,
    apiUrl: dependencies.apiUrl ?? 'https://slack.com/api',
  })
  return defineChannelKind({
    type: 'slack',
    settings: Settings,
    present: () => ({}),
    kept: ['app_token', 'bot_token'],
    test: (settings, signal) => testApp(slack, settings, signal),
    async send(settings, { text, to }, signal) {
      if (to == null) return { ok: false, failure: storedFailure('delivery_no_chat'), retry: false }
      let outcome: SendOutcome = { ok: true }
      for (let start = 0; start < text.length && outcome.ok; start += MAX_CHARACTERS)
        outcome = await sendText(slack, settings, to, text.slice(start, start + MAX_CHARACTERS), {
          signal,
        })
      return outcome
    },
    messenger: {
      maxCharacters: MAX_CHARACTERS,
      // Slack spreads what arrives over all connections of an app.
      botOf: ({ app_token }) => app_token,
      receive: (settings, inbox, signal) => receiveFromSlack(slack, settings, inbox, signal),
      send: (settings, to, part, signal) => sendPart(slack, settings, to, part, signal),
      showProgress: (settings, to, progress, signal) =>
        showProgress(slack, settings, to, progress, signal),
    },
  })
}

/** Asks for whom each token is good. No connection is opened. */
async function testApp(
  slack: Slack,
  settings: SlackSettings,
  signal: AbortSignal,
): Promise<TestOutcome> {
  const me = await slack.get(settings, 'auth.test', {}, signal)
  if (!me.ok)
    return isTokenRefused(me.error)
      ? { ok: false, failure: storedFailure('channel_bot_token_refused') }
      : me.fault
  const opened = await slack.post(settings, 'apps.connections.open', {}, signal, 'app_token')
  if (!opened.ok) {
    if (isSocketModeOff(opened.error))
      return { ok: false, failure: storedFailure('channel_socket_mode_off') }
    return isTokenRefused(opened.error)
      ? { ok: false, failure: storedFailure('channel_app_token_refused') }
      : opened.fault
  }
  const named = z
    .object({ user: z.string().optional(), team: z.string().optional() })
    .safeParse(me.answer).data
  const bot = [
    named?.user === undefined ? '' : `@${named.user}`,
    named?.team === undefined ? '' : `(${named.team})`,
  ]
    .filter((part) => part !== '')
    .join(' ')
  return { ok: true, bot: bot === '' ? null : bot }
}

const placeOf = ({ chatId, threadId }: Destination): Record<string, unknown> => ({
  channel: chatId,
  ...(threadId === '' ? {} : { thread_ts: threadId }),
})

const sendText = async (
  slack: Slack,
  settings: SlackSettings,
  to: Destination,
  text: string,
  { signal, isMarked = false }: { signal: AbortSignal; isMarked?: boolean },
): Promise<PartOutcome> =>
  outcomeOf(
    await slack.post(
      settings,
      'chat.postMessage',
      {
        ...placeOf(to),
        text: isMarked ? slackMarks(text) : slackPlain(text),
        unfurl_links: false,
        unfurl_media: false,
      },
      signal,
    ),
  )

async function sendPart(
  slack: Slack,
  settings: SlackSettings,
  to: Destination,
  part: OutgoingPart & { id: string },
  signal: AbortSignal,
): Promise<PartOutcome> {
  switch (part.type) {
    case 'end':
      return { ok: true }
    case 'text':
      return await sendText(slack, settings, to, part.text, { signal, isMarked: true })
    case 'card':
      return outcomeOf(
        await slack.post(
          settings,
          'chat.postMessage',
          { ...placeOf(to), ...cardOf(part), unfurl_links: false, unfurl_media: false },
          signal,
        ),
      )
    case 'settled': {
      if (part.externalId === null) return { ok: true }
      const edit = {
        channel: to.chatId,
        ts: part.externalId,
        text: slackPlain(part.text),
        // Without this, the buttons would stay.
        blocks: [textBlock(part.text)],
      }
      const edited = await slack.post(settings, 'chat.update', edit, signal)
      // The person has deleted it.
      const isGone =
        !edited.ok && ['message_not_found', 'cant_update_message'].includes(edited.error)
      return isGone ? { ok: true } : outcomeOf(edited)
    }
    case 'file':
      return await sendFile(slack, settings, to, part, signal)
  }
}

const textBlock = (text: string) => ({
  type: 'section',
  text: { type: 'plain_text', text: text.slice(0, MAX_BLOCK_CHARACTERS), emoji: false },
})

/** A text with one or two buttons, which carry the id of the part. */
function cardOf(part: Extract<OutgoingPart, { type: 'card' }> & { id: string }) {
  const button = (text: string, id: string, style: 'primary' | 'danger') => ({
    type: 'button',
    text: { type: 'plain_text', text, emoji: false },
    style,
    action_id: id,
    value: id,
  })
  const elements = [
    ...(part.approve === null ? [] : [button(part.approve, `a:${part.id}`, 'primary')]),
    ...(part.reject === null ? [] : [button(part.reject, `r:${part.id}`, 'danger')]),
  ]
  return {
    text: slackPlain(part.text),
    blocks: [textBlock(part.text), { type: 'actions', elements }],
  }
}

/** Slack takes files in three steps: an address for the bytes, the bytes, and the chat that shows them. */
async function sendFile(
  slack: Slack,
  settings: SlackSettings,
  to: Destination,
  { name, bytes }: Extract<OutgoingPart, { type: 'file' }>,
  signal: AbortSignal,
): Promise<PartOutcome> {
  const asked = await slack.get(
    settings,
    'files.getUploadURLExternal',
    { filename: name, length: String(bytes.length) },
    signal,
  )
  if (!asked.ok) return outcomeOf(asked)
  const place = z.object({ upload_url: z.url(), file_id: z.string() }).safeParse(asked.answer)
  if (!place.success) return { ok: false, failure: storedFailure('delivery_failed'), retry: false }
  const fault = await slack.upload(place.data.upload_url, bytes, signal, FILE_TIMEOUT_MS)
  if (fault !== null) return fault
  return outcomeOf(
    await slack.post(
      settings,
      'files.completeUploadExternal',
      {
        files: [{ id: place.data.file_id, title: name }],
        channel_id: to.chatId,
        ...(to.threadId === '' ? {} : { thread_ts: to.threadId }),
      },
      signal,
    ),
  )
}

async function showProgress(
  slack: Slack,
  settings: SlackSettings,
  to: Destination,
  { text, externalId }: { text: string | null; externalId: string | null },
  signal: AbortSignal,
): Promise<string | null> {
  if (externalId === null) {
    if (text === null) return null
    const sent = await sendText(slack, settings, to, text, { signal })
    return sent.ok ? (sent.externalId ?? null) : null
  }
  const shown = { channel: to.chatId, ts: externalId }
  if (text === null) {
    const deleted = await slack.post(settings, 'chat.delete', shown, signal)
    if (!deleted.ok && deleted.fault.retry) throw new Error(deleted.fault.failure.message)
    return null
  }
  await slack.post(settings, 'chat.update', { ...shown, text: slackPlain(text) }, signal)
  return externalId
}
