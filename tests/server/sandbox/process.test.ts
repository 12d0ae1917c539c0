// Child processes: limits, killing the process group, captured output, and what bubblewrap hides.
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { bubblewrapArguments, detectBubblewrap } from '../../../server/sandbox/bubblewrap.ts'
import { runProcess, startProcess } from '../../../server/sandbox/process.ts'
import { builtProgram } from '../../support/built-programs.ts'
import { eventually } from '../../support/eventually.ts'

const shell = (script: string) => ({
  command: '/bin/sh',
  args: ['-c', script],
  cwd: '/',
  env: { PATH: '/usr/bin:/bin' },
  maxOutputBytes: 10_000,
})

/** True while the process exists and is not a zombie. */
async function isAlive(pid: number): Promise<boolean> {
  try {
    return !/^State:\s+Z/m.test(await readFile(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

/** The ids of processes with this text among their arguments; zombies have none. */
async function withArgument(text: string): Promise<string[]> {
  const all = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const lines = await Promise.all(
    all.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
  )
  return all.filter((_, at) => lines[at]?.includes(text))
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  for (let turn = 0; turn < 200; turn++) {
    if (await condition()) return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error('the condition did not come true within 2 s')
}

describe('a child process', () => {
  test('that cannot start for lack of file descriptors returns a failed result, never an uncaught exception', async () => {
    const program = [process.execPath, ...builtProgram('sandbox/few-files-main')]
    const outcome = await runProcess({
      ...shell('ulimit -n 64; exec "$@"'),
      args: ['-c', 'ulimit -n 64; exec "$@"', 'sh', ...program],
      env: { PATH: process.env.PATH ?? '' },
    })
    const printed = JSON.parse(outcome.stdout || JSON.stringify(outcome))
    expect(printed).toEqual({ outcomes: expect.arrayContaining(['EMFILE', 'ran\n']) })
    expect(printed.outcomes.filter((one: string) => one !== 'EMFILE')).toEqual(['ran\n'])
  })

  test.for(['kernel', 'none'] as const)(
    'ends with the server that started it, however early that is killed, with isolation by %s',
    { timeout: 120_000 },
    async (isolation, { skip }) => {
      const bubblewrap = await detectBubblewrap()
      if (isolation === 'kernel' && !bubblewrap.available) skip(bubblewrap.reason)
      if (process.platform !== 'linux') skip('only Linux lists the processes in /proc')
      const program = join(import.meta.dirname, '../../support/sandbox/many-programs-main.ts')
      for (let round = 0; round < 3; round += 1) {
        const mark = `program-${randomUUID()}`
        const server = spawn(process.execPath, ['--import', 'tsx', program, isolation, mark], {
          stdio: ['ignore', 'pipe', 'inherit'],
        })
        await once(server.stdout, 'data')
        // Then, some of the programs have not begun yet, and others are in the midst of it.
        await eventually(async () =>
          expect((await withArgument(mark)).length).toBeGreaterThan(4 + 8 * round),
        )
        server.kill('SIGKILL')
        await once(server, 'exit')
        await eventually(async () => expect(await withArgument(mark)).toEqual([]))
      }
    },
  )

  test('returns its exit code and both outputs', async () => {
    const outcome = await runProcess(shell('echo out; echo err >&2; exit 3'))
    expect(outcome).toMatchObject({
      exitCode: 3,
      stdout: 'out\n',
      stderr: 'err\n',
      truncated: false,
      timedOut: false,
      aborted: false,
      startError: null,
    })
  })

  test('inherits nothing of the server environment', async () => {
    process.env.CANARY_FOR_CHILDREN = 'secret'
    const outcome = await runProcess(shell('env'))
    delete process.env.CANARY_FOR_CHILDREN
    expect(outcome.stdout).not.toContain('CANARY_FOR_CHILDREN')
  })

  test('reads its input and sees the end of it', async () => {
    const outcome = await runProcess({ ...shell('cat; echo end'), input: 'hello ' })
    expect(outcome.stdout).toBe('hello end\n')
  })

  test('that cannot be started reports why instead of throwing', async () => {
    const outcome = await runProcess({ ...shell(''), command: '/nowhere/program' })
    expect(outcome.startError?.message).toContain('ENOENT')
    expect(outcome.exitCode).toBeNull()
  })

  test('keeps the beginning and the end of an output that is too long', async () => {
    const outcome = await runProcess({
      ...shell('echo start; head -c 3000000 /dev/zero | tr "\\0" x; echo; echo finish'),
      maxOutputBytes: 2_000,
    })
    expect(outcome.truncated).toBe(true)
    expect(outcome.stdout.startsWith('start\n')).toBe(true)
    expect(outcome.stdout.endsWith('finish\n')).toBe(true)
    expect(outcome.stdout).toMatch(/\[… 299\d{4} bytes left out …\]/)
    expect(outcome.stdout.length).toBeLessThan(2_200)
  })

  test('is killed with all its descendants at its time limit', async () => {
    const outcome = await runProcess({
      ...shell('sleep 300 & echo $!; sleep 300'),
      timeoutMs: 300,
    })
    expect(outcome.timedOut).toBe(true)
    const grandchild = Number(outcome.stdout.trim())
    expect(grandchild).toBeGreaterThan(0)
    await until(async () => !(await isAlive(grandchild)))
  })

  test('is killed with all its descendants on abort', async () => {
    const controller = new AbortController()
    const running = startProcess({
      ...shell('sleep 300 & echo $!; wait'),
      signal: controller.signal,
      onOutput: () => controller.abort(),
    })
    const outcome = await running.done
    expect(outcome.aborted).toBe(true)
    const grandchild = Number(outcome.stdout.trim())
    await until(async () => !(await isAlive(grandchild)))
  })

  test('is not started when the signal is aborted already', async () => {
    const outcome = await runProcess({ ...shell('echo no'), signal: AbortSignal.abort() })
    expect(outcome).toMatchObject({ aborted: true, stdout: '' })
  })

  test('takes its background processes with it when it ends', async () => {
    const outcome = await runProcess(shell('sleep 300 & echo $!'))
    expect(outcome.exitCode).toBe(0)
    await until(async () => !(await isAlive(Number(outcome.stdout.trim()))))
  })

  test('exchanges data over an extra pipe', async () => {
    const running = startProcess({
      ...shell('echo ready >&3; read line <&3; echo "got $line"'),
      extraPipes: 1,
    })
    const [pipe] = running.pipes
    pipe?.once('data', () => pipe.write('word\n'))
    expect((await running.done).stdout).toBe('got word\n')
  })
})

const bubblewrap = await detectBubblewrap()

describe.skipIf(!bubblewrap.available)('a program in bubblewrap', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bubblewrap-'))
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  const inside = async (script: string) => {
    if (!bubblewrap.available) throw new Error('unreachable: skipped without bubblewrap')
    const wrap = await bubblewrapArguments({
      writable: [{ host: folder, inside: '/project' }],
      workingDirectory: '/project',
      network: 'none',
    })
    return runProcess({
      command: bubblewrap.path,
      args: [...wrap, '/bin/sh', '-c', script],
      cwd: '/',
      env: { PATH: '/usr/bin:/bin' },
      timeoutMs: 10_000,
      maxOutputBytes: 10_000,
    })
  }

  test('can change its folder and sees nothing else of the host', async () => {
    await writeFile(join(folder, 'a.txt'), 'old')
    const outcome = await inside(
      `cat a.txt; echo new > b.txt; id -u; ls ${tmpdir()} /root /home /var 2>&1; cat /etc/passwd 2>&1`,
    )
    expect(outcome.stdout).toContain('old1000\n')
    expect(await readFile(join(folder, 'b.txt'), 'utf8')).toBe('new\n')
    expect(outcome.stdout).toMatch(/\/root'?: No such file/)
    expect(outcome.stdout).toMatch(/\/etc\/passwd'?: No such file/)
  })

  test('has no network interface except its own loopback, and cannot write to the system', async () => {
    const outcome = await inside('tail -n +3 /proc/net/dev | cut -d: -f1; touch /usr/x 2>&1')
    expect(outcome.stdout.split('\n')[0]?.trim()).toBe('lo')
    expect(outcome.stdout).toContain('Read-only file system')
  })
})
