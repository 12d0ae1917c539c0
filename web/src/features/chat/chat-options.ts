// The options of a message: model, thinking, tools, approval.

import type { ApprovalMode } from '../../../../server/protocol/conversations/conversation.ts'
import type { PublicModel } from '../../../../server/protocol/models/catalog.ts'

/**
 * What the composer shows and every send passes on. Null leaves the choice to the server, so that
 * later defaults apply.
 */
export type ChatOptions = {
  /** Null: the server's default. */
  model: string | null
  /** Null: the model's own setting. */
  thinking: boolean | null
  tools: boolean
  /** Null: the server's default. */
  approval: ApprovalMode | null
  /** The model that answers beside the first one, for comparison; null: none. */
  secondModel: string | null
}

/** Whether a new conversation with the model thinks by default; the server decides in the same way. */
const thinksByDefault = (model: PublicModel | undefined): boolean =>
  model !== undefined && !model.demo && model.thinking !== false

/**
 * Whether the model would think with these options: the person's choice, or what the model does by
 * default.
 */
export const isThinking = (options: ChatOptions, model: PublicModel | undefined): boolean =>
  options.thinking ?? thinksByDefault(model)

/**
 * The model with this id; for null, and an id that is not offered, the default model. Undefined
 * while there are no models.
 */
export const modelOf = (
  models: readonly PublicModel[] | undefined,
  id: string | null,
): PublicModel | undefined =>
  models?.find((model) => model.id === id) ?? models?.find((model) => model.default) ?? models?.[0]
