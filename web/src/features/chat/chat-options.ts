// The options of a message: model, thinking, tools, approval.

import type { ApprovalMode } from '../../../../server/protocol/conversations/conversation.ts'
import type { PublicModel } from '../../../../server/protocol/models/catalog.ts'

/**
 * The options in the composer, which every send passes on. Null leaves the choice to the server, so that its defaults
 * apply.
 */
export type ChatOptions = {
  /** Null: the server's default. */
  model: string | null
  /** Null: the model's own setting. */
  thinking: boolean | null
  tools: boolean
  /** Null: the server's default. */
  approval: ApprovalMode | null
  /** The model that gives a second answer for comparison; null for none. */
  secondModel: string | null
}

/** Whether a new conversation with the model thinks by default. The server uses the same rule. */
const thinksByDefault = (model: PublicModel | undefined): boolean =>
  model !== undefined && !model.demo && model.thinking !== false

/** Whether the model thinks with these options: the user's choice, or the model's default. */
export const isThinking = (options: ChatOptions, model: PublicModel | undefined): boolean =>
  options.thinking ?? thinksByDefault(model)

/** The model with this id; the default model for null or an unknown id. Undefined while there are no models. */
export const modelOf = (
  models: readonly PublicModel[] | undefined,
  id: string | null,
): PublicModel | undefined =>
  models?.find((model) => model.id === id) ?? models?.find((model) => model.default) ?? models?.[0]
