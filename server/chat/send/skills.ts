// The skills that a message asks for: checked, with the limits that they give its run.
import { appError } from '../../errors.ts'
import type { ProjectId, UserId } from '../../protocol/ids.ts'
import type { ChatDependencies } from '../../runs/dependencies.ts'
import type { RunOptions } from '../../runs/state.ts'
import { RESEARCH } from '../../skills/built-in.ts'

/**
 * The options of a run with these skills, each name once.
 * @throws AppError `skill_unknown` or `skill_not_active`; `details` has the name, and the state of a skill that exists.
 */
export async function skillOptions(
  asked: readonly string[] | undefined,
  { userId, projectId }: { userId: UserId; projectId: ProjectId | null },
  { skills, settings }: Pick<ChatDependencies, 'skills' | 'settings'>,
): Promise<Pick<RunOptions, 'skills' | 'limits'>> {
  const names = [...new Set(asked)]
  if (names.length === 0) return {}
  const active = await skills.active(userId, projectId)
  for (const name of names) {
    if (active.some((skill) => skill.name === name && skill.userInvocable)) continue
    const state = await skills.stateOf(userId, projectId, name)
    throw state === null
      ? appError('skill_unknown', { name }, { details: { name } })
      : appError('skill_not_active', { name }, { details: { name, state } })
  }
  const isResearch = active.some(
    ({ name, source }) => name === RESEARCH && source === 'server' && names.includes(name),
  )
  return { skills: names, ...(isResearch ? { limits: settings.research } : {}) }
}
