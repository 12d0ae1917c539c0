// What is read of a SKILL.md, which may come from anywhere.
import { describe, expect, test } from 'vitest'
import { readSkillText } from '../../../server/skills/front-matter.ts'

const read = (text: string, folder: string | null = 'cook') =>
  readSkillText(Buffer.from(text), folder)
const withHead = (head: string, body = 'Cook well.') => read(`---\n${head}\n---\n${body}`)
const GOOD = 'name: cook\ndescription: Cooks dinner.'

describe('the front matter of a skill', () => {
  test('gives all fields of the format, and the instructions below it', () => {
    const text = `${GOOD}\nlicense: MIT\ncompatibility: Needs a stove\nmetadata:\n  author: ann\n  version: 2\nallowed-tools: file_read exec`
    expect(withHead(text, '\n# Dinner\n\nCook.\n')).toEqual({
      ok: true,
      name: 'cook',
      description: 'Cooks dinner.',
      license: 'MIT',
      compatibility: 'Needs a stove',
      metadata: { author: 'ann', version: '2' },
      allowed_tools: ['file_read', 'exec'],
      modelInvocable: true,
      userInvocable: true,
      body: '# Dinner\n\nCook.',
      warnings: [],
    })
  })

  test('says who may use the skill', () => {
    expect(withHead(`${GOOD}\ndisable-model-invocation: true`)).toMatchObject({
      modelInvocable: false,
      userInvocable: true,
    })
    expect(withHead(`${GOOD}\nuser-invocable: false`)).toMatchObject({
      modelInvocable: true,
      userInvocable: false,
    })
  })

  test('may have values with a colon, fields that are not known, and values of another form, each with a warning', () => {
    const colon = withHead('name: cook\ndescription: Use it for: dinner, and lunch')
    expect(colon).toMatchObject({ ok: true, description: 'Use it for: dinner, and lunch' })
    expect(colon.warnings).toHaveLength(1)
    const unknown = withHead(`${GOOD}\nalways-apply: true\nlicense: [1]`)
    expect(unknown).toMatchObject({ ok: true, license: null })
    expect(unknown.warnings).toHaveLength(2)
  })

  test('has CRLF or a byte order mark like any text', () => {
    expect(read(`\ufeff---\r\n${GOOD.replace('\n', '\r\n')}\r\n---\r\nCook.`)).toMatchObject({
      ok: true,
      body: 'Cook.',
    })
  })

  test.each([
    ['no front matter', read('# Cook')],
    ['no end', read(`---\n${GOOD}\n`)],
    ['a character that no text shows', withHead(GOOD, 'Cook\0')],
    ['too many fields', withHead(`${GOOD}\n${'a: 1\n'.repeat(64)}`)],
    ['too many values', withHead(`${GOOD}\nmetadata: [${'1,'.repeat(201)}]`)],
    ['no description', withHead('name: cook')],
    ['an empty description', withHead('name: cook\ndescription: "  "')],
    ['a description that is too long', withHead(`name: cook\ndescription: ${'x'.repeat(1_025)}`)],
    ['no name', withHead('description: Cooks.')],
    ['a name of another folder', withHead('name: bake\ndescription: Bakes.')],
    ['a name that leaves the folder', read('---\nname: ../cook\ndescription: x\n---\n', null)],
    ['a name of 65 characters', read(`---\nname: ${'a'.repeat(65)}\ndescription: x\n---\n`, null)],
    ['a list', withHead('- name: cook')],
    ['a text', withHead('cook')],
    ['the same field twice', withHead(`${GOOD}\nname: cook`)],
    ['bytes that are no text', readSkillText(Buffer.from([0x2d, 0x2d, 0x2d, 0xff, 0xfe]), 'cook')],
  ])('with %s is refused with the reason', (_what, result) => {
    expect(result).toMatchObject({ ok: false, error: expect.stringMatching(/\S/) })
  })

  test.each([
    ['aliases that unfold without end', `a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n${GOOD}`],
    ['ten thousand brackets', `${GOOD}\nmetadata: ${'['.repeat(10_000)}`],
    ['more than 16 KB', `${GOOD}\nlicense: ${'x'.repeat(17_000)}`],
    ['a tag of a program', `${GOOD}\nlicense: !!js/function "function(){}"`],
    ['a key with a meaning for JavaScript', `${GOOD}\n__proto__: {polluted: true}`],
  ])('with %s does no harm', (_what, head) => {
    // Without a bound, each of them would take minutes or end the process.
    withHead(head)
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })
})
