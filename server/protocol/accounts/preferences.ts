// What a user has set for all of their conversations, on the wire.
import { z } from 'zod'
import { optional, withoutNul } from '../envelope.ts'

const Names = z.array(withoutNul(z.string().min(1).max(200))).max(500)
/** How the model should answer in every conversation, or in every conversation of a project. */
export const Instructions = withoutNul(z.string().trim().max(20_000))
/**
 * Names of tools that are never offered to a model. Unknown names are kept, because their MCP server may be unreachable.
 */
export const DisabledTools = Names

/** Maximum number of characters of all saved prompts together. */
const MAX_PROMPT_CHARACTERS = 200_000
/** Prompts that the user can insert into messages. `{{name}}` in a text is a field that the user fills in. */
const SavedPrompts = z
  .array(
    z.object({
      name: withoutNul(z.string().trim().min(1).max(80)),
      text: withoutNul(z.string().trim().min(1).max(10_000)),
    }),
  )
  .max(100)
  .refine((prompts) => new Set(prompts.map(({ name }) => name)).size === prompts.length, {
    error: 'names must differ',
  })
  .refine(
    (prompts) => prompts.reduce((sum, { text }) => sum + text.length, 0) <= MAX_PROMPT_CHARACTERS,
    { error: `must have at most ${MAX_PROMPT_CHARACTERS} characters in total` },
  )

/** What users have set for themselves, on every device. */
export const Preferences = z
  .object({
    /** '' if there are none. */
    instructions: Instructions,
    disabled_tools: DisabledTools,
    /** Ids of models that menus leave out. Conversations that use them already can continue to. */
    hidden_models: Names,
    /** Ids of models in the order of menus. All others follow in the server's order. */
    model_order: Names,
    saved_prompts: SavedPrompts,
  })
  .meta({ id: 'Preferences' })
export type Preferences = z.infer<typeof Preferences>

export const NO_PREFERENCES: Preferences = {
  instructions: '',
  disabled_tools: [],
  hidden_models: [],
  model_order: [],
  saved_prompts: [],
}

/** Absent fields stay unchanged. */
export const PatchPreferencesBody = z
  .object({
    instructions: optional(Instructions),
    disabled_tools: optional(DisabledTools),
    hidden_models: optional(Names),
    model_order: optional(Names),
    saved_prompts: optional(SavedPrompts),
  })
  .meta({ id: 'PatchPreferences' })
