// The messages of an interpreter's process: bounded lines of JSON, validated by schema.
import { StringDecoder } from 'node:string_decoder'
import { z } from 'zod'

/** Whether a JSON value nests at most `depth` levels; deeper ones could overflow the stack of later code. */
function nestsAtMost(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  return depth > 0 && Object.values(value).every((item) => nestsAtMost(item, depth - 1))
}

/** Forbidden actions that the child attempted; true means that one succeeded. All must be false before it is used. */
export const Probe = z.object({
  readsHostFiles: z.boolean(),
  listsHostFolders: z.boolean(),
  makesCode: z.boolean(),
  hasEnvironment: z.boolean(),
  hasBindings: z.boolean(),
  hasNetwork: z.boolean(),
})
export type Probe = z.infer<typeof Probe>

/** A Python package that programs can import. */
export const DescribedWheel = z.object({
  name: z.string().max(300),
  file: z.string().max(4096),
  imports: z.array(z.string().max(200)).max(200),
  requires: z.array(z.string().max(200)).max(200),
})
export type DescribedWheel = z.infer<typeof DescribedWheel>

/** A message from the interpreter's process to the server. */
export const ChildMessage = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ready'), probe: Probe }),
  z.object({ type: z.literal('built') }),
  z.object({ type: z.literal('described'), wheels: z.array(DescribedWheel).max(1000) }),
  z.object({ type: z.literal('running') }),
  z.object({
    type: z.literal('output'),
    stream: z.enum(['stdout', 'stderr']),
    text: z.string().max(20_000),
  }),
  z.object({ type: z.literal('file'), path: z.string().min(1).max(1000) }),
  z.object({ type: z.literal('chunk'), data: z.base64().max(100_000) }),
  z.object({
    type: z.literal('done'),
    status: z.enum(['completed', 'raised', 'refused']),
    error: z.string().max(20_000).nullable(),
    result: z.custom<z.core.util.JSONType>((value) => nestsAtMost(value, 20)),
    omitted: z.int().min(0),
  }),
  z.object({ type: z.literal('broken'), reason: z.string().max(2000) }),
])
export type ChildMessage = z.infer<typeof ChildMessage>

/** Returns undefined for invalid JSON; no valid message is undefined. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const MAX_LINE_CHARACTERS = 300_000

/**
 * Reads messages from the bytes of a child. On anything else (a line that is too long, invalid JSON, another shape, more than
 * `maxBytes` in total), calls `onFault` once and stops reading.
 */
export function createMessageReader(options: {
  maxBytes: number
  onMessage(message: ChildMessage): void
  onFault(reason: string): void
}): (chunk: Buffer) => void {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  let bytes = 0
  let broken = false
  const fail = (reason: string): void => {
    broken = true
    rest = ''
    options.onFault(reason)
  }
  const readLine = (line: string): void => {
    const message = ChildMessage.safeParse(parseJson(line))
    if (message.success) options.onMessage(message.data)
    else fail('the interpreter sent an invalid message')
  }
  return (chunk) => {
    if (broken) return
    bytes += chunk.length
    if (bytes > options.maxBytes) return fail('the interpreter sent too much data')
    rest += decoder.write(chunk)
    for (let end = rest.indexOf('\n'); end >= 0 && !broken; end = rest.indexOf('\n')) {
      const line = rest.slice(0, end)
      rest = rest.slice(end + 1)
      readLine(line)
    }
    if (rest.length > MAX_LINE_CHARACTERS) fail('the interpreter sent a line that is too long')
  }
}
