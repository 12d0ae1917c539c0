// The way for every messenger without a kind of its own: another program hands over messages, and takes the answers by POST.
import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { GuardedFetch } from '../../net/guarded-fetch.ts'
import { defineChannelKind, type SendOutcome } from '../channel-kind.ts'
import type { CardCall, OutgoingPart } from '../messenger.ts'
import { postJson } from '../post.ts'
import { webhookHeaders } from '../webhook-signature.ts'

const MAX_CHARACTERS = 4_000

const Settings = z.object({
  url: z.url({ protocol: /^https?$/, error: 'an http:// or https:// URL' }).max(2_000),
  secret: z
    .string()
    .regex(/^whsec_[A-Za-z0-9+/=]{16,200}$/, { error: '`whsec_` and a secret in base64' })
    .optional(),
})
type Settings = z.infer<typeof Settings>

/** What the program receives. */
interface BridgeMessage {
  type: 'message' | 'progress' | 'approval' | 'settled' | 'end'
  id: string
  chat_id: string | null
  thread_id: string | null
  text: string
  files: { name: string; mime: string; url: string | null; data?: string }[]
  approval?: {
    id: string
    name: string
    risk_level: string | null
    preview: string
    url: string | null
    decisions: string[]
  }
}

/** Each request is signed as webhooks are, if there is a secret. */
export function createBridgeKind({ fetch, now }: { fetch: GuardedFetch; now(): Date }) {
  async function post(
    settings: Settings,
    message: BridgeMessage,
    signal: AbortSignal,
    requestId = message.id,
  ): Promise<SendOutcome> {
    const body = JSON.stringify(message)
    const secrets = settings.secret === undefined ? [] : [settings.secret]
    const headers = webhookHeaders({ id: requestId, body }, { secrets, now: now() })
    const { 'webhook-signature': signature, ...unsigned } = headers
    return await postJson({
      fetch,
      url: settings.url,
      body,
      headers: signature === '' ? unsigned : { ...headers },
      signal,
    })
  }
  return defineChannelKind({
    type: 'bridge',
    settings: Settings,
    // The path may be a secret.
    present: ({ url }) => ({ url: `${new URL(url).origin}/…` }),
    kept: ['url', 'secret'],
    send: (settings, { id, text, to }, signal) =>
      post(
        settings,
        {
          type: 'message',
          id,
          chat_id: to?.chatId ?? null,
          thread_id: to == null || to.threadId === '' ? null : to.threadId,
          text,
          files: [],
        },
        signal,
      ),
    messenger: {
      maxCharacters: MAX_CHARACTERS,
      takesToken: true,
      botOf: () => null,
      async send(settings, { chatId, threadId }, part, signal) {
        const base = { id: part.id, chat_id: chatId, thread_id: threadId === '' ? null : threadId }
        const sent = await post(settings, { ...base, ...messageOf(part) }, signal)
        return sent.ok ? { ok: true, externalId: part.id } : sent
      },
      async showProgress(settings, { chatId, threadId }, { text, externalId }, signal) {
        const id = externalId ?? randomUUID()
        const thread_id = threadId === '' ? null : threadId
        // Without a text it is removed.
        const message = {
          type: 'progress' as const,
          id,
          chat_id: chatId,
          thread_id,
          text: text ?? '',
          files: [],
        }
        // An edit is a request of its own.
        const sent = await post(settings, message, signal, randomUUID())
        if (text !== null) return id
        if (!sent.ok && sent.retry) throw new Error(sent.failure.message)
        return null
      },
    },
  })
}

/** A request as the program gets it; `decisions`: what can still be pressed. */
const approvalOf = (
  id: string,
  { name, riskLevel, preview, url }: CardCall,
  decisions: string[],
): NonNullable<BridgeMessage['approval']> => ({
  id,
  name,
  risk_level: riskLevel,
  preview,
  url,
  decisions,
})

function messageOf(
  part: OutgoingPart & { id: string },
): Omit<BridgeMessage, 'id' | 'chat_id' | 'thread_id'> {
  switch (part.type) {
    case 'text':
      return { type: 'message', text: part.text, files: [] }
    case 'file': {
      const { name, mime, bytes, url } = part
      return {
        type: 'message',
        text: '',
        files: [{ name, mime, url, data: bytes.toString('base64') }],
      }
    }
    case 'card': {
      const decisions = [
        ...(part.approve === null ? [] : ['approve']),
        ...(part.reject === null ? [] : ['reject']),
      ]
      const approval = approvalOf(part.id, part.call, decisions)
      return { type: 'approval', text: part.text, files: [], approval }
    }
    case 'settled':
      return {
        // Of a call, the answer follows. What `/undo` did is said nowhere else, and a program may know messages only.
        type: part.of?.call.riskLevel === null ? 'message' : 'settled',
        text: part.text,
        files: [],
        ...(part.of === null ? {} : { approval: approvalOf(part.of.id, part.of.call, []) }),
      }
    case 'end':
      return { type: 'end', text: '', files: [] }
  }
}
