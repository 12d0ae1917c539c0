// What is stored of a project that the prompt describes: its texts, its settings and its AGENTS.md.
import type { ProjectSource } from '../../agent/project-description.ts'
import { givesRole } from '../../db/repositories/projects/membership.ts'
import { settingsOf } from '../../db/repositories/projects/projects.ts'
import type { Store } from '../../db/store.ts'
import type { Consents } from '../../skills/consents.ts'

/** Finds projects of which the user is a member. An AGENTS.md is part of them only if this user has accepted it. */
export const findDescribedProject =
  ({
    projects,
    consents,
  }: {
    projects: Pick<Store['projects'], 'find'>
    consents: Pick<Consents, 'agentsMd'>
  }): ProjectSource['find'] =>
  async (userId, id) => {
    const project = await projects.find(userId, id)
    if (project === undefined) return undefined
    const { instructions, disabled_tools, uses_memory } = settingsOf(project)
    const { name, description } = project
    const { info, text } = await consents.agentsMd({ userId, projectId: id })
    return {
      storedBy: project.userId,
      agents: info.path === null || text === null ? null : { path: info.path, text },
      name,
      isScratch: project.scratch,
      description,
      instructions,
      disabledTools: disabled_tools,
      usesMemory: uses_memory,
      isReadOnly: !givesRole(project.role, 'edit'),
    }
  }
