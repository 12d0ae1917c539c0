// Skills on the wire: instructions for kinds of tasks, and the consent of a person to what others have written for models.
import { z } from 'zod'
import { optional, Timestamp, withoutNul } from '../envelope.ts'
import { ProjectId } from '../ids.ts'

/** Where a skill comes from. The earlier one wins for the same name. */
export const SkillSource = z.enum(['project', 'user', 'server'])
export type SkillSource = z.infer<typeof SkillSource>

/**
 * `consent_needed`: the user has not read this version; `refused`: has refused it; `hidden`: another skill has the name;
 * `invalid`: it cannot be read.
 */
export const SkillState = z.enum([
  'active',
  'consent_needed',
  'refused',
  'off',
  'hidden',
  'invalid',
])
export type SkillState = z.infer<typeof SkillState>

/** SHA-256, hexadecimal. */
export const Sha256 = z.string().regex(/^[0-9a-f]{64}$/)

const listed = {
  /** The name of its folder if it is invalid. */
  name: z.string(),
  description: z.string(),
  source: SkillSource,
  /** The folder of one of a project. */
  path: z.string().optional(),
  state: SkillState,
  /** Whether models may use it by themselves. */
  model_invocable: z.boolean(),
  /** Whether people may choose it for a message. */
  user_invocable: z.boolean(),
  /** An estimate of the length of its instructions. */
  tokens: z.int(),
  /** Of the sorted lines `<sha256 of a file>  <path>` of its files. */
  sha256: z.string(),
  /** The number of its files. */
  files: z.int(),
  warnings: z.array(z.string()),
  /** Why it is invalid. */
  error: z.string().optional(),
}
/** A skill without its instructions. */
export const Skill = z.object(listed).meta({ id: 'Skill' })
export type Skill = z.infer<typeof Skill>
export const SkillList = z.object({ items: z.array(Skill) }).meta({ id: 'SkillList' })

/** A skill with its instructions and the list of its files. */
export const SkillDetails = z
  .object({
    ...listed,
    license: z.string().nullable(),
    compatibility: z.string().nullable(),
    metadata: z.record(z.string(), z.string()),
    /** Shown only: it neither offers a tool nor changes a risk. */
    allowed_tools: z.array(z.string()),
    body: z.string(),
    files: z.array(z.object({ path: z.string(), size: z.int() })),
    /** The version of this skill that the user has accepted; null if there is none. */
    accepted_sha256: z.string().nullable(),
  })
  .meta({ id: 'SkillDetails' })
export type SkillDetails = z.infer<typeof SkillDetails>

/** A text file of a skill. */
export const SkillFile = z
  .object({ path: z.string(), content: z.string() })
  .meta({ id: 'SkillFile' })
export const SkillsQuery = z.object({ project_id: ProjectId.optional() })
export const SkillFileQuery = SkillsQuery.extend({ path: z.string().min(1).max(1_024) })

/** The text of a SKILL.md; of a skill of one file, or of one whose other files stay. */
export const WriteSkillBody = z
  .object({
    // Only named here: a longer text is refused with the reason that names all limits of a skill, as in an upload.
    content: withoutNul(z.string().min(1)).meta({ maxLength: 200 * 1_024 }),
  })
  .meta({ id: 'WriteSkill' })

/** The same, or nothing in a request with a file. */
export const CreateSkillBody = WriteSkillBody.partial().meta({ id: 'CreateSkill' }).nullish()

/** What a person consents to: a skill, or the instructions of a project in its AGENTS.md. */
export const ConsentSubject = z.enum(['skill', 'agents_md'])
export type ConsentSubject = z.infer<typeof ConsentSubject>
export const ConsentBody = z
  .object({
    what: ConsentSubject,
    /** The name of the skill. */
    name: optional(z.string().min(1).max(64)),
    sha256: Sha256,
    decision: z.enum(['accept', 'refuse']),
  })
  .meta({ id: 'Consent' })
export type ConsentBody = z.output<typeof ConsentBody>

/**
 * A place that a person should look at before accepting. `not_shown`: a file that is not text, or of which the diff or the
 * list of places leaves something out; its `line` is 0.
 */
export const Suspicious = z
  .object({
    kind: z.enum([
      'not_shown',
      'invisible_characters',
      'direction_characters',
      'base64',
      'download_and_run',
    ]),
    line: z.int(),
    detail: z.string(),
  })
  .meta({ id: 'Suspicious' })
export type Suspicious = z.infer<typeof Suspicious>

/** What waits for the consent of the user. */
export const ConsentItem = z
  .object({
    what: ConsentSubject,
    name: z.string().optional(),
    /** The folder of the skill, or the file. */
    path: z.string(),
    sha256: z.string(),
    /** The version that the user has accepted; null if there is none. */
    accepted_sha256: z.string().nullable(),
    /** Unified, from the accepted version to this one. */
    diff: z.string(),
    suspicious: z.array(Suspicious),
    /** The tool of the change; null if it is not known. */
    changed_by: z.string().nullable(),
    changed_at: Timestamp,
  })
  .meta({ id: 'ConsentItem' })
export type ConsentItem = z.infer<typeof ConsentItem>
export const ConsentList = z.object({ items: z.array(ConsentItem) }).meta({ id: 'ConsentList' })

/** The instructions for agents of a project. `path` and `sha256` are null without the file. */
export const AgentsMd = z.object({
  path: z.string().nullable(),
  sha256: z.string().nullable(),
  state: z.enum(['none', 'consent_needed', 'accepted', 'refused']),
})
export type AgentsMd = z.infer<typeof AgentsMd>

/** An entry of what `/` lists. */
export const Command = z
  .object({
    name: z.string(),
    kind: z.enum(['skill', 'prompt', 'mcp']),
    title: z.string(),
    description: z.string(),
    /** Names of what a person fills in. */
    fields: z.array(z.string()),
  })
  .meta({ id: 'Command' })
export type Command = z.infer<typeof Command>
export const CommandList = z.object({ items: z.array(Command) }).meta({ id: 'CommandList' })
