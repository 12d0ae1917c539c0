// A fake interpreter process without Python: speaks the real protocol and starts 20 times as fast.
import type { InterpreterPlan, Launcher } from '../../../server/sandbox/python/launch.ts'
import type { Program, ProgramOutcome } from '../../../server/sandbox/python/program.ts'

/** Builds a library and images; serves one program, whose result is the content of the image it started from. */
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
load(plan.library, 'library')
const image = load(plan.image, 'image')
if (plan.mode === 'serve') {
  const names = ['readsHostFiles', 'listsHostFolders', 'makesCode', 'hasEnvironment', 'hasBindings', 'hasNetwork']
  send({ type: 'ready', probe: Object.fromEntries(names.map((name) => [name, false])) })
  process.stdin.once('data', () => {
    send({ type: 'running' })
    send({ type: 'done', status: 'completed', error: null, result: image, omitted: 0 })
  })
} else {
  plan.outputs.forEach((descriptor, index) => {
    fs.writeSync(descriptor, plan.mode === 'library' ? 'library' : 'image ' + crypto.randomUUID())
    send({ type: 'written', index })
  })
  send({ type: 'built' })
}
`

/** A launcher for the fake interpreter; `served` counts the processes started to run a program. */
export function createScriptedLauncher(): Launcher & { readonly served: number } {
  let served = 0
  return {
    isolation: 'wasm',
    get served() {
      return served
    },
    command(plan: InterpreterPlan) {
      if (plan.mode === 'serve') served += 1
      return { command: process.execPath, args: ['-e', CHILD, JSON.stringify(plan)] }
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
