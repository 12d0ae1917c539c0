// The exec tool in a project, as a model uses it: output, limits, isolation, undo.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { bubblewrap, useProjectTools } from './project-tools.ts'

describe.each([
  ['in bubblewrap', true],
  ['not isolated', false],
])('exec %s', (_name, isolated) => {
  const my = useProjectTools(
    isolated ? bubblewrap : { available: false, reason: 'hidden by the test' },
  )
  const { tool, parse, run, data, put, textOf } = my
  beforeEach((test) => {
    if (isolated && !bubblewrap.available) test.skip('bubblewrap does not work here')
  })

  test('returns output and exit code, runs in the project folder, and gets a minimal environment', async () => {
    await put('a.txt', 'content')
    expect(await data('exec', { command: 'cat a.txt; echo err >&2; exit 3' })).toEqual({
      stdout: 'content',
      stderr: 'err\n',
      exit_code: 3,
      timed_out: false,
    })
    process.env.CANARY_EXEC = 'secret'
    expect((await data('exec', { command: 'env; cat' })).stdout).not.toContain('CANARY')
    delete process.env.CANARY_EXEC
  })

  test('is stopped at its time limit, and at once when the run is stopped', async () => {
    expect(await data('exec', { command: 'echo start; sleep 100', timeout: 1 })).toMatchObject({
      stdout: 'start\n',
      exit_code: null,
      timed_out: true,
    })
    const controller = new AbortController()
    const stopped = await run(
      'exec',
      { command: 'echo go; sleep 100 & sleep 100' },
      { signal: controller.signal, progress: () => controller.abort() },
    )
    expect(stopped).toMatchObject({ success: false, error: 'The command was stopped.' })
    for (const timeout of [0, 601, 1.5])
      expect(tool('exec').parse(JSON.stringify({ command: 'x', timeout })).ok).toBe(false)
  })

  test('streams its output, and keeps the beginning and the end of a long one', async () => {
    const streamed: unknown[] = []
    const result = await run(
      'exec',
      { command: 'echo begin; seq 1 100000; echo finish' },
      { progress: (value) => streamed.push(value) },
    )
    expect(streamed[0]).toMatchObject({
      kind: 'output',
      stream: 'stdout',
      text: expect.stringMatching(/^begin/),
    })
    const { stdout } = (result.success ? result.data : {}) as { stdout: string }
    expect(stdout).toMatch(/^begin\n[\s\S]*bytes left out[\s\S]*finish\n$/)
    expect(stdout.length).toBeLessThan(31_000)
  })

  test('changes files in a way that can be undone', async () => {
    await put('a.txt', 'before')
    await data('exec', { command: 'echo after > a.txt; mkdir d; echo new > d/b' })
    expect(await textOf('a.txt')).toBe('after\n')
    const [row] = await my.project.records.list(my.project.projectId, { limit: 1 })
    expect(row?.tool).toBe('exec')
    await my.restore(row?.id)
    expect((await my.project.workspace.list('')).map(({ name }) => name)).toEqual(['a.txt'])
    expect(await textOf('a.txt')).toBe('before')
  })

  test(isolated ? 'sees nothing of the host' : 'warns that it is not isolated', async () => {
    const preview = await parse('exec', { command: 'ls' }).preview(my.context)
    expect(preview?.command).toBe('ls')
    if (!isolated) {
      expect(preview?.warning).toContain('NOT isolated')
      return
    }
    expect(preview?.warning).toBeUndefined()
    await writeFile(join(my.project.root, 'outside.txt'), 'canary')
    const { stdout } = await data('exec', {
      command: `cat ${my.project.root}/outside.txt; ls ${my.project.root}; id -u; cat /proc/net/dev | wc -l; echo x > /usr/x`,
    })
    expect(stdout).toBe('1000\n3\n')
  })

  test('refuses a command with a NUL character before it requests approval', () => {
    expect(tool('exec').parse(JSON.stringify({ command: 'echo a\0b' }))).toMatchObject({
      ok: false,
      error: expect.stringContaining('NUL'),
    })
  })
})
