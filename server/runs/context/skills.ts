// The skills that a run offers its model, and which of them the model has read already.
import { LRUCache } from 'lru-cache'
import { oncePer } from '../../lib/once-per.ts'
import type { LlmMessage } from '../../llm/client.ts'
import type { ActiveSkill } from '../../skills/skills.ts'
import { offerSkills, USE_SKILL } from '../../tools/builtin/agents/use-skill.ts'
import { createToolSet, type ToolSet } from '../../tools/registry.ts'

/** The tools, with `use_skill` for these skills; without it if there are none, so that nobody pays for it. */
export function withSkills(all: ToolSet, skills: readonly ActiveSkill[]): ToolSet {
  const tool = all.get(USE_SKILL)
  if (tool === undefined) return all
  const known = knownSets(all)
  const key = JSON.stringify(skills.map(({ name, description }) => [name, description]))
  const found = known.get(key)
  if (found !== undefined) return found
  const others = all.list().filter(({ name }) => name !== USE_SKILL)
  const set = createToolSet(skills.length === 0 ? others : [...others, offerSkills(tool, skills)])
  known.set(key, set)
  return set
}

/** By the names and descriptions of the skills: most runs offer what another one has offered. */
const knownSets = oncePer((_all: ToolSet) => new LRUCache<string, ToolSet>({ max: 20 }))

/** Names of the skills whose current instructions are among the messages. */
export function loadedSkills(
  skills: readonly ActiveSkill[],
  messages: readonly LlmMessage[],
): string[] {
  const results = messages.flatMap((message) =>
    message.role === 'tool' && message.name === USE_SKILL ? [message.content] : [],
  )
  if (results.length === 0) return []
  return skills
    .filter(({ name, body }) => {
      // Without the name there is no need to write and compare long instructions.
      const named = results.filter((content) => content.includes(`"name":"${name}"`))
      if (named.length === 0) return false
      const part = JSON.stringify({ name, instructions: body }).slice(0, -1)
      return named.some((content) => content.includes(part))
    })
    .map(({ name }) => name)
}

/** '' without skills. A skill that can no longer be used since the run was created is left out. */
export const skillNote = (
  names: readonly string[],
  active: readonly Pick<ActiveSkill, 'name' | 'body'>[],
): string =>
  names
    .flatMap((name) => active.find((skill) => skill.name === name) ?? [])
    .map(
      ({ name, body }) =>
        `The user has chosen the skill "${name}" for this message. Follow its instructions:\n\n${body}`,
    )
    .join('\n\n')
