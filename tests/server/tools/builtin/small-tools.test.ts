// The tools that depend only on their arguments.
import { describe, expect, test } from 'vitest'
import type { ConversationId } from '../../../../server/protocol/ids.ts'
import { createUseSkillTool } from '../../../../server/tools/builtin/agents/use-skill.ts'
import { calculateArea } from '../../../../server/tools/builtin/compute/area.ts'
import { calculator } from '../../../../server/tools/builtin/compute/calculator.ts'
import { createClockTool } from '../../../../server/tools/builtin/compute/clock.ts'
import { jsonProcess } from '../../../../server/tools/builtin/compute/json.ts'
import { textProcess } from '../../../../server/tools/builtin/compute/text.ts'
import { createResultReadTool } from '../../../../server/tools/builtin/knowledge/result-read.ts'
import { createMemoryLongResults } from '../../../../server/tools/long-results.ts'
import { context, runTool, toolContext } from '../support.ts'

describe('calculator', () => {
  test.each([
    ['1 + 2 * 3', 7],
    ['(1 + 2) * 3', 9],
    ['2 ^ 3 ^ 2', 512],
    ['2 ** 10', 1024],
    ['-2 ^ 2', -4],
    ['+4 - -3', 7],
    ['7 % 3', 1],
    ['-7 % 3', 2],
    ['1.5e3 / 2', 750],
    ['.5 + 1E-1', 0.6],
    ['2 ^ -1', 0.5],
    ['（１＋２）×３÷９', 1],
    ['0 * -1', 0],
  ])('computes %s as %d', async (expression, result) => {
    expect(await runTool(calculator, { expression })).toEqual({
      success: true,
      data: { expression, result },
    })
  })

  test.each([
    'sqrt(4)',
    'pi',
    'x = 1',
    'f(x) = x',
    '[1, 2]',
    '"a"',
    '1; 2',
    '2 cm',
    '1:5',
    '2(3)',
    '3!',
    "3'",
    'true',
    '1 > 2',
    '1 ? 2 : 3',
    'import("fs")',
    '1 +',
    '{a: 1}',
    '1 & 2',
  ])('refuses %s', async (expression) => {
    const result = await runTool(calculator, { expression })
    expect(result.success).toBe(false)
  })

  test.each(['1 / 0', '0 / 0', '9 ^ 9 ^ 9 ^ 9', '1e400', '5 % 0'])(
    'fails for %s because the result is not finite',
    async (expression) => {
      expect(await runTool(calculator, { expression })).toMatchObject({
        success: false,
        error: expect.stringContaining('not a finite number'),
      })
    },
  )

  test('refuses overlong expressions and evaluates deeply nested ones', async () => {
    expect((await runTool(calculator, { expression: '1+'.repeat(400) })).success).toBe(false)
    const nested = `${'('.repeat(200)}1${')'.repeat(200)}`
    expect(await runTool(calculator, { expression: nested })).toMatchObject({ data: { result: 1 } })
  })
})

