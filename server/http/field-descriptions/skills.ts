// Descriptions for the API reference: skills, consent and commands.
import type { z } from 'zod'
import type {
  Command,
  ConsentBody,
  ConsentItem,
  Skill,
  SkillDetails,
  SkillFile,
  Suspicious,
  WriteSkillBody,
} from '../../protocol/projects/skills.ts'
import { type FieldsOf, within } from './describe-fields.ts'

const skill = {
  name: 'The name of the skill, which is that of its folder.',
  description: 'What the skill is for. Empty if the skill is invalid.',
  source: 'Where the skill comes from.',
  path: 'The folder of a skill of a project. Absent for others.',
  state:
    '`active`: can be used; `consent_needed`, `refused`: you have not accepted this version; `off`: switched off; `hidden`: another skill has the name; `invalid`: cannot be read.',
  model_invocable: 'Whether models may use the skill by themselves.',
  user_invocable: 'Whether people may choose the skill for a message.',
  tokens: 'An estimate of the tokens of the instructions.',
  sha256: 'SHA-256 of the sorted lines `<sha256 of a file>  <path>` of all files.',
  files: 'The number of files.',
  warnings: 'What was ignored in its SKILL.md.',
  error: 'Why the skill is invalid. Absent for others.',
} satisfies FieldsOf<Skill>

/** By the id of a schema in the reference. */
export const SKILL_DESCRIPTIONS = {
  Skill: skill,
  SkillList: { items: 'The skills, by source.' },
  SkillDetails: {
    ...skill,
    license: 'The license that the skill names. Null: none.',
    compatibility: 'What the skill needs. Null: not said.',
    metadata: 'Other data that the skill gives.',
    allowed_tools: 'Tools that the skill names. They are shown only.',
    body: 'The instructions in Markdown.',
    files: within('The files of the skill.', {
      path: 'The path in the folder of the skill.',
      size: 'The size in bytes.',
    }),
    accepted_sha256: 'The version that you have accepted last. Null: none.',
  } satisfies FieldsOf<SkillDetails>,
  SkillFile: {
    path: 'The path in the folder of the skill.',
    content: 'The text of the file.',
  } satisfies FieldsOf<z.infer<typeof SkillFile>>,
  WriteSkill: {
    content: 'The text of a SKILL.md: front matter, then Markdown.',
  } satisfies FieldsOf<z.infer<typeof WriteSkillBody>>,
  CreateSkill: { content: 'The text of a SKILL.md. Leave it out to send a file.' },
  Consent: {
    what: 'A skill, or the instructions for agents in AGENTS.md or CLAUDE.md.',
    name: 'The name of the skill.',
    sha256: 'The version that you have read.',
    decision: 'What you decide. A later decision about the same version replaces it.',
  } satisfies FieldsOf<ConsentBody>,
  ConsentItem: {
    what: 'A skill, or the instructions for agents.',
    name: 'The name of the skill. Absent for AGENTS.md.',
    path: 'The folder of the skill, or the file.',
    sha256: 'The current version, to accept or refuse.',
    accepted_sha256: 'The version that you have accepted last. Null: none.',
    diff: 'What has changed since the accepted version, as a unified diff.',
    suspicious: 'Places to look at before accepting.',
    changed_by: 'The tool of the last change. Null: not known.',
    changed_at: 'When a file last changed.',
  } satisfies FieldsOf<ConsentItem>,
  ConsentList: { items: 'What waits for your consent.' },
  Suspicious: {
    kind: 'What is suspicious: something that is not shown, invisible characters, characters that change the direction of text, base64, or a command that runs what it downloads.',
    line: 'The line, from 1.',
    detail: 'The characters by number, or the beginning of the text.',
  } satisfies FieldsOf<Suspicious>,
  Command: {
    name: 'The name: of a skill, of a saved prompt, or `server:prompt`.',
    kind: '`skill`: goes into `skills` of a message; `prompt`: a saved prompt; `mcp`: a prompt of an MCP server.',
    title: 'The name for people.',
    description: 'What it is for.',
    fields: 'Names of what is filled in before its text is inserted.',
  } satisfies FieldsOf<Command>,
  CommandList: { items: 'Skills, saved prompts, and prompts of MCP servers.' },
}
