// Reads an uploaded image in a child process with limits on time and memory, so that a hostile image cannot do harm.
import { tmpdir } from 'node:os'
import { resolve } from 'node:path'
import { z } from 'zod'
import { childEntry } from '../lib/child-entry.ts'
import { startProcess } from '../sandbox/process.ts'
import { watchResidentMemory } from '../sandbox/resident-memory.ts'
import { ImageResult } from './image-result.ts'

/** An image that can be stored, or the reason why it cannot. */
export type ReadImage =
  | ({ ok: true } & ImageResult)
  /** `internal` is for the log. */
  | { ok: false; internal: string }

const TIMEOUT_MS = 20_000
const MAX_MEMORY_BYTES = 1024 * 1024 * 1024

const Output = z.discriminatedUnion('ok', [
  ImageResult.extend({ ok: z.literal(true) }),
  z.object({ ok: z.literal(false), internal: z.string() }),
])

/** @param input path of the image. @param output prefix of the paths to write to. Never throws. */
export async function readImage(input: string, output: string): Promise<ReadImage> {
  const entry = childEntry('files/image.child')
  const child = startProcess({
    command: process.execPath,
    // The child has a working directory of its own, and the data folder may be configured relative to this one's.
    args: [...entry.execArgv, entry.file, resolve(input), resolve(output)],
    cwd: tmpdir(),
    env: {},
    timeoutMs: TIMEOUT_MS,
    maxOutputBytes: 10_000,
  })
  const endWatch = watchResidentMemory(child.pid, MAX_MEMORY_BYTES, () => child.kill())
  const outcome = await child.done
  endWatch()
  try {
    return Output.parse(JSON.parse(outcome.stdout))
  } catch {
    const cause = outcome.timedOut ? 'too slow' : (outcome.startError?.message ?? outcome.stderr)
    return { ok: false, internal: `the image process ended: ${cause.slice(-500)}` }
  }
}