describe('text_process', () => {
  const process = async (operation: string, text: string): Promise<unknown> => {
    const result = await runTool(textProcess, { text, operation })
    return result.success ? result.data : result.error
  }

  test('counts a character once, wherever it is in a long text', async () => {
    const family = '👨‍👩‍👧'
    for (const lead of [505, 508, 510, 511, 512, 513])
      expect(
        await process('count', `${'a'.repeat(lead)}${family}🇩🇪🇫🇷${'b'.repeat(100_000)}`),
      ).toEqual({
        count: lead + 3 + 100_000,
      })
    expect(await process('words', '今天天气'.repeat(1_000))).toMatchObject({ count: 2_000 })
  })

  test('counts and reverses characters as a reader sees them', async () => {
    const text = 'e\u0301👨‍👩‍👧🇩🇪x'
    expect(await process('count', text)).toEqual({ count: 4 })
    expect(await process('reverse', text)).toEqual({ result: 'x🇩🇪👨‍👩‍👧e\u0301' })
  })

  test('counts lines with any line ending, and a final line ending begins no new line', async () => {
    expect(await process('lines', 'a\r\nb\rc\n')).toEqual({ count: 3, lines: ['a', 'b', 'c'] })
    expect(await process('lines', 'a\n\nb')).toEqual({ count: 3, lines: ['a', '', 'b'] })
    expect(await process('lines', '')).toEqual({ count: 0, lines: [] })
  })

  test('counts words, also in languages without spaces', async () => {
    expect(await process('words', "  it's  state-of-the-art\nnow ")).toMatchObject({ count: 3 })
    expect(await process('words', '我爱北京')).toMatchObject({ words: ['我', '爱', '北京'] })
  })

  test('changes case', async () => {
    expect(await process('upper', 'straße')).toEqual({ result: 'STRASSE' })
    expect(await process('lower', 'ÀB')).toEqual({ result: 'àb' })
  })

  test('refuses an unknown operation and names the known ones', async () => {
    expect(await process('translate', 'a')).toContain('"reverse"')
  })
})

describe('json_process', () => {
  const run = (operation: string, json_string: string) =>
    runTool(jsonProcess, { json_string, operation })

  test('parses, formats and lists keys', async () => {
    expect(await run('parse', '{"a":[1,null]}')).toMatchObject({
      data: { type: 'object', result: { a: [1, null] } },
    })
    expect(await run('format', '{"a":1}')).toMatchObject({ data: { result: '{\n  "a": 1\n}' } })
    expect(await run('keys', '{"b":1,"a":2}')).toMatchObject({ data: { keys: ['b', 'a'] } })
    expect(await run('keys', '[1,2]')).toMatchObject({
      success: false,
      error: expect.stringContaining('an array of 2 items'),
    })
  })

  test('reports invalid text when validating, and fails on it otherwise', async () => {
    expect(await run('validate', '{"a":1}')).toMatchObject({ data: { valid: true } })
    expect(await run('validate', '{a:1}')).toMatchObject({ success: true, data: { valid: false } })
    expect(await run('parse', '{a:1}')).toMatchObject({ success: false })
  })

  test('refuses deep nesting, not counting brackets in strings', async () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000)
    expect(await run('format', deep)).toMatchObject({
      success: false,
      error: expect.stringContaining('deeper than 100'),
    })
    expect(await run('parse', JSON.stringify('['.repeat(1000)))).toMatchObject({ success: true })
  })

  test('treats a key named __proto__ like any other', async () => {
    const result = await run('keys', '{"__proto__":{"admin":true}}')
    expect(result).toMatchObject({ data: { keys: ['__proto__'] } })
    expect(Object.hasOwn(Object.prototype, 'admin')).toBe(false)
  })
})

describe('get_current_time', () => {
  const clock = createClockTool(() => new Date('2026-03-01T23:30:05Z'))

  test('returns the time of a zone with its offset and weekday', async () => {
    expect(await runTool(clock, { timezone: 'Asia/Shanghai' })).toMatchObject({
      data: {
        timezone: 'Asia/Shanghai',
        datetime: '2026-03-02T07:30:05+08:00',
        weekday: 'Monday',
        unix: 1772407805,
      },
    })
    expect(await runTool(clock, { timezone: 'UTC' })).toMatchObject({
      data: { datetime: '2026-03-01T23:30:05+00:00', weekday: 'Sunday' },
    })
    expect(await runTool(clock, { timezone: 'UTC-5' })).toMatchObject({
      data: { datetime: '2026-03-01T18:30:05-05:00' },
    })
  })

  test("fails for an unknown zone and lists valid examples, and uses the server's zone by default", async () => {
    expect(await runTool(clock, { timezone: 'Mars/Olympus' })).toMatchObject({
      success: false,
      error: expect.stringContaining('Europe/Berlin'),
    })
    expect((await runTool(clock, {})).success).toBe(true)
  })
})

