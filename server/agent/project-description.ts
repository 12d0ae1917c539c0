// What the prompt says about the project of a conversation.
import { OWN_FILES_NOTE, PROJECT_NOTE, READ_ONLY_NOTE } from '../llm/project-note.ts'
import type { ProjectId, UserId } from '../protocol/ids.ts'

/** A project, as its owner describes it. */
interface DescribedProject {
  /** Who stores it. */
  storedBy: UserId
  name: string
  /** Whether it holds the files of one conversation. */
  isScratch: boolean
  description: string | null
  instructions: string
  disabledTools: readonly string[]
  usesMemory: boolean
  /** Whether the user may change nothing in it. */
  isReadOnly: boolean
  /** The instructions for agents among its files, if the user has accepted them. */
  agents: { path: string; text: string } | null
}

/** Where projects and their files are found. */
export interface ProjectSource {
  find(userId: UserId, id: ProjectId): Promise<DescribedProject | undefined>
  /** The entries of its top folder. `storedBy` stores the project: who reads is not asked. */
  list(storedBy: UserId, id: ProjectId): Promise<readonly { name: string; kind: string }[]>
  /** Those of the names of its top folder that may come from outside. */
  namesFromOutside(
    storedBy: UserId,
    id: ProjectId,
    names: readonly string[],
  ): Promise<ReadonlySet<string>>
}

/** Maximum number of entries of the top folder in the prompt. */
const MAX_LISTED = 50
/** Entries of the top folder that are checked for the listing. */
const MAX_CHECKED = 200

/** Describes a conversation's project; null when the project has been deleted. */
export const createProjectDescription =
  (projects: ProjectSource) => async (userId: UserId, projectId: ProjectId) => {
    const project = await projects.find(userId, projectId)
    if (project === undefined) return null
    const { name, isScratch, description, instructions, disabledTools, usesMemory, agents } =
      project
    const { isReadOnly } = project
    // The description is useful without the listing; tools report problems with the folder.
    const entries = await projects.list(project.storedBy, projectId).catch(() => [])
    // Names that may come from outside are omitted: they would taint every conversation of the project.
    const checked = entries.slice(0, MAX_CHECKED)
    const hidden = await projects.namesFromOutside(
      project.storedBy,
      projectId,
      checked.map((entry) => entry.name),
    )
    const names = checked
      .filter((entry) => !hidden.has(entry.name))
      .slice(0, MAX_LISTED)
      .map((entry) => JSON.stringify(entry.kind === 'directory' ? `${entry.name}/` : entry.name))
    const rest = entries.length - names.length
    const about = isScratch
      ? OWN_FILES_NOTE
      : [
          `The user's project is named ${JSON.stringify(name)}.`,
          ...(description === null ? [] : [`Description: ${JSON.stringify(description)}.`]),
          PROJECT_NOTE,
          ...(project.isReadOnly ? [READ_ONLY_NOTE] : []),
        ].join(' ')
    const whole = isScratch ? 'conversation' : 'project'
    const listing =
      entries.length === 0
        ? `The ${whole} has no files yet.`
        : `Top-level entries of the ${whole}: ${[...names, ...(rest > 0 ? [`${rest} more (see file_list)`] : [])].join(', ')}.`
    return {
      about: [
        about,
        ...(instructions === ''
          ? []
          : [`The user's instructions for this project:\n${instructions}`]),
        ...(agents === null
          ? []
          : [`The ${whole}'s ${agents.path}, which the user has accepted:\n${agents.text}`]),
      ].join('\n\n'),
      listing,
      disabledTools,
      usesMemory,
      isReadOnly,
    }
  }
