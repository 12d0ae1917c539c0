// Converts the composer's options to the fields of a conversation patch.
import type { PatchConversationBody } from '../../../../server/protocol/conversations/conversation.ts'
import type { MessageId } from '../../../../server/protocol/ids.ts'
import type { ChatOptions } from './chat-options.ts'

/** Contains only the fields that are present in `options`. */
export function conversationPatch(
  choice: Partial<ChatOptions> & { leaf?: MessageId },
): Partial<PatchConversationBody> {
  return {
    ...(choice.model === undefined ? {} : { model: choice.model }),
    ...(choice.thinking == null ? {} : { thinking_enabled: choice.thinking }),
    ...(choice.approval === undefined ? {} : { approval: choice.approval }),
    ...(choice.leaf === undefined ? {} : { leaf_id: choice.leaf }),
  }
}
