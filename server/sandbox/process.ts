// The only code that starts child processes: separate process group, clean environment, limits on time and output, group
// kill.
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { devNull } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { onAbort } from '../lib/abort.ts'
import { guarded } from './guard.ts'

/** Which of its two outputs a program wrote to. */
export type OutputStream = 'stdout' | 'stderr'

/** The program to start, and its limits. */
export interface ProcessOptions {
  command: string
  args: readonly string[]
  cwd: string
  /** The complete environment of the child; it inherits nothing from the server. */
  env: Readonly<Record<string, string>>
  /** Written to the child's standard input, which is then closed. Without it the input is empty. */
  input?: string | Uint8Array
  /** Keeps standard input open for `process.stdin`; not together with `input`. */
  interactive?: boolean
  /** Additional pipes, as descriptors 3, 4 … of the child. */
  extraPipes?: number
  /** Open descriptors that the child inherits after its pipes. The caller closes them. */
  inherit?: readonly number[]
  /**
   * Ends the whole group also when the server is killed, at any moment; not on Windows. The command must exist, and must not wait
   * for children that it has not started: its guard is one.
   */
  endsWithServer?: boolean
  /** Runs the child as another user; only root can. */
  user?: { uid: number; gid: number }
  /** Wall-clock limit in milliseconds, after which the whole group is killed. No limit by default. */
  timeoutMs?: number
  /** Aborting kills the whole group at once. */
  signal?: AbortSignal
  /** Maximum bytes returned of each output stream: a longer one is reduced to its beginning and its end. */
  maxOutputBytes: number
  /** Called with all output as it arrives, without a limit; the receiver bounds what it retains. */
  onOutput?(stream: OutputStream, text: string): void
}

/** How a program ended, and what it wrote. */
export interface ProcessOutcome {
  /** Null if a signal ended the process or it never started. */
  exitCode: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
  /** Whether `stdout` or `stderr` is incomplete. */
  truncated: boolean
  timedOut: boolean
  aborted: boolean
  /** Why the program could not be started, else null. */
  startError: Error | null
}

/** A program that has been started. */
export interface RunningProcess {
  /** Undefined when the program could not be started. */
  readonly pid: number | undefined
  /** Null unless `interactive`. */
  readonly stdin: Writable | null
  /** The pipes of `extraPipes`, in order; both readable and writable. */
  readonly pipes: readonly (Readable & Writable)[]
  /** Kills the whole group now (SIGKILL). Harmless when it has ended. */
  kill(): void
  /** Resolves when the process and its outputs have ended; never rejects. */
  readonly done: Promise<ProcessOutcome>
}

/** How long the output streams may stay open after the leader has exited. */
const DRAIN_MS = 500

/** Collects output in at most `maxBytes`: the beginning and the end of a longer one. */
function createOutputBuffer(maxBytes: number) {
  const headLimit = Math.ceil(maxBytes / 2)
  const tailLimit = maxBytes - headLimit
  const head: Buffer[] = []
  let headBytes = 0
  let tail: Buffer[] = []
  let tailBytes = 0
  let dropped = 0
  return {
    add(chunk: Buffer): void {
      const first = chunk.subarray(0, Math.max(0, headLimit - headBytes))
      if (first.length > 0) {
        // Copied, because a slice would keep the whole chunk in memory.
        head.push(Buffer.from(first))
        headBytes += first.length
      }
      const rest = chunk.subarray(first.length)
      if (rest.length === 0) return
      tail.push(
        Buffer.from(rest.length > tailLimit ? rest.subarray(rest.length - tailLimit) : rest),
      )
      tailBytes += Math.min(rest.length, tailLimit)
      dropped += Math.max(0, rest.length - tailLimit)
      if (tailBytes > 2 * tailLimit + 65_536) {
        const joined = Buffer.concat(tail)
        const end = Buffer.from(joined.subarray(joined.length - tailLimit))
        dropped += joined.length - end.length
        tail = [end]
        tailBytes = end.length
      }
    },
    finish(): { text: string; truncated: boolean } {
      const joined = Buffer.concat(tail)
      const end = joined.subarray(Math.max(0, joined.length - tailLimit))
      const omitted = dropped + joined.length - end.length
      const start = Buffer.concat(head)
      if (omitted === 0) return { text: Buffer.concat([start, end]).toString(), truncated: false }
      return {
        text: `${start.toString()}\n[… ${omitted} bytes left out …]\n${end.toString()}`,
        truncated: true,
      }
    },
  }
}

/**
 * Throws `EMFILE` when too few descriptors are free for a child with this many pipes. Node itself fails halfway and leaks
 * the pipes that it has opened by then (seen in 20.20: two descriptors per attempt).
 */
function assertDescriptors(pipes: number): void {
  const opened: number[] = []
  try {
    // Two per pipe, two that Node uses to report the start, and two spare ones.
    for (let count = 0; count < 2 * pipes + 4; count++) opened.push(openSync(devNull, 'r'))
  } finally {
    for (const descriptor of opened) closeSync(descriptor)
  }
}

type OutputBuffer = ReturnType<typeof createOutputBuffer>

/** What is known of a process so far. */
interface ProcessState {
  readonly output: Record<OutputStream, OutputBuffer>
  timedOut: boolean
  aborted: boolean
  ended: boolean
}

