// One program: its input, its output, and how its end is reported.
import type { z } from 'zod'
import type { ChildMessage, DescribedWheel } from './protocol.ts'

export interface ProgramFile {
  /** Relative path with `/` between its parts. */
  path: string
  content: Uint8Array
}

/** A program as the interpreter gets it, with resolved rules. */
export interface Program {
  code: string
  strictness: string
  modules: readonly string[] | null
  refusedNames: readonly string[]
  files: readonly ProgramFile[]
  wheels: readonly DescribedWheel[]
  limitMs: number
}

export type ProgramStatus =
  | 'completed'
  /** The static check or the parser refused it; nothing ran. */
  | 'refused'
  /** It ended with an exception. */
  | 'raised'
  | 'timed_out'
  | 'out_of_memory'
  /** The caller's signal was aborted. */
  | 'stopped'
  /** The interpreter crashed or did not follow the protocol. */
  | 'crashed'

export interface ProgramOutcome {
  status: ProgramStatus
  stdout: string
  stderr: string
  /** Value of the program's last expression, else null. */
  result: z.core.util.JSONType
  /** What went wrong, for the model and the person; null when completed. */
  error: string | null
  files: ProgramFile[]
  /** Files left out because they were too many or too large. */
  omittedFiles: number
}

export interface ProgramListener {
  onRunning(): void
  onOutput(stream: 'stdout' | 'stderr', text: string): void
}

/** The outcome of a program that reported none itself, for the model and the person. */
export function explain(status: ProgramStatus, program: Program, reason: string): string {
  if (status === 'timed_out')
    return `Stopped at the time limit: the program ran for ${program.limitMs / 1000} s, which is all that strictness "${program.strictness}" gives.`
  if (status === 'out_of_memory')
    return 'Stopped: the program used more memory than the 512 MB it is given.'
  if (status === 'stopped') return 'Stopped before the program ended.'
  if (/call stack|stack overflow/i.test(reason))
    return 'The interpreter broke down: the program nests or recurses too deeply.'
  const exit = /terminated with exit\((\d+)\)/.exec(reason)
  if (exit !== null) return `The program ended its own interpreter with exit status ${exit[1]}.`
  return `The interpreter broke down: ${reason}`
}

/** Collects output and files of one program, within what any honest child would send. */
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
