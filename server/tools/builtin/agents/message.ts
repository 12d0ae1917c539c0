// The `message` tool: sends a message to another conversation of the user, or out through a channel the user set up.
import { z } from 'zod'
import type { Channels } from '../../../messaging/channels.ts'
import {
  type CallId,
  ConversationId,
  type MessageId,
  type RunId,
  type UserId,
} from '../../../protocol/ids.ts'
import {
  defineTool,
  fail,
  succeed,
  type ToolContext,
  type ToolDefinition,
  type ToolResult,
} from '../../definition.ts'

/** What the `message` tool needs from the server. */
export interface SendMessageDependencies {
  channels: Pick<Channels, 'list' | 'send'>
  /** Adds a message to a conversation. Returns null if the user has no such conversation. */
  post(message: {
    userId: UserId
    from: ConversationId | null
    /** The run that sends it. */
    runId: RunId
    to: ConversationId
    text: string
  }): Promise<MessageId | null>
  /** The chats of messengers in which runs are answered. */
  chats: {
    /** How the chat is called to which a message without an address would go; null if it would go to none. */
    nameOf(run: {
      userId: UserId
      conversationId: ConversationId | null
      runId: RunId
    }): Promise<string | null>
    /** Sends into that chat, once for each call. Null if there is none; `delivery` is null if nobody may be reached there. */
    say(message: {
      userId: UserId
      conversationId: ConversationId | null
      runId: RunId
      callId: CallId
      text: string
    }): Promise<{ channel: string; delivery: string | null } | null>
  }
}

const MAX_MESSAGE_CHARACTERS = 20_000
const CHANNEL = 'channel:'

/** The tool `message`. */
export const createSendMessageTool = (dependencies: SendMessageDependencies): ToolDefinition =>
  defineTool({
    name: 'message',
    description:
      'Sends a message to another conversation of the user or to a channel they set up (webhook, email, Telegram). Use it only when the user wants a message sent; to answer here, just write your answer.',
    category: 'agent',
    riskLevel: 'medium',
    timeoutMs: 20_000,
    // People read what is sent to one place in the order in which the agent wrote it.
    orderKey: ({ to }) => `message ${to ?? ''}`,
    input: z.object({
      content: z.string().trim().min(1).max(MAX_MESSAGE_CHARACTERS).describe('The full text.'),
      to: z
        .string()
        .trim()
        .min(1)
        .max(200)
        .optional()
        .describe(
          'A conversation id or `channel:<name>`. Default: this conversation, or the chat from which the user writes.',
        ),
    }),
    async preview({ content, to: given }, context) {
      const to = given ?? (await dependencies.chats.nameOf(context)) ?? undefined
      return {
        display: `Send to ${to ?? 'this conversation'}:\n${content}`,
        display_code: to === undefined ? 'send_here' : 'send_to',
        display_params: { to: to ?? '', content },
      }
    },
    async handler({ content, to }, context) {
      if (to?.startsWith(CHANNEL))
        return sendByChannel(dependencies, to.slice(CHANNEL.length), content, context)
      const said =
        to === undefined ? await dependencies.chats.say({ ...context, text: content }) : null
      if (said !== null)
        return said.delivery === null
          ? fail('The user can no longer be reached in the chat of this conversation.')
          : succeed(
              { delivery_id: said.delivery, status: 'pending' },
              { display: `Sent to ${CHANNEL}${said.channel}` },
            )
      const conversation = to ?? context.conversationId
      const target = ConversationId.safeParse(conversation)
      const id = target.success
        ? await dependencies.post({
            userId: context.userId,
            from: context.conversationId,
            runId: context.runId,
            to: target.data,
            text: content,
          })
        : null
      if (id === null)
        return fail(
          `The user has no conversation '${conversation ?? ''}'. Use a conversation id or a channel: ${await namesOf(dependencies, context.userId)}.`,
        )
      return succeed({ message_id: id, conversation_id: conversation }, { display: 'Message sent' })
    },
  })

async function sendByChannel(
  dependencies: SendMessageDependencies,
  name: string,
  text: string,
  { userId, conversationId, signal }: ToolContext,
): Promise<ToolResult> {
  const delivery = await dependencies.channels.send(userId, name, { text, conversationId, signal })
  if (delivery === null)
    return fail(
      `The user has no channel named “${name}”. Available: ${await namesOf(dependencies, userId)}.`,
    )
  const data = { delivery_id: delivery.id, status: delivery.status }
  if (delivery.status === 'failed')
    return fail(`The message could not be delivered: ${delivery.error ?? 'unknown reason'}.`, {
      data,
    })
  if (delivery.status === 'delivered')
    return succeed(data, { display: `Sent to ${CHANNEL}${name}` })
  const note =
    delivery.error === null
      ? 'Delivery is in progress.'
      : `Not delivered yet (${delivery.error}); delivery is retried automatically.`
  return succeed({ ...data, note }, { display: `Sending to ${CHANNEL}${name}` })
}

async function namesOf({ channels }: SendMessageDependencies, userId: UserId): Promise<string> {
  const names = (await channels.list(userId)).map(({ name }) => `${CHANNEL}${name}`)
  return names.length === 0 ? 'none are set up' : names.slice(0, 20).join(', ')
}
