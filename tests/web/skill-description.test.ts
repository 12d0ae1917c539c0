// The skills of the server as people read them.
import { readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { BUILT_IN_SKILLS } from '../../web/src/lib/skill-description.ts'

const FOLDER = resolve(import.meta.dirname, '../../skills')

test('every skill that comes with the server has a description in the languages of the page', () => {
  const written = readdirSync(FOLDER).map((name) => {
    const text = readFileSync(resolve(FOLDER, name, 'SKILL.md'), 'utf8')
    return [name, /^description: (.*)$/m.exec(text)?.[1]]
  })
  expect(BUILT_IN_SKILLS).toEqual(Object.fromEntries(written))
})
