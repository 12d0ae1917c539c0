// Reads what a server asks a person for: a form or a page to open; checked and bounded.
import { z } from 'zod'
import { InputForm, type InputQuestion } from '../../../../protocol/runs/input.ts'

const Message = z.string().transform((text) => text.slice(0, 4_000))

/** https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation */
const Elicitation = z.union([
  z.object({
    mode: z.literal('url'),
    message: Message,
    url: z.url({ protocol: /^https?$/ }).max(4_000),
  }),
  z.object({
    mode: z.literal('form').optional(),
    message: Message,
    requestedSchema: InputForm,
  }),
])

const MAX_QUESTIONS = 10

/** Everything that a server asks for in one round, under its own names. Other methods are not offered to servers. */
const InputRequests = z
  .record(z.string(), z.object({ method: z.literal('elicitation/create'), params: z.unknown() }))
  .refine((requests) => Object.keys(requests).length <= MAX_QUESTIONS)

/** The server that asks a person, as the question shows it. */
export interface Asker {
  server: string
  /** The host of the server's address; null for a program on this machine. */
  host: string | null
}

/** Null if the request does not follow the specification, or asks for more than can be shown to a person. */
export function readElicitation({ server, host }: Asker, params: unknown): InputQuestion | null {
  const read = Elicitation.safeParse(params)
  if (!read.success) return null
  const { message } = read.data
  return read.data.mode === 'url'
    ? { server, host, mode: 'url', message, url: read.data.url }
    : { server, host, mode: 'form', message, schema: read.data.requestedSchema }
}

/** The pages that a server requires to be opened before it runs a call; null if one of them cannot be shown. */
export function readRequiredPages(
  asker: Asker,
  elicitations: readonly unknown[],
): InputQuestion[] | null {
  if (elicitations.length === 0 || elicitations.length > MAX_QUESTIONS) return null
  const questions: InputQuestion[] = []
  for (const one of elicitations) {
    const question = readElicitation(asker, one)
    if (question?.mode !== 'url') return null
    questions.push(question)
  }
  return questions
}

/** The questions of an `input_required` result in the server's order; null if one of them cannot be asked. */
export function readInputRequests(
  asker: Asker,
  requests: unknown,
): { key: string; question: InputQuestion }[] | null {
  const read = InputRequests.safeParse(requests ?? {})
  if (!read.success) return null
  const questions: { key: string; question: InputQuestion }[] = []
  for (const [key, { params }] of Object.entries(read.data)) {
    const question = readElicitation(asker, params)
    if (question === null) return null
    questions.push({ key, question })
  }
  return questions
}
