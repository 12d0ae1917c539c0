// A Python program that a person runs, and what it did.
import { z } from 'zod'

/** The longest program, in characters. */
export const MAX_PROGRAM_CHARACTERS = 200_000
/** The most paths and patterns of project files that a program may name. */
const MAX_FILE_PATTERNS = 50

/** Paths or patterns of project files, such as `data/*.csv`. */
export const ProgramFilePatterns = z.array(z.string().min(1).max(1000)).max(MAX_FILE_PATTERNS)

export const RunPythonBody = z
  .object({
    code: z.string().min(1).max(MAX_PROGRAM_CHARACTERS),
    files: ProgramFilePatterns.default([]),
  })
  .meta({ id: 'RunPython' })

/** How a program ended. */
export const ProgramStatus = z.enum([
  'completed',
  /** Rejected by the static check or the parser; nothing ran. */
  'refused',
  /** Ended with an exception. */
  'raised',
  'timed_out',
  'out_of_memory',
  /** The caller's signal was aborted. */
  'stopped',
  /** The interpreter crashed or did not follow the protocol. */
  'crashed',
])
export type ProgramStatus = z.infer<typeof ProgramStatus>

export const PythonOutcome = z
  .object({
    status: ProgramStatus,
    stdout: z.string(),
    stderr: z.string(),
    result: z.unknown(),
    error: z.string().nullable(),
    duration_ms: z.int().min(0),
    files: z.array(
      z.object({
        name: z.string(),
        mime: z.string(),
        size: z.int(),
        data: z.string().optional(),
      }),
    ),
    omitted_files: z.int().min(0),
  })
  .meta({ id: 'PythonOutcome' })
/** What a program did that a person ran. */
export type PythonOutcome = z.infer<typeof PythonOutcome>
