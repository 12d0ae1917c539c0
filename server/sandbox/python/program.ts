// A Python program: its input, its output and its outcome.
import type { z } from 'zod'
import type { ProgramStatus } from '../../protocol/programs/python.ts'
import type { ChildMessage, DescribedWheel } from './protocol.ts'

/** A file that a program reads or has written. */
export interface ProgramFile {
  /** With `/` between its parts: below `/workspace` or `/output`, or a whole path that begins with `/skills/`. */
  path: string
  content: Uint8Array
}

/** A program with resolved rules, as the interpreter receives it. */
export interface Program {
  code: string
  strictness: string
  modules: readonly string[] | null
  refusedNames: readonly string[]
  files: readonly ProgramFile[]
  wheels: readonly DescribedWheel[]
  limitMs: number
}

/** What a program did. */
export interface ProgramOutcome {
  status: ProgramStatus
  stdout: string
  stderr: string
  /** Value of the program's last expression, else null. */
  result: z.core.util.JSONType
  /** What went wrong, for the model and the user; null when completed. */
  error: string | null
  files: ProgramFile[]
  /** Number of files omitted because there were too many or they were too large. */
  omittedFiles: number
}

/** Receives what the process reports while it runs a program. */
export interface ProgramListener {
  onRunning(): void
  onOutput(stream: 'stdout' | 'stderr', text: string): void
}

/** Explains, for the model and the user, the end of a program that reported no outcome. */
export function explain(status: ProgramStatus, program: Program, reason: string): string {
  if (status === 'timed_out')
    return `Stopped at the time limit: the program ran for ${program.limitMs / 1000} s, the maximum at strictness "${program.strictness}".`
  if (status === 'out_of_memory') return 'Stopped: the program exceeded its memory limit of 512 MB.'
  if (status === 'stopped') return 'Stopped before the program ended.'
  if (/call stack|stack overflow/i.test(reason))
    return 'The interpreter crashed: the program nests or recurses too deeply.'
  const exit = /terminated with exit\((\d+)\)/.exec(reason)
  if (exit !== null) return `The program ended its own interpreter with exit status ${exit[1]}.`
  return `The interpreter failed: ${reason}`
}

/** Collects output and files of one program, up to what a well-behaved child sends. */
export function createCollector(listener: ProgramListener) {
  const text = { stdout: '', stderr: '' }
  const files: { path: string; parts: Buffer[] }[] = []
  const maxCharacters = 128 * 1024
  return {
    add(message: ChildMessage): void {
      if (message.type === 'output') {
        if (text[message.stream].length > maxCharacters) return
        text[message.stream] += message.text
        listener.onOutput(message.stream, message.text)
      } else if (message.type === 'file') {
        files.push({ path: message.path, parts: [] })
      } else if (message.type === 'chunk') {
        files.at(-1)?.parts.push(Buffer.from(message.data, 'base64'))
      }
    },
    finish: (): Pick<ProgramOutcome, 'stdout' | 'stderr' | 'files'> => ({
      ...text,
      files: files.map(({ path, parts }) => ({ path, content: Buffer.concat(parts) })),
    }),
  }
}
