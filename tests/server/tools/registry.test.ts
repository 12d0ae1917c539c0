// The tool registry and the rules for risk levels.

import { describe, expect, test } from 'vitest'
import { UserId } from '../../../server/protocol/ids.ts'
import type { ToolDefinition } from '../../../server/tools/definition.ts'
import { createToolRegistry, createToolSet } from '../../../server/tools/registry.ts'
import { type CallRisk, needsApproval } from '../../../server/tools/risk.ts'
import { countingTool } from './support.ts'

const SOMEBODY = UserId.parse('018f0000-0000-7000-8000-000000000001')

const tools = ['calculator', 'web_search', 'file_read'].map((name) => countingTool({ name }).tool)
const withAlias = { ...countingTool({ name: 'fetch_page' }).tool, aliases: ['web_fetch'] }

describe('tool registry', () => {
  test('finds a tool by its name and by its alias, and lists only names', () => {
    const set = createToolSet([...tools, withAlias])
    expect(set.get('web_fetch')?.name).toBe('fetch_page')
    expect(set.list().map((tool) => tool.name)).toEqual([
      'calculator',
      'web_search',
      'file_read',
      'fetch_page',
    ])
  })

  test.each(['constructor', '__proto__', 'toString', 'hasOwnProperty', ''])(
    'has no tool under the inherited name %j',
    (name) => expect(createToolSet(tools).get(name)).toBeUndefined(),
  )

  test('suggests the closest tools for an unknown name', () => {
    const set = createToolSet([...tools, withAlias])
    expect(set.closest('calculater')[0]).toBe('calculator')
    expect(set.closest('websearch')[0]).toBe('web_search')
    expect(set.closest('WebFetch')[0]).toBe('fetch_page')
    expect(set.closest('quite_something_else_entirely')).toEqual([])
  })

  test('keeps names and aliases when another source offers tools of the same name', () => {
    const outside = ['calculator', 'web_fetch'].map((name) => countingTool({ name }).tool)
    const registry = createToolRegistry([() => [...tools, withAlias], () => outside])
    const set = registry.snapshot(SOMEBODY)
    expect(set.get('calculator')).toBe(tools[0])
    expect(set.get('web_fetch')).toBe(withAlias)
    expect(set.list()).toHaveLength(4)
  })

  test('keeps the tools of a snapshot while those of a source come and go', () => {
    let outside: readonly ToolDefinition[] = [withAlias]
    const registry = createToolRegistry([() => tools, () => outside])
    const before = registry.snapshot(SOMEBODY)
    expect(registry.snapshot(SOMEBODY)).toBe(before)
    outside = []
    expect(registry.snapshot(SOMEBODY).get('web_fetch')).toBeUndefined()
    expect(before.get('web_fetch')).toBe(withAlias)
  })

  test('leaves out a disabled tool, and applies a configured risk level to every call', () => {
    const set = createToolRegistry([() => tools], {
      disabled: ['web_search'],
      risk: { calculator: 'high' },
    }).snapshot(SOMEBODY)
    expect(set.get('web_search')).toBeUndefined()
    const calculator = set.get('calculator')
    const parsed = calculator?.parse('{"value":"1"}')
    expect(calculator?.riskLevel).toBe('high')
    expect(parsed?.ok && parsed.input.riskLevel).toBe('high')
  })
})

describe('risk', () => {
  const asked = (over: Partial<CallRisk>): boolean =>
    needsApproval({
      name: 'file_write',
      category: 'files',
      riskLevel: 'medium',
      mode: 'ask',
      tainted: false,
      ...over,
    })

  test.each([
    ['low', 'ask', false, false],
    ['medium', 'ask', false, true],
    ['high', 'ask', false, true],
    ['medium', 'auto_medium', false, false],
    ['high', 'auto_medium', false, true],
    ['medium', 'auto_medium', true, true],
    ['high', 'auto_medium', true, true],
    ['low', 'auto_medium', true, false],
    ['medium', 'auto', true, false],
    ['high', 'auto', true, false],
  ] as const)(
    '%s under %s, tainted %s: needs approval %s',
    (riskLevel, mode, tainted, expected) => {
      expect(asked({ riskLevel, mode, tainted })).toBe(expected)
    },
  )

  test.each(['ask', 'auto_medium', 'auto'] as const)(
    'what acts later is always asked for in a tainted conversation, under %s too',
    (mode) => {
      const schedule = { name: 'schedule_create', category: 'schedule', mode, tainted: true }
      expect(asked({ ...schedule, riskLevel: 'medium' })).toBe(true)
      expect(asked({ ...schedule, riskLevel: 'low' })).toBe(false)
    },
  )

  test('remembering a fact needs approval in a tainted conversation only', () => {
    const memory = { name: 'save_memory', riskLevel: 'low' } as const
    expect(asked(memory)).toBe(false)
    expect(asked({ ...memory, tainted: true })).toBe(true)
    expect(asked({ ...memory, tainted: true, mode: 'auto_medium' })).toBe(true)
    expect(asked({ ...memory, tainted: true, mode: 'auto' })).toBe(false)
  })
})