/** Starts a program as the leader of its own process group. Never throws; a failed start shows in `done`. */
export function startProcess(options: ProcessOptions): RunningProcess {
  const output = {
    stdout: createOutputBuffer(options.maxOutputBytes),
    stderr: createOutputBuffer(options.maxOutputBytes),
  }
  const state: ProcessState = { output, timedOut: false, aborted: false, ended: false }
  if (options.signal?.aborted) {
    state.aborted = true
    return notStarted(state, new Error('aborted before the start'))
  }
  let child: ChildProcess
  try {
    child = spawnLeader(options)
  } catch (error) {
    return notStarted(state, error instanceof Error ? error : new Error(String(error)))
  }
  // When no descriptors are free, Node returns a child without pipes and reports the reason in an event.
  const isStarted = (child as { stdio?: ChildProcess['stdio'] }).stdio !== undefined
  if (!isStarted)
    return {
      ...notStarted(state, new Error('not started')),
      done: new Promise((resolve) =>
        child.once('error', (error) => resolve(finish(state, null, null, error))),
      ),
    }

  const stopListening =
    options.signal &&
    onAbort(options.signal, () => {
      state.aborted = true
      killGroup(state, child)
    })
  const timer =
    options.timeoutMs === undefined
      ? undefined
      : setTimeout(() => {
          state.timedOut = true
          killGroup(state, child)
        }, options.timeoutMs)

  for (const stream of ['stdout', 'stderr'] as const)
    listen(child, stream, output[stream], options.onOutput)
  child.stdin?.on('error', () => {})
  if (options.input !== undefined) child.stdin?.end(options.input)
  const extra = child.stdio.slice(3).filter((pipe) => pipe !== null && pipe !== undefined)
  for (const pipe of extra) pipe.on('error', () => {})
  const pipes = extra.slice(0, options.extraPipes ?? 0)
  // The lifeline: read, so that its end is noticed.
  for (const pipe of extra.slice(pipes.length)) if ('resume' in pipe) pipe.resume()

  const done = new Promise<ProcessOutcome>((resolve) => {
    let drain: NodeJS.Timeout | undefined
    const settle = (
      exitCode: number | null,
      signal: NodeJS.Signals | null,
      startError: Error | null,
    ): void => {
      if (state.ended) return
      state.ended = true
      clearTimeout(timer)
      clearTimeout(drain)
      stopListening?.()
      for (const pipe of child.stdio) pipe?.destroy()
      resolve(finish(state, exitCode, signal, startError))
    }
    child.on('error', (error) => {
      if (child.pid === undefined) settle(null, null, error)
    })
    child.on('exit', (exitCode, signal) => {
      // Descendants that the leader left running would keep the pipes open.
      killGroup(state, child)
      drain = setTimeout(() => settle(exitCode, signal, null), DRAIN_MS)
    })
    child.on('close', (exitCode, signal) => settle(exitCode, signal, null))
  })

  return {
    pid: child.pid,
    stdin: options.interactive ? child.stdin : null,
    // Pipes created by `stdio: 'pipe'` are sockets: readable and writable, unlike what the types declare.
    pipes: pipes as unknown as (Readable & Writable)[],
    kill: () => killGroup(state, child),
    done,
  }
}

/** Starts the program. @throws the system's error, or `EMFILE` when too few descriptors are free. */
function spawnLeader(options: ProcessOptions): ChildProcess {
  const takesInput = options.input !== undefined || options.interactive === true
  const pipe = (): 'pipe' => 'pipe'
  const extra = Array.from({ length: options.extraPipes ?? 0 }, pipe)
  const isGuarded = options.endsWithServer === true && process.platform !== 'win32'
  const lifelines = Array.from({ length: isGuarded ? 1 : 0 }, pipe)
  assertDescriptors(extra.length + lifelines.length + 3)
  const inherited = options.inherit ?? []
  const { command, args } = isGuarded
    ? guarded(options.command, options.args, 3 + extra.length + inherited.length)
    : options
  return spawn(command, [...args], {
    cwd: options.cwd,
    env: { ...options.env },
    // Leader of a new session and process group, so that one signal reaches everything it starts.
    detached: true,
    stdio: [takesInput ? 'pipe' : 'ignore', 'pipe', 'pipe', ...extra, ...inherited, ...lifelines],
    ...(options.user ?? {}),
    windowsHide: true,
  })
}

function finish(
  { output, timedOut, aborted }: ProcessState,
  exitCode: number | null,
  signal: NodeJS.Signals | null,
  startError: Error | null,
): ProcessOutcome {
  const stdout = output.stdout.finish()
  const stderr = output.stderr.finish()
  return {
    exitCode,
    signal,
    stdout: stdout.text,
    stderr: stderr.text,
    truncated: stdout.truncated || stderr.truncated,
    timedOut,
    aborted,
    startError,
  }
}

const notStarted = (state: ProcessState, error: Error): RunningProcess => ({
  pid: undefined,
  stdin: null,
  pipes: [],
  kill: () => {},
  done: Promise.resolve(finish(state, null, null, error)),
})

function killGroup({ ended }: ProcessState, child: ChildProcess): void {
  if (ended || child.pid === undefined) return
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    // The group no longer exists, or the platform has no process groups: kill at least the leader.
    child.kill('SIGKILL')
  }
}

function listen(
  child: ChildProcess,
  stream: OutputStream,
  buffer: OutputBuffer,
  onOutput: ProcessOptions['onOutput'],
): void {
  const decoder = new StringDecoder('utf8')
  child[stream]?.on('data', (chunk: Buffer) => {
    buffer.add(chunk)
    if (onOutput === undefined) return
    const text = decoder.write(chunk)
    if (text !== '') onOutput(stream, text)
  })
  // A broken pipe means that the child has exited, which `exit` and `close` report.
  child[stream]?.on('error', () => {})
}

/** Starts a program and waits until it has ended. Never rejects. */
export const runProcess = (options: ProcessOptions): Promise<ProcessOutcome> =>
  startProcess(options).done
