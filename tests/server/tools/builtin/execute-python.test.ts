// The execute_python tool as the model and the user see it: schema, levels, project files, images, live output.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { newId } from '../../../../server/lib/ids.ts'
import type { ProjectId, UserId } from '../../../../server/protocol/ids.ts'
import { failedProgram } from '../../../../server/sandbox/python/isolated-sandbox.ts'
import type { PythonSandbox } from '../../../../server/sandbox/python/sandbox.ts'
import { createExecutePythonTool } from '../../../../server/tools/builtin/programs/execute-python.ts'
import type { ToolDefinition } from '../../../../server/tools/definition.ts'
import { createProjectFileReader } from '../../../../server/tools/project-files.ts'
import { createProjectSearch } from '../../../../server/workspace/search/project-search.ts'
import { createWorkerPool } from '../../../../server/workspace/worker/worker-pool.ts'
import { createWorkspaces } from '../../../../server/workspace/workspaces.ts'
import { openPython, type TestSandbox } from '../../../support/sandbox/python.ts'
import { noSkills, runTool } from '../support.ts'

const userId = newId<UserId>()
const projectId = newId<ProjectId>()
const workers = createWorkerPool(1)
let root: string
let python: TestSandbox
let tool: ToolDefinition
/** The tool with a fake sandbox, for what happens before a program runs. */
let plain: ToolDefinition
/** Paths of the files that the last program of `plain` would have received. */
let given: string[]
/** Whether the project's file contents and names carry taint. */
const outside = { content: false, name: false }

const storeOutput = async () => ({ paths: new Map<string, string>() })

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'nanoclaw-python-tool-'))
  python = await openPython()
  const workspaces = await createWorkspaces({
    root,
    limits: { fileRead: 5_000_000, fileWrite: 20_000_000, project: 1_000_000_000 },
  })
  const workspace = workspaces.open(userId, projectId)
  await workspace.write('data/a.csv', Buffer.from('n\n1\n2\n'))
  await workspace.write('data/b.csv', Buffer.from('n\n3\n'))
  await workspace.write('notes.md', Buffer.from('# notes'))
  const search = createProjectSearch({
    ripgrep: null,
    bubblewrap: { available: false, reason: 'not needed' },
    pool: workers,
    timeoutMs: 5000,
    maxFileBytes: 5_000_000,
  })
  const readFiles = createProjectFileReader({
    workspaces,
    projects: {
      find: async () => ({
        id: projectId,
        userId,
        name: 'data',
        description: null,
        size: 0,
        historySize: 0,
        settings: null,
        icon: null,
        scratch: false,
        creatorRole: 'own',
        role: 'own',
        ownerName: 'somebody',
        createdAt: new Date(),
        updatedAt: new Date(),
      }),
    },
    search,
    checkpoints: {
      outsideText: { isIn: async () => outside.content, isInNames: async () => outside.name },
    },
  })
  tool = createExecutePythonTool({
    python,
    defaultStrictness: 'standard',
    readFiles,
    skills: noSkills,
    storeOutput,
  })
  const run: PythonSandbox['run'] = async ({ files }) => {
    given = files.map(({ path }) => path)
    return { ...failedProgram('completed', ''), error: null }
  }
  plain = createExecutePythonTool({
    python: { ...python, run },
    defaultStrictness: 'standard',
    readFiles,
    skills: noSkills,
    storeOutput,
  })
})
afterAll(async () => {
  await python.close()
  await workers.close()
  await rm(root, { recursive: true, force: true })
})

const Data = z.object({
  stdout: z.string(),
  stderr: z.string(),
  result: z.unknown(),
  files: z.array(z.object({ name: z.string(), mime: z.string(), size: z.int() })),
})

