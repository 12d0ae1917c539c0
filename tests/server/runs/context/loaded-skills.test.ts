// Which skills the model has read already: those whose instructions are still in what it receives.
import { expect, test } from 'vitest'
import { CallId } from '../../../../server/protocol/ids.ts'
import { loadedSkills } from '../../../../server/runs/context.ts'
import type { ActiveSkill } from '../../../../server/skills/skills.ts'

const skill = (name: string, body: string): ActiveSkill => ({
  name,
  body,
  description: name,
  license: null,
  compatibility: null,
  metadata: {},
  allowed_tools: [],
  modelInvocable: true,
  userInvocable: true,
  warnings: [],
  source: 'user',
  sha256: name,
  files: [],
})
const result = (data: object, name = 'use_skill') => ({
  role: 'tool' as const,
  name,
  callId: CallId.parse('a'),
  content: JSON.stringify({ success: true, data }),
})

test('instructions count when they are those of now, whole, and a result of the tool', () => {
  const cook = skill('cook', 'Salt "it".')
  const whole = { name: 'cook', instructions: 'Salt "it".', files: [] }
  expect(loadedSkills([cook, skill('bake', 'x')], [result(whole)])).toEqual(['cook'])
  for (const messages of [
    [],
    [result({ ...whole, instructions: 'Salt' })],
    [result({ name: 'cook', already_loaded: true })],
    [result(whole, 'file_read')],
  ])
    expect(loadedSkills([cook], messages)).toEqual([])
})
