// What a message is sent with: model, thinking, tools, approval.
import type { PublicModel } from '../../../../server/protocol/catalog.ts'
import type { ApprovalMode } from '../../../../server/protocol/conversation.ts'

export type ChatOptions = {
  /** Null: the server's default. */
  model: string | null
  thinking: boolean
  tools: boolean
  /** Null: the server's default. */
  approval: ApprovalMode | null
}

export const modelOf = (
  models: readonly PublicModel[] | undefined,
  id: string | null,
): PublicModel | undefined =>
  models?.find((model) => model.id === id) ?? models?.find((model) => model.default) ?? models?.[0]
