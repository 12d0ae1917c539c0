// The `message` tool: to another conversation of the user, or out by a channel that the user set up.
import { z } from 'zod'
import type { Channels } from '../../messaging/channels.ts'
import { ConversationId, type MessageId, type UserId } from '../../protocol/ids.ts'
import {
  defineTool,
  fail,
  succeed,
  type ToolContext,
  type ToolDefinition,
  type ToolResult,
} from '../definition.ts'

export interface SendMessageDependencies {
  channels: Pick<Channels, 'list' | 'send'>
  /** Puts a message into a conversation; null when the user has no such conversation. */
  post(message: {
    userId: UserId
    from: ConversationId | null
    to: ConversationId
    text: string
  }): Promise<MessageId | null>
}

const LONGEST = 20_000
const CHANNEL = 'channel:'

export const createSendMessageTool = (dependencies: SendMessageDependencies): ToolDefinition =>
  defineTool({
    name: 'message',
    description:
      'Sends a message that the user reads elsewhere: in another conversation of theirs (`to` is its id) or by a channel that they set up (`channel:<name>`: webhook, e-mail, Telegram). Not for answering here; just answer for that.',
    category: 'agent',
    riskLevel: 'medium',
    timeoutMs: 20_000,
    input: z.object({
      content: z.string().trim().min(1).max(LONGEST).describe('The whole text of the message.'),
      to: z
        .string()
        .trim()
        .min(1)
        .max(200)
        .optional()
        .describe('A conversation id or `channel:<name>`; this conversation when left out.'),
    }),
    async preview({ content, to }) {
      return { display: `Send to ${to ?? 'this conversation'}:\n${content}` }
    },
    async handler({ content, to }, context) {
      if (to?.startsWith(CHANNEL))
        return sendByChannel(dependencies, to.slice(CHANNEL.length), content, context)
      const conversation = to ?? context.conversationId
      const target = ConversationId.safeParse(conversation)
      const id = target.success
        ? await dependencies.post({
            userId: context.userId,
            from: context.conversationId,
            to: target.data,
            text: content,
          })
        : null
      if (id === null)
        return fail(
          `There is no conversation '${conversation ?? ''}' of this user. Give a conversation id or one of: ${await namesOf(dependencies, context.userId)}.`,
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
      `The user has no channel named '${name}'. There are: ${await namesOf(dependencies, userId)}.`,
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
      ? 'It is on its way.'
      : `It was not delivered yet (${delivery.error}) and is tried again by itself.`
  return succeed({ ...data, note }, { display: `On its way to ${CHANNEL}${name}` })
}

async function namesOf({ channels }: SendMessageDependencies, userId: UserId): Promise<string> {
  const names = (await channels.list(userId)).map(({ name }) => `${CHANNEL}${name}`)
  return names.length === 0 ? 'no channels are set up' : names.slice(0, 20).join(', ')
}
