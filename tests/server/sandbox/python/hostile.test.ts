// Hostile programs against the sandbox, under both isolations: nothing escapes, everything ends, nothing remains.
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TIME_LIMIT_SECONDS } from '../../../../server/sandbox/python/modules.ts'
import { type Canaries, type Escape, escapes } from '../../../support/sandbox/escape-programs.ts'
import { bombs, endless } from '../../../support/sandbox/hostile-programs.ts'
import { openPython, type TestSandbox } from '../../../support/sandbox/python.ts'

const SECRET = 'canary-7c1f'
/** Timeout for dozens of programs, each with its own interpreter, on a busy machine. */
const MANY_PROGRAMS_MS = 300_000
/** The default limits, except for the level at which endless programs run. */
const timeLimits = { ...TIME_LIMIT_SECONDS, strict: 1 }
/**
 * The long form tries everything under both isolations. The short one leaves out, under that by the kernel, what the
 * interpreter itself must hold: it is the same under both, and the other one has nothing behind it.
 */
const isFull = process.env.FAULTS === 'full'
let folder: string
let canaries: Canaries
let listener: Server
let visits = 0

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'nanoclaw-hostile-'))
  listener = createServer((socket) => {
    visits += 1
    socket.destroy()
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const address = listener.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const file = join(folder, 'secret.txt')
  await writeFile(file, SECRET)
  process.env.NANOCLAW_CANARY = SECRET
  canaries = { file, secret: SECRET, port, target: join(folder, 'written'), serverPid: process.pid }
})
afterAll(async () => {
  delete process.env.NANOCLAW_CANARY
  listener.close()
  await rm(folder, { recursive: true, force: true })
})

/** Ids of the live child processes of this test process. */
async function children(): Promise<string[]> {
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'pid=,ppid=,args='])
  const lines = stdout.split('\n').map((line) => line.trim().split(/\s+/))
  return lines
    .filter(([, parent, command]) => parent === String(process.pid) && command !== 'ps')
    .map(([pid]) => pid ?? '')
}

describe.each(['kernel', 'wasm'] as const)('under %s isolation', (isolation) => {
  let python: TestSandbox
  let usable = false
  beforeAll(async () => {
    python = await openPython({ isolation, poolSize: 2, timeLimits })
    usable = python.state.available
    if (!usable) return
    // A harmless probe: hostile programs run only once it has shown that the isolation works.
    const probe = await python.program(
      `import os\n[os.path.exists(${JSON.stringify(canaries.file)}), "NANOCLAW_CANARY" in os.environ, hasattr(os, "fork") and os.getpid() == ${process.pid}]`,
      { strictness: 'lenient' },
    )
    expect(probe).toMatchObject({ status: 'completed', result: [false, false, false] })
  })
  afterAll(() => python.close())

  test('the self-test reports the isolation in force', () => {
    expect(python.state.engine).toBe('wasm')
    if (usable) expect(python.state.isolation).toBe(isolation)
    else expect(python.state).toMatchObject({ isolation: 'none', available: false })
    if (isolation === 'wasm') expect(usable).toBe(true)
  })

  test(
    'a program that tries to escape reaches no file, process, network or secret of the host',
    async ({ skip }) => {
      if (!usable) skip('bubblewrap does not work here')
      const attempts = escapes(canaries)
      const isTried = ({ onHost }: Escape) => isFull || isolation === 'wasm' || onHost
      await Promise.all(
        inLanes(4, attempts.filter(isTried), async ({ name, code, ends, says, tried }) => {
          const outcome = await python.program(code, { strictness: 'lenient' })
          const seen = JSON.stringify(outcome)
          expect(seen, name).not.toContain('ESCAPED')
          expect(seen, name).not.toContain(SECRET)
          expect(seen, name).not.toMatch(/uid=\d/)
          if (ends !== undefined) expect(outcome.status, `${name}: ${seen}`).toBe(ends)
          if (says !== undefined) expect(outcome.error, name).toMatch(says)
          for (const text of tried) expect(outcome.stdout, name).toContain(text)
        }),
      )
      expect(visits).toBe(0)
      expect(await readFile(canaries.file, 'utf8')).toBe(SECRET)
      expect(await readdir(folder)).toEqual(['secret.txt'])
    },
    MANY_PROGRAMS_MS,
  )

  test(
    'a program that breaks its interpreter reports why, and the next program runs',
    async ({ skip }) => {
      // These programs break the interpreter in its own memory, which is the same under both isolations.
      if (isolation === 'kernel') skip('done under wasm isolation')
      await Promise.all(
        inLanes(4, bombs, async ({ name, code, ends, says }) => {
          const outcome = await python.program(code, { strictness: 'lenient' })
          if (ends !== undefined)
            expect(outcome.status, `${name}: ${JSON.stringify(outcome)}`).toBe(ends)
          if (says !== undefined) expect(outcome.error, name).toMatch(says)
          const { files, ...rest } = outcome
          expect(JSON.stringify(rest).length, name).toBeLessThan(1_000_000)
          expect(files.length, name).toBeLessThanOrEqual(20)
        }),
      )
      expect(await python.program('1 + 1')).toMatchObject({ status: 'completed', result: 2 })
    },
    MANY_PROGRAMS_MS,
  )

  test('a program that never ends is stopped at its time limit and keeps its output', async ({
    skip,
  }) => {
    if (!usable) skip('bubblewrap does not work here')
    const tried = isFull || isolation === 'wasm' ? endless : endless.slice(0, 2)
    const outcomes = await Promise.all(
      tried.map(({ code }) => python.program(code, { strictness: 'strict' })),
    )
    for (const [index, outcome] of outcomes.entries()) {
      expect(outcome, tried[index]?.name).toMatchObject({ status: 'timed_out' })
      expect(outcome.error).toContain('ran for 1 s')
    }
    expect(outcomes[0]?.stdout).toBe('on\n')
    expect(outcomes[1]?.stdout.length).toBeGreaterThan(50_000)
    expect(outcomes[1]?.stdout).toContain('[output cut]')
    expect(outcomes[1]?.stdout.length).toBeLessThan(110_000)
  })

  test('aborting the signal stops a program', async ({ skip }) => {
    if (!usable) skip('bubblewrap does not work here')
    const stop = new AbortController()
    const outcome = await python.program('print("on")\nwhile True:\n    pass', {
      signal: stop.signal,
      onOutput: () => stop.abort(),
    })
    expect(outcome).toMatchObject({ status: 'stopped', stdout: 'on\n' })
  })

  test('closing the sandbox stops running programs and leaves no process behind', async ({
    skip,
  }) => {
    if (!usable) skip('bubblewrap does not work here')
    const going = python.program('while True:\n    pass')
    await python.close()
    expect((await going).status).toBe('stopped')
    expect(await children()).toEqual([])
  })
})

/** Works through a list with limited concurrency; each promise is one lane. */
function inLanes<Item>(
  lanes: number,
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<void>[] {
  const rest = [...items]
  return Array.from({ length: lanes }, async () => {
    for (let item = rest.shift(); item !== undefined; item = rest.shift()) await work(item)
  })
}
