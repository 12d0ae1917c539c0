// Limits of a command: memory, processes and storage in the project, with and without kernel isolation.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { newId } from '../../../../server/lib/ids.ts'
import type { RunId } from '../../../../server/protocol/ids.ts'
import { detectBubblewrap } from '../../../../server/sandbox/bubblewrap.ts'
import { createExecTool } from '../../../../server/tools/builtin/programs/exec.ts'
import type { ToolResult } from '../../../../server/tools/definition.ts'
import { createDiffs } from '../../../../server/workspace/checkpoints/diff/diffs.ts'
import { createProjectSearch } from '../../../../server/workspace/search/project-search.ts'
import { useDatabases } from '../../../support/store/databases.ts'
import { openProject } from '../../../support/store/projects.ts'
import { noSkills, runTool } from '../support.ts'

const MEGABYTE = 1024 * 1024
const bubblewrap = await detectBubblewrap()
const hidden = { available: false as const, reason: 'hidden by the test' }
const limits = { memoryBytes: 128 * MEGABYTE, processes: 40 }

describe.skipIf(process.platform !== 'linux').each([
  ['in bubblewrap', bubblewrap],
  ['not isolated', hidden],
])('a command %s', (name, isolation) => {
  const { open } = useDatabases()
  let project: Awaited<ReturnType<typeof openProject>>
  let exec: (command: string) => Promise<ToolResult>

  beforeEach(async (context) => {
    if (name === 'in bubblewrap' && !bubblewrap.available)
      context.skip('bubblewrap does not work here')
    project = await openProject(await open('sqlite'), {
      limits: { fileRead: MEGABYTE, fileWrite: MEGABYTE, project: 8 * MEGABYTE },
    })
    const services = {
      ...project,
      makeDiff: createDiffs(project.pool),
      search: createProjectSearch({
        ripgrep: null,
        bubblewrap: hidden,
        pool: project.pool,
        timeoutMs: 1_000,
        maxFileBytes: MEGABYTE,
      }),
      close: async () => {},
    }
    const tool = createExecTool({
      services,
      skills: noSkills,
      bubblewrap: isolation,
      network: 'none',
      limits,
    })
    const { userId, projectId } = project
    exec = (command) =>
      runTool(tool, { command, timeout: 60 }, { userId, projectId, runId: newId<RunId>() })
    await project.workspace.write('a.txt', Buffer.from('mine'))
  })
  const names = async () => (await project.workspace.list('')).map((entry) => entry.name)

  test('gets no more memory for one process than for all of them', async () => {
    const result = await exec('head -c 300m /dev/zero | tail -c 300m | wc -c')
    // One process reaches its own limit and that of all at almost the same moment: either may be noticed first.
    expect(result).toMatchObject(
      result.success
        ? { data: { stdout: '0\n', stderr: expect.stringMatching(/memory/) } }
        : { error: expect.stringContaining('more than 128 MB of memory') },
    )
  })

  test('is killed when its processes together use too much memory', async () => {
    const hoard = '(head -c 60m /dev/zero; sleep 50) | tail -c 60m > /dev/null &'
    const result = await exec(`echo begun; for i in 1 2 3 4; do ${hoard} done; wait`)
    expect(result).toMatchObject({
      success: false,
      error: expect.stringContaining('more than 128 MB of memory'),
      data: { stdout: 'begun\n' },
    })
  })

  test('is killed, or cannot start more, when it starts too many processes', async () => {
    const result = await exec('for i in $(seq 80); do sleep 50 & done; wait')
    // The kernel itself enforces the limit if the server is not root; bash then gives up.
    if (result.success) expect(result.data).toMatchObject({ exit_code: 254 })
    else expect(result.error).toContain('more than 40 processes')
  })

  test('that leaves the project beyond its limit is undone, and its output is returned', async () => {
    const result = await exec(
      'echo theirs > a.txt; mkdir d; for i in 1 2 3; do head -c 3m /dev/zero > d/$i; done; echo done',
    )
    expect(result).toMatchObject({
      success: false,
      error: expect.stringContaining('The limit is 8 MB'),
      data: { stdout: 'done\n', exit_code: 0 },
    })
    expect(await names()).toEqual(['a.txt'])
    expect((await project.workspace.read('a.txt')).bytes.toString()).toBe('mine')
    expect(await project.records.list(project.projectId, { limit: 10 })).toEqual([])
  })

  test('that keeps filling the disk is ended before its time limit', async () => {
    const result = await exec(
      'while :; do n=$((n+1)); head -c 1m /dev/zero > f$n; sleep 0.02; done',
    )
    expect(result).toMatchObject({
      success: false,
      data: { exit_code: null, timed_out: false },
    })
    expect(await names()).toEqual(['a.txt'])
  })

  test('may shrink a project that already exceeds its limit', async () => {
    for (const file of ['1', '2', '3'])
      await writeFile(join(project.workspace.root, file), Buffer.alloc(10 * MEGABYTE, file))
    expect(await exec('rm 1 2')).toMatchObject({ success: true, data: { exit_code: 0 } })
    expect(await names()).toEqual(['3', 'a.txt'])
  })
})
