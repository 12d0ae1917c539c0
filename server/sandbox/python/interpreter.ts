// One interpreter in its own process: runs one program with bounded output, and is killed afterwards.
import { onAbort } from '../../lib/abort.ts'
import type { ProgramStatus } from '../../protocol/programs/python.ts'
import { startProcess } from '../process.ts'
import { type InterpreterMode, type Launcher, MAX_RESULT_BYTES } from './launch.ts'
import {
  createCollector,
  explain,
  type Program,
  type ProgramFile,
  type ProgramListener,
  type ProgramOutcome,
} from './program.ts'
import { type ChildMessage, createMessageReader, type DescribedWheel } from './protocol.ts'

/** A process with an interpreter, for one program. */
export interface Interpreter {
  /** Resolves when the interpreter is ready for a program; rejects when the start or an isolation check failed. */
  readonly ready: Promise<void>
  /** Resolves when the process has ended. Never rejects. */
  readonly ended: Promise<void>
  /** Runs a program. Call it once; the interpreter ends afterwards. Never rejects. */
  run(program: Program, listener: ProgramListener, signal: AbortSignal): Promise<ProgramOutcome>
  /** Lists the contents of wheels. Call it once, instead of `run`. Rejects when they cannot be read. */
  describe(wheels: readonly { file: string; name: string }[]): Promise<DescribedWheel[]>
  kill(): void
}

const START_TIMEOUT_MS = 30_000
/** Generous, because builds run at low priority. */
const BUILD_TIMEOUT_MS = 5 * 60_000
/** Descriptors 0 to 3 of the child are its standard streams and the message pipe. */
const FIRST_INHERITED = 4
/** For checking a program and unpacking its packages, before the program's own time limit starts. */
const PREPARE_TIMEOUT_MS = 20_000
const DESCRIBE_TIMEOUT_MS = 60_000
/** Resident bytes of the process: the program's 512 MB, the interpreter itself and its files. */
const MAX_RESIDENT_BYTES = 900 * 1024 * 1024
const MAX_CHILD_BYTES = MAX_RESULT_BYTES * 1.5 + 4 * 1024 * 1024
const CHUNK_BYTES = 48 * 1024

