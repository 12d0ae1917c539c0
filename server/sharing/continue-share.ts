// Turns a shared copy into a conversation of the user who wants to continue it.
import type { ShareRow } from '../db/repositories/conversations/shares.ts'
import type { ExportedMessage } from '../protocol/conversations/export.ts'
import { SharedMessage } from '../protocol/conversations/share.ts'
import { type ConversationId, MessageId, type UserId } from '../protocol/ids.ts'
import { type ImportDependencies, importJson } from './import-json.ts'

/** Copies the texts, but not tool calls, thinking and files. They count as text from outside. */
export async function continueShare(
  dependencies: ImportDependencies,
  userId: UserId,
  share: ShareRow,
): Promise<{ id: ConversationId; messages: number }> {
  const messages: ExportedMessage[] = []
  let parent: MessageId | null = null
  for await (const json of dependencies.store.shares.readMessages(share)) {
    const shared = SharedMessage.parse(JSON.parse(json))
    const texts = shared.steps.flatMap((step) => (step.type === 'text' ? [step.content] : []))
    const id = MessageId.parse(`shared-${messages.length}`)
    messages.push({
      id,
      parent_id: parent,
      role: shared.role,
      text: shared.role === 'user' ? shared.text : texts.join('\n\n'),
      token_count: 0,
      model: null,
      status: 'completed',
      error: null,
      created_at: shared.created_at,
      attachments: [],
      steps: texts.map((content, index) => ({
        id: `step-${index}` as const,
        index,
        type: 'text' as const,
        content,
      })),
    })
    parent = id
  }
  const now = new Date().toISOString()
  return importJson(dependencies, userId, {
    format: 'nanoclaw',
    version: 1,
    conversation: {
      title: share.title,
      model: null,
      system_prompt: null,
      temperature: null,
      max_tokens: null,
      thinking_enabled: false,
      pinned: false,
      archived: false,
      tags: [],
      leaf_id: parent,
      created_at: now,
      updated_at: now,
    },
    messages,
  })
}
