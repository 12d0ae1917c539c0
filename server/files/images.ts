// Reads an uploaded image in a child process with limits on time and memory, so that a hostile image cannot do harm.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { z } from 'zod'
import { childEntry } from '../lib/child-entry.ts'
import { createFairQueue } from '../lib/fair-queue.ts'
import { startProcess } from '../sandbox/process.ts'
import { watchResidentMemory } from '../sandbox/resident-memory.ts'
import { ImageResult } from './image-result.ts'
import { SNIFFED_BYTES, sniff } from './sniff.ts'

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

/**
 * @param input path of the image. @param output prefix of the paths to write to.
 * @param kind `result`: the picture of a tool result, which gets no thumbnail. Never throws.
 */
export async function readImage(
  input: string,
  output: string,
  kind: 'upload' | 'result' = 'upload',
): Promise<ReadImage> {
  const entry = childEntry('files/image.child')
  const child = startProcess({
    command: process.execPath,
    // The child has a working directory of its own, and the data folder may be configured relative to this one's.
    args: [...entry.execArgv, entry.file, resolve(input), resolve(output), kind],
    cwd: tmpdir(),
    env: {},
    timeoutMs: TIMEOUT_MS,
    maxOutputBytes: 10_000,
    endsWithServer: true,
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

/** The pictures of tools that are read at once, of all users and of one. */
const results = createFairQueue({ size: 2, perOwner: 1 })

/**
 * Reads the picture of a tool result as models receive it; null if it is none that can be shown.
 * @param owner the user whose turn it takes.
 */
export async function readResultImage(bytes: Uint8Array, owner: string | null = null) {
  const type = sniff(Buffer.from(bytes.subarray(0, SNIFFED_BYTES)))
  if (type.kind !== 'image') return null
  return await results.run(owner, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'nanoclaw-image-'))
    try {
      const input = join(folder, 'file')
      const output = `${input}.out`
      await writeFile(input, bytes)
      const image = await readImage(input, output, 'result')
      if (!image.ok) return null
      const { mime, width, height, replaced } = image
      const original = { mime: type.mime, ...image.original }
      return { mime, width, height, original, bytes: replaced ? await readFile(output) : bytes }
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
}
