// A fake interpreter process without Python: speaks the real protocol and starts 20 times as fast.
import type { InterpreterPlan, Launcher } from '../../../server/sandbox/python/launch.ts'
import type { Program, ProgramOutcome } from '../../../server/sandbox/python/program.ts'

/** Builds a library, an image and machine code; serves one program, whose result is the machine code it started with. */
const CHILD = `
const fs = require('node:fs')
const plan = JSON.parse(process.argv[1])
const send = (message) => fs.writeSync(3, JSON.stringify(message) + '\\n')
const load = (descriptor, kind) => {
  const content = descriptor === null ? null : fs.readFileSync(descriptor, 'utf8')
  if (content === null || content.startsWith(kind)) return content
  send({ type: 'broken', reason: 'not a file of the kind ' + kind })
  process.exit(1)
}
const library = load(plan.library, 'library')
const image = load(plan.image, 'image')
if (image !== null && !image.endsWith(' of ' + library)) {
  send({ type: 'broken', reason: 'an image of another library' })
  process.exit(1)
}
if (plan.mode === 'serve' && plan.code !== null && process.argv[2] === 'rejects code') {
  send({ type: 'broken', reason: 'made for another V8' })
  process.exit(1)
}
const code = load(plan.code, 'code')
if (plan.mode === 'serve') {
  const names = ['readsHostFiles', 'listsHostFolders', 'makesCode', 'hasEnvironment', 'hasBindings', 'hasNetwork']
  send({ type: 'ready', probe: Object.fromEntries(names.map((name) => [name, false])) })
  process.stdin.once('data', () => {
    send({ type: 'running' })
    send({ type: 'done', status: 'completed', error: null, result: code, omitted: 0 })
  })
} else {
  const of = plan.mode === 'image' ? ' of ' + library : ''
  fs.writeSync(plan.output, plan.mode + ' ' + crypto.randomUUID() + of)
  send({ type: 'built' })
}
`

/**
 * A launcher for the fake interpreter; `served` counts the processes started to run a program. With `rejectsCode`, none of them
 * starts with machine code.
 */
export function createScriptedLauncher({ rejectsCode = false } = {}): Launcher & {
  readonly served: number
} {
  let served = 0
  return {
    isolation: 'wasm',
    get served() {
      return served
    },
    command(plan: InterpreterPlan) {
      if (plan.mode === 'serve') served += 1
      const args = ['-e', CHILD, JSON.stringify(plan), ...(rejectsCode ? ['rejects code'] : [])]
      return { command: process.execPath, args }
    },
  }
}

const program: Program = {
  code: '',
  strictness: 'standard',
  modules: null,
  refusedNames: [],
  files: [],
  wheels: [],
  limitMs: 60_000,
}

/** Runs a program in an interpreter that `createScriptedLauncher` started. */
export const runScripted = (interpreter: {
  run(
    program: Program,
    listener: { onRunning(): void; onOutput(): void },
    signal: AbortSignal,
  ): Promise<ProgramOutcome>
}): Promise<ProgramOutcome> =>
  interpreter.run(program, { onRunning() {}, onOutput() {} }, new AbortController().signal)
