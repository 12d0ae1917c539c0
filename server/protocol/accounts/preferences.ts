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
/** Names of skills that are neither offered to a model nor in a list of commands. */
export const SkillsOff = Names

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

/** `push`: the browsers that have subscribed; `channel:<name>`: a channel of the user. */
const AskThrough = withoutNul(
  z
    .string()
    .max(208)
    .regex(/^(push|channel:.+)$/),
)
/** One way to tell the user of a request that waits. */
export const AskEntry = z
  .object({
    through: AskThrough,
    /** Seconds that the request has waited. */
    after: z.int().min(0).max(86_400).default(0),
    /** `name`: the tool and its risk; `preview`: also what the call would do, never for `push`. */
    detail: z.enum(['name', 'preview']).default('name'),
  })
  .refine(({ through, detail }) => through !== 'push' || detail === 'name', {
    error: 'notifications never show a preview',
    path: ['detail'],
  })
export type AskEntry = z.output<typeof AskEntry>
const Ask = z.array(AskEntry).max(5)

const isZone = (name: string): boolean => {
  try {
    return !/^[+-]/.test(name) && new Intl.DateTimeFormat('en', { timeZone: name }) !== null
  } catch {
    return false
  }
}
/** A name of the IANA database, or ''. */
const TimeZone = z
  .string()
  .max(64)
  .refine((name) => name === '' || isZone(name), 'a time zone such as Europe/Berlin')

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
    /** How the user is told of requests that nobody decides, each entry once per request. */
    ask: Ask,
    skills_off: SkillsOff,
    /** A name such as `Europe/Berlin`; '' if none is chosen. */
    time_zone: TimeZone,
  })
  .meta({ id: 'Preferences' })
export type Preferences = z.infer<typeof Preferences>

export const NO_PREFERENCES: Preferences = {
  instructions: '',
  disabled_tools: [],
  hidden_models: [],
  model_order: [],
  saved_prompts: [],
  ask: [{ through: 'push', after: 30, detail: 'name' }],
  skills_off: [],
  time_zone: '',
}

/** Absent fields stay unchanged. */
export const PatchPreferencesBody = z
  .object({
    instructions: optional(Instructions),
    disabled_tools: optional(DisabledTools),
    hidden_models: optional(Names),
    model_order: optional(Names),
    saved_prompts: optional(SavedPrompts),
    ask: optional(Ask),
    skills_off: optional(SkillsOff),
    time_zone: optional(TimeZone),
  })
  .meta({ id: 'PatchPreferences' })