describe('execute_python', () => {
  test('describes its modules, its levels and what is not installed', () => {
    expect(tool).toMatchObject({ name: 'execute_python', category: 'code', riskLevel: 'low' })
    expect(tool.isolation).toMatch(/^(kernel|wasm)$/)
    expect(tool.description).toContain('statistics')
    expect(tool.description).toContain('not installed')
    expect(tool.description).toContain('/output')
  })

  test('computes statistics over CSV files of a project', async () => {
    const answer = await runTool(
      tool,
      {
        code: `import csv, statistics
from io import StringIO
values = []
for name in ('a', 'b'):
    with open(f'/workspace/data/{name}.csv') as source:
        values += [int(row['n']) for row in csv.DictReader(source)]
print(values)
statistics.mean(values)`,
        files: ['data/*.csv'],
      },
      { userId, projectId },
    )
    expect(answer).toMatchObject({
      success: true,
      data: { stdout: '[1, 2, 3]\n', stderr: '', result: 2, files: [] },
    })
    expect(answer.artifact?.display).toMatch(/^Program completed \(\d+\.\d s\)$/)
  })

  test('returns outside text when its files or their names come from outside', async () => {
    const run = () =>
      runTool(plain, { code: '1', files: ['notes.md'] }, { userId, projectId }).finally(() =>
        Object.assign(outside, { content: false, name: false }),
      )
    expect((await run()).untrusted).toBeUndefined()
    outside.content = true
    expect((await run()).untrusted).toBe(true)
    outside.name = true
    expect((await run()).untrusted).toBe(true)
    outside.content = true
    const without = await runTool(plain, { code: '1' }, { userId, projectId })
    outside.content = false
    expect(without.untrusted).toBeUndefined()
  })

  test('gives a program only the files that paths, folders and patterns name', async () => {
    const run = (files: string[]) => runTool(plain, { code: '1', files }, { userId, projectId })
    await run(['data'])
    expect(given.sort()).toEqual(['data/a.csv', 'data/b.csv'])
    await run(['notes.md', 'data/b.csv'])
    expect(given.sort()).toEqual(['data/b.csv', 'notes.md'])
    expect(await run(['*.nothing'])).toMatchObject({
      success: false,
      error: 'No file in the project matches "*.nothing".',
    })
    expect(await run(['../../etc/passwd'])).toMatchObject({ success: false })
  })

  test('fails with a clear message for files without a project', async () => {
    expect(await runTool(tool, { code: '1', files: ['a.csv'] }, { projectId: null })).toMatchObject(
      { success: false, error: expect.stringContaining('no files yet') },
    )
  })

  test('returns files by name to the model and images to the user', async () => {
    const answer = await runTool(tool, {
      code: `import base64
open('/output/dot.png', 'wb').write(base64.b64decode('${PNG}'))
open('/output/plot.svg', 'w').write('<svg xmlns="http://www.w3.org/2000/svg"/>')
open('/output/big.bin', 'wb').write(bytes(1_500_000))
None`,
    })
    expect(Data.parse(answer.success && answer.data).files).toEqual([
      { name: 'dot.png', mime: 'image/png', size: 70 },
      { name: 'plot.svg', mime: 'image/svg+xml', size: 41 },
      { name: 'big.bin', mime: 'application/octet-stream', size: 1_500_000 },
    ])
    const [png, svg, big] = answer.artifact?.files ?? []
    expect(png?.data).toBe(`data:image/png;base64,${PNG}`)
    expect(svg?.data).toMatch(/^data:image\/svg\+xml;base64,/)
    expect(big?.data).toBeUndefined()
  })

  test('returns a failure with the output so far when the program raises', async () => {
    const answer = await runTool(tool, { code: 'print("before")\n{}["a"]' })
    expect(answer).toMatchObject({
      success: false,
      error: expect.stringContaining("KeyError: 'a'"),
      data: { stdout: 'before\n', result: null, files: [] },
    })
  })

  test('reports state and output while it runs', async () => {
    const received: unknown[] = []
    await runTool(
      tool,
      { code: 'print("one")\nprint("two")' },
      { progress: (value) => received.push(value) },
    )
    expect(
      received.filter((value) => JSON.stringify(value) !== '{"kind":"state","state":"starting"}'),
    ).toEqual([
      { kind: 'state', state: 'running' },
      { kind: 'output', stream: 'stdout', text: 'one\n' },
      { kind: 'output', stream: 'stdout', text: 'two\n' },
    ])
  })

  test('has a higher risk only for levels beyond the configured default', () => {
    const risk = (definition: ToolDefinition, strictness?: string) => {
      const parsed = definition.parse(JSON.stringify({ code: '1', strictness }))
      return parsed.ok ? parsed.input.riskLevel : parsed.error
    }
    expect(risk(tool)).toBe('low')
    expect(risk(tool, 'strict')).toBe('low')
    expect(risk(tool, 'standard')).toBe('low')
    expect(risk(tool, 'lenient')).toBe('high')
    const open = createExecutePythonTool({
      python,
      defaultStrictness: 'lenient',
      readFiles: async () => ({ files: [], untrusted: false }),
      skills: noSkills,
      storeOutput,
    })
    expect(risk(open)).toBe('low')
    const narrow = createExecutePythonTool({
      python,
      defaultStrictness: 'strict',
      readFiles: async () => ({ files: [], untrusted: false }),
      skills: noSkills,
      storeOutput,
    })
    expect(['strict', 'standard', 'lenient'].map((level) => risk(narrow, level))).toEqual([
      'low',
      'medium',
      'high',
    ])
    expect(risk(tool, 'wild')).toContain('strictness')
  })

  test('runs nothing without isolation and says so', async () => {
    const off = await openPython({ isolation: 'kernel', packagesFolder: join(root, 'missing') })
    const shut = createExecutePythonTool({
      python: off,
      defaultStrictness: 'standard',
      readFiles: async () => ({ files: [], untrusted: false }),
      skills: noSkills,
      storeOutput,
    })
    expect(shut.isolation).toMatch(/^off: /)
    expect(await runTool(shut, { code: '1' })).toMatchObject({
      success: false,
      error: expect.stringContaining('not available on this server'),
    })
  })
})
