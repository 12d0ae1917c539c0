// What models read about the project of a conversation.
import { expect, test } from 'vitest'
import {
  createProjectDescription,
  type ProjectSource,
} from '../../../server/agent/project-description.ts'
import { ProjectId, UserId } from '../../../server/protocol/ids.ts'

const USER = UserId.parse('00000000-0000-4000-8000-000000000001')
const PROJECT = ProjectId.parse('00000000-0000-4000-8000-000000000002')

const describeIn = (source: Partial<ProjectSource>) =>
  createProjectDescription({
    find: async () => ({
      storedBy: USER,
      name: 'Garden',
      description: 'Beds and paths',
      instructions: 'Answer in metres.',
      disabledTools: ['exec'],
      usesMemory: false,
      isReadOnly: false,
      isScratch: false,
      agents: null,
    }),
    list: async () => [
      { name: 'plan', kind: 'directory' },
      { name: 'notes.md', kind: 'file' },
      { name: 'from a stranger.txt', kind: 'file' },
    ],
    namesFromOutside: async () => new Set(['from a stranger.txt']),
    ...source,
  })(USER, PROJECT)

test('the description has the name, the purpose and the instructions, and lists the top folder without names from outside', async () => {
  const described = await describeIn({})
  expect(described?.about).toContain('"Garden"')
  expect(described?.about).toContain('"Beds and paths"')
  expect(described?.about.endsWith('Answer in metres.')).toBe(true)
  expect(described?.listing).toBe(
    'Top-level entries of the project: "plan/", "notes.md", 1 more (see file_list).',
  )
  expect(described).toMatchObject({ disabledTools: ['exec'], usesMemory: false })
})

test('a deleted project has no description', async () => {
  expect(await describeIn({ find: async () => undefined })).toBeNull()
})

test('a folder that cannot be read does not keep the description back', async () => {
  const list = async () => {
    throw new Error('no such folder')
  }
  const described = await describeIn({ list, namesFromOutside: async () => new Set() })
  expect(described?.about).toContain('"Garden"')
  expect(described?.listing).toBe('The project has no files yet.')
})
