// The `use_skill` tool: gives a model the instructions of a skill, when it needs them.
import { z } from 'zod'
import type { ProjectId, UserId } from '../../../protocol/ids.ts'
import { defineTool, fail, succeed, type ToolDefinition } from '../../definition.ts'
import { projectOf } from '../files/project-access.ts'

/** The name of the tool. Its results are neither shortened nor cut. */
export const USE_SKILL = 'use_skill'

/** Longer files would fill the window of the model: characters. */
const MAX_FILE = 200 * 1024

/** Where the skills come from. Null as project: none. */
export interface SkillSource {
  /** The skills that may be used now. */
  active(
    userId: UserId,
    projectId: ProjectId | null,
  ): Promise<
    readonly { name: string; body: string; files: readonly string[]; modelInvocable: boolean }[]
  >
  /** A text file of such a skill; null without one. */
  activeFile(
    userId: UserId,
    projectId: ProjectId | null,
    name: string,
    path: string,
  ): Promise<string | null>
}

/** As the server has it. Each run offers it with the skills that it can use (`offerSkills`). */
export const createUseSkillTool = (skills: SkillSource): ToolDefinition =>
  defineTool({
    name: USE_SKILL,
    description:
      'Loads the instructions of a skill. Call it before a task that one of these skills is for, then follow the instructions.',
    category: 'agent',
    riskLevel: 'low',
    // Accepted instructions are as good as those of a person.
    namesAddresses: true,
    input: z.object({
      name: z.string().describe('The skill.'),
      file: z
        .string()
        .max(1_024)
        .optional()
        .describe('One of its files, instead of its instructions.'),
    }),
    async handler({ name, file }, context) {
      const { userId, loadedSkills } = context
      // Without repeating what the model still has.
      if (file === undefined && loadedSkills?.has(name))
        return succeed({ name, already_loaded: true }, { display: name })
      const projectId = await projectOf(context)
      // Read again: consent may have ended, or the files may have changed, since the run began.
      const skill = (await skills.active(userId, projectId)).find(
        (one) => one.name === name && one.modelInvocable,
      )
      if (skill === undefined) return fail(`There is no skill ${JSON.stringify(name)} to use now.`)
      if (file === undefined) {
        loadedSkills?.add(name)
        return {
          ...succeed(
            {
              name,
              instructions: skill.body,
              files: skill.files.filter((path) => path !== 'SKILL.md'),
            },
            { display: name },
          ),
          isKeptWhole: true,
        }
      }
      const content = await skills.activeFile(userId, projectId, name, file)
      if (content === null)
        return fail(`The skill has no text file ${JSON.stringify(file)}.`, {
          data: { files: skill.files },
        })
      if (content.length > MAX_FILE)
        return fail(`${JSON.stringify(file)} is too long: read it with file_read.`)
      return {
        ...succeed({ name, file, content }, { display: `${name}/${file}` }),
        isKeptWhole: true,
      }
    },
  })

/** The tool as runs with these skills offer it, which are sorted by name. */
export function offerSkills(
  tool: ToolDefinition,
  skills: readonly { name: string; description: string }[],
): ToolDefinition {
  const list = skills.map(({ name, description }) => `- ${name}: ${oneLine(description)}`)
  const { properties } = z
    .object({ properties: z.record(z.string(), z.record(z.string(), z.unknown())) })
    .parse(tool.parameters)
  return {
    ...tool,
    description: `${tool.description}\n${list.join('\n')}`,
    parameters: {
      ...tool.parameters,
      properties: {
        ...properties,
        name: { ...properties.name, enum: skills.map(({ name }) => name) },
      },
    },
  }
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ')