describe('calculate_area', () => {
  test.each([
    [{ shape: 'circle', radius: 5 }, Math.PI * 25],
    [{ shape: 'circle', diameter: 10 }, Math.PI * 25],
    [{ shape: 'rectangle', width: 5, height: 3 }, 15],
    [{ shape: 'rectangle', length: 5, width: 3 }, 15],
    [{ shape: 'square', side: 4 }, 16],
    [{ shape: 'triangle', base: 6, height: 2 }, 6],
    [{ shape: 'triangle', side_a: 3, side_b: 4, side_c: 5 }, 6],
    [{ shape: 'trapezoid', base_a: 2, base_b: 4, height: 3 }, 9],
    [{ shape: 'parallelogram', base: 2, height: 3 }, 6],
    [{ shape: 'ellipse', semi_major: 3, semi_minor: 2 }, Math.PI * 6],
    [{ shape: 'rhombus', diagonal_a: 4, diagonal_b: 3 }, 6],
    [{ shape: 'sector', radius: 2, angle: 90 }, Math.PI],
    [{ shape: 'regular_polygon', sides: 4, side: 3 }, 9],
  ])('computes the area of %j', async (input, area) => {
    const result = await runTool(calculateArea, input)
    expect(result).toMatchObject({ success: true })
    expect(result.success && (result.data as { area: number }).area).toBeCloseTo(area, 9)
  })

  test('says which sizes are missing, and refuses impossible ones', async () => {
    expect(await runTool(calculateArea, { shape: 'trapezoid', height: 1 })).toMatchObject({
      error: 'A trapezoid needs: base_a, base_b, height.',
    })
    expect((await runTool(calculateArea, { shape: 'circle', radius: -1 })).success).toBe(false)
    const sides = { shape: 'triangle', side_a: 1, side_b: 1, side_c: 5 }
    expect((await runTool(calculateArea, sides)).success).toBe(false)
    expect((await runTool(calculateArea, { shape: 'blob' })).success).toBe(false)
  })
})

describe('result_read', () => {
  test('returns slices that add up to the whole result without splitting a character', async () => {
    const results = createMemoryLongResults()
    const tool = createResultReadTool(results)
    const whole = '"😀\n'.repeat(30_000)
    const handle = await results.create(context, whole)
    let read = ''
    for (let offset: number | null = 0; offset !== null; ) {
      const result = await runTool(tool, { handle, offset, length: 39_999 })
      if (!result.success) throw new Error(result.error)
      const slice = result.data as { content: string; next_offset: number | null }
      expect(() => encodeURIComponent(slice.content)).not.toThrow()
      expect(JSON.stringify(slice).length).toBeLessThan(45_000)
      read += slice.content
      offset = slice.next_offset
    }
    expect(read).toBe(whole)
  })

  test('accepts a handle only in its conversation', async () => {
    const results = createMemoryLongResults()
    const tool = createResultReadTool(results)
    const handle = await results.create(context, 'secret')
    const elsewhere = toolContext({ conversationId: 'another' as ConversationId })
    expect((await runTool(tool, { handle }, elsewhere)).success).toBe(false)
    expect((await runTool(tool, { handle: 'result-99' })).success).toBe(false)
    expect((await runTool(tool, { handle })).success).toBe(true)
  })
})

test('use_skill gives a file of a skill whole, and refuses one that would fill the window', async () => {
  const files: Record<string, string> = { short: 'Salt.', long: 'x'.repeat(200 * 1024 + 1) }
  const tool = createUseSkillTool({
    active: async () => [
      { name: 'cook', body: 'Cook.', files: Object.keys(files), modelInvocable: true },
    ],
    activeFile: async (_userId, _projectId, _name, path) => files[path] ?? null,
  })
  const short = await runTool(tool, { name: 'cook', file: 'short' })
  expect(short).toMatchObject({ success: true, data: { content: 'Salt.' } })
  const long = await runTool(tool, { name: 'cook', file: 'long' })
  expect(long.success).toBe(false)
  expect(JSON.stringify(long)).toContain('read it with file_read')
})
