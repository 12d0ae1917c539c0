// What Python costs: warm and cold calls, memory of an idle interpreter, and what five programs do to the event loop.
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { createPythonSandbox, type PythonSandbox } from '../server/sandbox/python.ts'
import { startInterpreter } from '../server/sandbox/python-interpreter.ts'
import { createWasmLauncher, findInterpreterFiles } from '../server/sandbox/python-launch.ts'
import { residentBytes } from '../server/sandbox/resident-memory.ts'
import { median, type Row } from './row.ts'

const ROUNDS = 7
const suite = 'sandbox'

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

const open = (folder: string, poolSize: number): PythonSandbox =>
  createPythonSandbox({
    engine: 'wasm',
    isolation: 'auto',
    multiUser: false,
    poolSize,
    poolIdleMs: 600_000,
    snapshotFolder: folder,
    packagesFolder: null,
    extraModules: {},
    log: () => {},
  })

/** Runs one program and tells whether a warm interpreter was there. */
async function call(python: PythonSandbox, code: string): Promise<{ warm: boolean }> {
  let warm = true
  const outcome = await python.run(
    { code, strictness: 'strict', files: [] },
    {
      onStarting: () => {
        warm = false
      },
      onRunning: () => {},
      onOutput: () => {},
    },
    new AbortController().signal,
  )
  if (outcome.status !== 'completed') throw new Error(outcome.error ?? outcome.status)
  return { warm }
}

/** Warm calls, and the same program in the host's `python3` in turns, where there is one. */
async function warmCalls(python: PythonSandbox): Promise<Row[]> {
  // The program itself: a version manager's shim in front of it would flatter our figure.
  const host = await promisify(execFile)('python3', [
    '-c',
    'import sys; print(sys.executable)',
  ]).then(
    ({ stdout }) => stdout.trim(),
    () => null,
  )
  const ours: number[] = []
  const theirs: number[] = []
  for (let tries = 0; ours.length < ROUNDS && tries < 5 * ROUNDS; tries += 1) {
    let warm = false
    const took = await timed(async () => {
      warm = (await call(python, '1+1')).warm
    })
    if (warm) ours.push(took)
    // Time for the next one to become warm; not measured.
    await wait(1500)
    if (host !== null) theirs.push(await timed(() => promisify(execFile)(host, ['-c', '1+1'])))
  }
  const value = median(ours)
  const own = {
    suite,
    figure: 'warm call 1+1',
    target: '<= 100',
    value,
    unit: 'ms',
    ok: value <= 100,
  }
  if (host === null) return [own]
  const times = value / median(theirs)
  return [
    own,
    {
      suite,
      figure: 'warm call over python3 -c',
      target: '<= 4',
      value: times,
      unit: 'x',
      ok: times <= 4,
    },
  ]
}

/** A start from a memory image against one from nothing, in turns. */
async function coldStarts(folder: string): Promise<Row[]> {
  const cold = open(folder, 0)
  const launcher = createWasmLauncher(await findInterpreterFiles([]))
  const fromImage: number[] = []
  const plain: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    fromImage.push(await timed(() => call(cold, '1+1')))
    plain.push(
      await timed(async () => {
        const interpreter = startInterpreter({ launcher, mode: 'serve' })
        await interpreter.ready
        interpreter.kill()
        await interpreter.ended
      }),
    )
  }
  await cold.close()
  const value = median(fromImage) / median(plain)
  return [
    { suite, figure: 'cold call', target: '', value: median(fromImage), unit: 'ms', ok: true },
    {
      suite,
      figure: 'cold call over a plain start',
      target: '<= 0.3',
      value,
      unit: 'x',
      ok: value <= 0.3,
    },
  ]
}

async function idleMemory(): Promise<Row> {
  const launcher = createWasmLauncher(await findInterpreterFiles([]))
  let pid = 0
  const interpreter = startInterpreter({
    launcher,
    mode: 'serve',
    onStarted: (id) => {
      pid = id
    },
  })
  await interpreter.ready
  const value = ((await residentBytes(pid)) ?? 0) / 1024 / 1024
  interpreter.kill()
  return {
    suite,
    figure: 'idle interpreter',
    target: '<= 220',
    value,
    unit: 'MB',
    ok: value <= 220,
  }
}

/** Delay of this process's event loop while five programs compute and print. */
async function eventLoop(python: PythonSandbox): Promise<Row[]> {
  const program =
    'total = 0\nfor i in range(1_500_000):\n    total += i\n    if i % 3000 == 0:\n        print(i)\ntotal'
  const delay = monitorEventLoopDelay({ resolution: 5 })
  delay.enable()
  const took = await timed(() =>
    Promise.all(Array.from({ length: 5 }, () => call(python, program))),
  )
  delay.disable()
  const value = delay.percentile(99) / 1e6
  return [
    {
      suite,
      figure: 'event-loop delay p99, five programs',
      target: '< 50',
      value,
      unit: 'ms',
      ok: value < 50,
    },
    {
      suite,
      figure: 'programs a second, five at once',
      target: '',
      value: 5000 / took,
      unit: '1/s',
      ok: true,
    },
  ]
}

/** The figures of the Python sandbox on this machine. */
export async function run(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'nanoclaw-bench-python-'))
  const python = open(folder, 2)
  try {
    // Fills the store of memory images, as some minutes of use do.
    await call(python, '1')
    await wait(12_000)
    return [
      ...(await warmCalls(python)),
      ...(await coldStarts(folder)),
      await idleMemory(),
      ...(await eventLoop(python)),
    ]
  } finally {
    await python.close()
    await rm(folder, { recursive: true, force: true })
  }
}
