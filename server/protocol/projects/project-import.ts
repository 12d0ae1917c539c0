// What an import of a project reports: what was taken, changed or left out.
import { z } from 'zod'
import { ProjectId } from '../ids.ts'
import { ProjectDetail } from './project.ts'

/** What a note is about. */
export const ImportedPart = z.enum([
  'approval',
  'description',
  'documents',
  'examples',
  'files',
  'greeting',
  'greetings',
  'icon',
  'instructions',
  'knowledge',
  'lorebook',
  'max_tokens',
  'model',
  'name',
  'parameters',
  'placeholders',
  'starters',
  'sub_agents',
  'temperature',
  'tools',
])
export type ImportedPart = z.infer<typeof ImportedPart>

/** Why a part was changed or left out. */
export const ImportReason = z.enum([
  'asks_less',
  'beyond_limits',
  'hidden_characters',
  'in_file',
  'in_instructions',
  'name_taken',
  'no_counterpart',
  'not_filled_in',
  'not_in_file',
  'not_offered',
  'shortened',
  'too_many',
  'unreadable',
  'whole_in_file',
])
export type ImportReason = z.infer<typeof ImportReason>

/** What became of a part of an assistant. */
export const ImportNote = z
  .object({
    part: ImportedPart,
    outcome: z.enum(['taken', 'changed', 'left_out']),
    reason: ImportReason.optional(),
    /** A name or number from the file, such as a model's id. */
    detail: z.string().optional(),
  })
  .meta({ id: 'ProjectImportNote' })
export type ImportNote = z.infer<typeof ImportNote>

/** The programs whose assistants become projects. */
export const AssistantFormat = z.enum(['nanoclaw', 'librechat', 'open_webui', 'character_card'])
export type AssistantFormat = z.infer<typeof AssistantFormat>

/** The report of an import; its projects in the order of the file. */
export const ProjectImportReport = z
  .object({
    format: AssistantFormat,
    projects: z.array(z.object({ id: ProjectId, name: z.string(), notes: z.array(ImportNote) })),
    /** Entries of the file that are no assistants, such as models without instructions. */
    skipped: z.int(),
  })
  .meta({ id: 'ProjectImportReport' })
export type ProjectImportReport = z.infer<typeof ProjectImportReport>

/** The first project of an import, with the report about all. */
export const ImportedProject = ProjectDetail.extend({ report: ProjectImportReport }).meta({
  id: 'ImportedProject',
})