/** Starts one interpreter. Never throws: errors show in `ready`. */
export function startInterpreter(options: {
  launcher: Launcher
  mode: InterpreterMode
  /** Open file of the compiled library; like those below, closed by the caller after `ready`. */
  library?: number | undefined
  /** Open file of the memory image. */
  image?: number | undefined
  /** Open file of the interpreter's machine code. */
  code?: number | undefined
  /** Open file to write, for the modes that build one. */
  output?: number | undefined
  /** Called at once with the id of the process. */
  onStarted?(pid: number): void
  /** Bytes resident in the process group of `pid`; null if unknown. */
  residentBytes?(pid: number): Promise<number | null>
}): Interpreter {
  const { launcher, mode, library, image, code, output } = options
  const inherited = [library, image, code, output].filter((each) => each !== undefined)
  const inChild = (descriptor: number | undefined): number | null =>
    descriptor === undefined ? null : FIRST_INHERITED + inherited.indexOf(descriptor)
  const child = startProcess({
    ...launcher.command({
      mode,
      library: inChild(library),
      image: inChild(image),
      code: inChild(code),
      output: inChild(output),
    }),
    cwd: '/',
    env: {},
    interactive: true,
    extraPipes: 1,
    inherit: inherited,
    endsWithServer: true,
    // Python's output arrives in messages; this bounds what Node itself prints.
    maxOutputBytes: 2_000,
  })
  if (child.pid !== undefined) options.onStarted?.(child.pid)
  let onMessage: (message: ChildMessage) => void = () => {}
  let onEnd: (reason: string) => void = () => {}
  let endReason: string | null = null
  const end = (reason: string): void => {
    if (endReason !== null) return
    endReason = reason
    child.kill()
    onEnd(reason)
  }
  const readMessages = createMessageReader({
    maxBytes: MAX_CHILD_BYTES,
    onMessage: (message) => {
      if (message.type === 'broken') end(message.reason)
      else if (endReason === null) onMessage(message)
    },
    onFault: end,
  })
  child.pipes[0]?.on('data', readMessages)
  const ended = child.done.then(({ exitCode, signal, startError }) => {
    end(startError?.message ?? `the interpreter ended (${signal ?? `exit code ${exitCode}`})`)
  })

  /** Waits for one kind of message; others go to `others`. */
  const expect = <Type extends ChildMessage['type']>(
    type: Type,
    limitMs: number,
    others: (message: ChildMessage) => void = () => {},
  ): Promise<Extract<ChildMessage, { type: Type }>> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => end('the interpreter did not respond in time'), limitMs)
      const settle = (): void => {
        clearTimeout(timer)
        onMessage = () => {}
        onEnd = () => {}
      }
      onEnd = (reason) => {
        settle()
        reject(new Error(reason))
      }
      onMessage = (message) => {
        if (message.type !== type) return others(message)
        settle()
        // The compiler does not see that the comparison above selected the variant.
        resolve(message as Extract<ChildMessage, { type: Type }>)
      }
      if (endReason !== null) onEnd(endReason)
    })

  const write = async (command: unknown): Promise<void> => {
    const { stdin } = child
    if (stdin === null || stdin.destroyed || stdin.write(`${JSON.stringify(command)}\n`)) return
    await Promise.race([new Promise((resolve) => stdin.once('drain', resolve)), ended])
  }

  const sendFile = async ({ path, content }: ProgramFile): Promise<void> => {
    await write({ type: 'file', path })
    for (let offset = 0; offset < content.length; offset += CHUNK_BYTES) {
      const part = Buffer.from(content.subarray(offset, offset + CHUNK_BYTES))
      await write({ type: 'chunk', data: part.toString('base64') })
    }
    await write({ type: 'end_file' })
  }

  const ready =
    mode === 'library' || mode === 'image' || mode === 'code'
      ? expect('built', BUILD_TIMEOUT_MS).then(() => {})
      : expect('ready', START_TIMEOUT_MS).then(({ probe }) => {
          const breaches = Object.entries(probe).filter(([, works]) => works)
          if (breaches.length === 0) return
          const reason = `the sandbox failed its isolation check: ${breaches.map(([name]) => name).join(', ')}`
          end(reason)
          throw new Error(reason)
        })
  ready.catch(() => {})

  /** Kills the process when it uses more memory than allowed; WebAssembly's own limit applies first. */
  const watchMemory = (onExceeded: () => void): NodeJS.Timeout | undefined => {
    const { residentBytes } = options
    if (residentBytes === undefined) return undefined
    return setInterval(() => {
      if (child.pid === undefined) return
      void residentBytes(child.pid).then((bytes) => {
        if (bytes !== null && bytes > MAX_RESIDENT_BYTES) onExceeded()
      })
    }, 250)
  }

  async function run(
    program: Program,
    listener: ProgramListener,
    signal: AbortSignal,
  ): Promise<ProgramOutcome> {
    const collected = createCollector(listener)
    let killedAs: ProgramStatus | null = null
    const kill = (status: ProgramStatus): void => {
      killedAs ??= status
      end(status)
    }
    const stopListening = onAbort(signal, () => kill('stopped'))
    const memory = watchMemory(() => kill('out_of_memory'))
    let limit: NodeJS.Timeout | undefined
    try {
      const { files, limitMs, ...rest } = program
      for (const file of files) await sendFile(file)
      const total = PREPARE_TIMEOUT_MS + limitMs
      const done = expect('done', total, (message) => {
        if (message.type === 'running') {
          if (limit !== undefined) return
          limit = setTimeout(() => kill('timed_out'), limitMs)
          listener.onRunning()
        } else collected.add(message)
      })
      await write({ type: 'run', ...rest, wheels: byName(program.wheels) })
      const { status, error, result, omitted } = await done
      return { ...collected.finish(), status, error, result, omittedFiles: omitted }
    } catch (error) {
      const status = killedAs ?? 'crashed'
      return {
        ...collected.finish(),
        status,
        error: explain(status, program, error instanceof Error ? error.message : String(error)),
        result: null,
        files: [],
        omittedFiles: 0,
      }
    } finally {
      clearTimeout(limit)
      clearInterval(memory)
      stopListening()
      end('the program has ended')
    }
  }

  return {
    ready,
    ended,
    run,
    async describe(wheels) {
      const described = expect('described', DESCRIBE_TIMEOUT_MS)
      await write({ type: 'describe', wheels })
      const description = await described
      end('done')
      return description.wheels
    },
    kill: () => end('the interpreter was killed'),
  }
}

const byName = (wheels: readonly DescribedWheel[]): Record<string, DescribedWheel> =>
  Object.fromEntries(wheels.map((wheel) => [wheel.name, wheel]))
