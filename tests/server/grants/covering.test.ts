// The grant that covers a call: of the tool as it is now, the oldest that fits, and read from the store no more than needed.
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { GrantRow } from '../../../server/db/repositories/runs/grants.ts'
import { createStore } from '../../../server/db/store.ts'
import { createRunGrants, isStale, toolPrintOf } from '../../../server/grants/covering.ts'
import { rememberTool } from '../../../server/grants/remember.ts'
import { newId } from '../../../server/lib/ids.ts'
import { defineTool, succeed, type ToolDefinition } from '../../../server/tools/definition.ts'
import { useDatabases } from '../../support/store/databases.ts'
import { DIALECTS } from '../../support/store/dialects.ts'
import { storeRun } from '../../support/store/store-rows.ts'

const databases = useDatabases()

const tool = defineTool({
  name: 'file_write',
  description: 'Writes a file.',
  category: 'file',
  input: z.object({ path: z.string() }),
  handler: async () => succeed({}),
})

test('a grant that does not say for which tool of an MCP server it was made fits none; one for a built-in tool does', () => {
  const ofServer: ToolDefinition = { ...tool, category: 'mcp', grantKey: 'mcp__a__b@0123' }
  expect(isStale({ toolPrint: null }, tool)).toBe(false)
  expect(isStale({ toolPrint: null }, ofServer)).toBe(true)
  expect(isStale({ toolPrint: '0123' }, ofServer)).toBe(false)
  expect(isStale({ toolPrint: '4567' }, ofServer)).toBe(true)
})

test('a grant ends when the description of its tool changes while the server runs', () => {
  let description = 'Writes a file.'
  const changing: ToolDefinition = {
    ...tool,
    get description() {
      return description
    },
  }
  const made = { toolPrint: toolPrintOf(changing) }
  expect(isStale(made, changing)).toBe(false)
  description = 'Writes a file, also outside the project.'
  expect(isStale(made, changing)).toBe(true)
})

test.each(DIALECTS)(
  'a run reads grants until one covers its call, oldest first, and reads nothing while one that it knows does (%s)',
  async (dialect) => {
    const statements: string[] = []
    const database = await databases.open(dialect, { onStatement: (sql) => statements.push(sql) })
    const store = createStore(database)
    const run = await storeRun(database, store)
    const row = (folder: string, at: number): GrantRow => ({
      id: newId(),
      userId: run.userId,
      conversationId: run.conversationId,
      projectId: null,
      scheduleId: null,
      runId: null,
      tool: tool.name,
      toolPrint: toolPrintOf(tool),
      match: { path: { glob: `${folder}/*` } },
      evenTainted: false,
      expiresAt: null,
      maxUses: null,
      uses: 0,
      lastUsedAt: null,
      createdAt: new Date(at),
      createdFrom: null,
    })
    const rows = Array.from({ length: 50 }, (_, at) => row(at < 25 ? `${at}` : '25', at))
    await database.write(async (tx) => {
      for (const one of rows.toReversed()) await store.grants.insert(tx, one)
    })
    const grants = createRunGrants({
      store,
      place: { ...run, scheduleId: null, runId: run.id },
      retry: (read) => read(),
      now: () => new Date(),
    })
    const covering = async (path: string) => {
      statements.length = 0
      const value = { path }
      const id = await grants.covering({ tool, value, riskLevel: 'medium', tainted: false })
      return { at: rows.findIndex((one) => one.id === id), reads: statements.length }
    }
    // The ids, and the first twenty grants.
    expect(await covering('3/a')).toEqual({ at: 3, reads: 2 })
    expect(await covering('19/a')).toEqual({ at: 19, reads: 0 })
    expect(await covering('25/a')).toEqual({ at: 25, reads: 2 })
    expect(await covering('elsewhere/a')).toEqual({ at: -1, reads: 2 })
    expect(await covering('elsewhere/a')).toEqual({ at: -1, reads: 1 })

    // A grant that was refused is not offered again; the next one that covers the call is.
    const [oldest] = rows.slice(25)
    grants.settled(oldest?.id ?? '', false)
    expect(await covering('25/a')).toEqual({ at: 26, reads: 0 })

    // What is made later is found by the next call that nothing covers.
    const made = row('elsewhere', 60)
    await database.write((tx) => store.grants.insert(tx, made))
    rows.push(made)
    expect(await covering('elsewhere/a')).toEqual({ at: 50, reads: 2 })
  },
)

test('of two calls at once, the slower one finds the grant that the other has loaded meanwhile', async () => {
  const database = await databases.open('sqlite')
  const store = createStore(database)
  const run = await storeRun(database, store)
  await database.write((tx) =>
    rememberTool(
      tx,
      { run, isForRun: false, key: tool.name, createdFrom: 'request', at: new Date() },
      { userId: run.userId, username: null, address: null, details: {} },
      { store },
    ),
  )
  let reads = 0
  let release = (): void => undefined
  const isReleased = new Promise<void>((resolve) => {
    release = resolve
  })
  const grants = createRunGrants({
    store,
    place: { ...run, scheduleId: null, runId: run.id },
    async retry(read) {
      reads += 1
      const isSecond = reads === 2
      const rows = await read()
      if (isSecond) await isReleased
      return rows
    },
    now: () => new Date(),
  })
  const call = { tool, value: { path: 'a' }, riskLevel: 'medium' as const, tainted: false }
  const [one, other] = [grants.covering(call), grants.covering(call)]
  expect(await one).not.toBeNull()
  release()
  expect(await other).toBe(await one)
})

test.each(DIALECTS)(
  'approvals for every call of a tool do not count toward the grants that a user may have (%s)',
  async (dialect) => {
    const database = await databases.open(dialect)
    const store = createStore(database)
    const run = await storeRun(database, store)
    const actor = { userId: run.userId, username: null, address: null, details: {} }
    const at = new Date()
    await database.write((tx) =>
      rememberTool(tx, { run, isForRun: false, key: 'exec', createdFrom: 'request', at }, actor, {
        store,
      }),
    )
    expect(await database.write((tx) => store.grants.count(tx, run.userId))).toBe(0)
  },
)
