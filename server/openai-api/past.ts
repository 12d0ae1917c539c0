// Converts the conversation that a program sends (messages, calls and results, in order) into messages of the store.
import type { ProgramRequest } from '../chat/program-runs.ts'
import type { PastMessage, PastStep } from '../chat/program-turn.ts'
import { appError } from '../errors.ts'
import { ImageAttachment, type NewAttachment } from '../protocol/conversations/message.ts'
import { FileId, type RunId } from '../protocol/ids.ts'
import { readClientCallId, storedCallId } from './names.ts'

/** A file of a program's message: its content as a data URL or bare base64, or the id of one that was uploaded before. */
export interface SentFile {
  name?: string | undefined
  data?: string | undefined
  id?: string | undefined
}

/** A part of audio as a file. */
export const audioFile = ({ data, format }: { data: string; format: string }): SentFile => ({
  name: `audio.${format}`,
  data,
})

/** Stores a file of the program, and returns its id. */
export type UploadSentFile = (name: string, bytes: Buffer) => Promise<FileId>

/** One entry of a program's conversation, from either API. */
export type PastEntry =
  | { kind: 'system'; text: string }
  | { kind: 'user'; text: string; images: readonly string[]; files: readonly SentFile[] }
  | { kind: 'answer'; text: string }
  | { kind: 'call'; id: string; name: string; arguments: string }
  | { kind: 'result'; id: string; text: string }

/** A request's conversation, in the form that `chat` accepts. `system` is undefined without a system message. */
export type ReadPast = Pick<ProgramRequest, 'past' | 'question' | 'previous' | 'title'> & {
  system: string | undefined
}

/** What the model is asked if the conversation ends with its own text. */
const CONTINUE = 'Continue your last message from exactly where it ends, without repeating it.'
const MAX_TITLE_CHARACTERS = 60
const IMAGE_URL = /^data:(image\/(?:png|jpeg|webp|gif));base64,([A-Za-z\d+/=\s]+)$/

/**
 * @param continued the run that the entries continue, if the program names it.
 * @throws AppError for a result without a call, for an image that is not a data URL, and if there is nothing to answer.
 */
export function readPast(entries: readonly PastEntry[], continued: RunId | null = null): ReadPast {
  const said = entries.filter((entry) => entry.kind !== 'system')
  if (continued !== null) {
    const previous = continuing(said, continued)
    return { system: systemOf(entries), title: '', past: [], question: null, previous }
  }
  const firstText = said.find((entry) => entry.kind === 'user')?.text ?? ''
  return {
    system: systemOf(entries),
    title: titleOf(firstText),
    ...splitQuestion(messagesOf(said)),
    previous: previousOf(said),
  }
}

/**
 * Stores the files that came with the request: in the entries that are returned, every file has an id.
 * @throws AppError for a file without content and id, and the refusals of uploads.
 */
export async function withStoredFiles(
  entries: readonly PastEntry[],
  upload: UploadSentFile,
): Promise<PastEntry[]> {
  const stored: PastEntry[] = []
  for (const entry of entries) {
    if (entry.kind !== 'user' || entry.files.length === 0) {
      stored.push(entry)
      continue
    }
    const files: SentFile[] = []
    for (const { name, data, id } of entry.files) {
      if (data === undefined && id === undefined) throw appError('sent_file_empty')
      files.push(data === undefined ? { id } : { id: await upload(name ?? 'file', bytesOf(data)) })
    }
    stored.push({ ...entry, files })
  }
  return stored
}

function bytesOf(data: string): Buffer {
  const base64 = data.startsWith('data:') ? data.slice(data.indexOf(',') + 1) : data
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.length === 0) throw appError('sent_file_empty')
  return bytes
}

type Said = Exclude<PastEntry, { kind: 'system' }>

function systemOf(entries: readonly PastEntry[]): string | undefined {
  const texts = entries.flatMap((entry) => (entry.kind === 'system' ? [entry.text] : []))
  return texts.length === 0 ? undefined : texts.join('\n\n')
}

/** The results of a run's calls, and the messages after them. */
function continuing(said: readonly Said[], runId: RunId): NonNullable<ProgramRequest['previous']> {
  const results = new Map<string, string>()
  const others: Said[] = []
  for (const entry of said) {
    const id = entry.kind === 'result' ? readClientCallId(entry.id) : null
    if (entry.kind === 'result' && id?.runId === runId) results.set(id.idRef, entry.text)
    else others.push(entry)
  }
  return { runId, results, ...splitQuestion(messagesOf(others)), isRequired: true }
}

/** The run whose calls the last results belong to, if this server made the calls. */
function previousOf(said: readonly Said[]): ProgramRequest['previous'] {
  const lastCall = said.findLastIndex((entry) => entry.kind === 'call')
  const call = said[lastCall]
  const owner = call?.kind === 'call' ? readClientCallId(call.id) : null
  if (owner === null) return null
  const results = new Map<string, string>()
  let next = lastCall + 1
  for (let entry = said[next]; entry?.kind === 'result'; entry = said[++next]) {
    const id = readClientCallId(entry.id)
    if (id?.runId !== owner.runId) throw unknownCall(entry.id)
    results.set(id.idRef, entry.text)
  }
  const after = messagesOf(said.slice(next))
  const last = after.at(-1)
  // A request that ends with an answer is continued where its whole conversation is read.
  if (last?.role === 'assistant') return null
  return { runId: owner.runId, results, ...splitQuestion(after), isRequired: false }
}

function splitQuestion(
  messages: readonly PastMessage[],
): Pick<ProgramRequest, 'past' | 'question'> {
  const last = messages.at(-1)
  if (last === undefined) return { past: [], question: null }
  if (last.role === 'user') {
    if (last.text.trim() === '' && last.attachments.length === 0)
      throw appError('nothing_to_answer')
    return { past: messages.slice(0, -1), question: last }
  }
  const end = last.steps.at(-1)
  if (end?.type === 'tool_result') return { past: messages, question: null }
  if (end?.type !== 'text') throw appError('nothing_to_answer')
  // Few providers continue an answer by themselves.
  return { past: messages, question: { text: CONTINUE, attachments: [] } }
}

/** Groups calls and results into the answer around them, as in the store. */
function messagesOf(said: readonly Said[]): PastMessage[] {
  const messages: PastMessage[] = []
  const names = new Map<string, string>()
  let answer: PastStep[] | null = null
  for (const entry of said) {
    if (entry.kind === 'user') {
      answer = null
      const attachments = [...entry.images.map(imageOf), ...entry.files.map(fileOf)]
      messages.push({ role: 'user', text: entry.text, attachments })
      continue
    }
    if (answer === null) {
      answer = []
      messages.push({ role: 'assistant', steps: answer })
    }
    if (entry.kind === 'answer') {
      if (entry.text !== '') answer.push({ type: 'text', content: entry.text })
    } else if (entry.kind === 'call') {
      names.set(entry.id, entry.name)
      const { name, arguments: content } = entry
      answer.push({ type: 'tool_call', idRef: storedCallId(entry.id), name, content })
    } else {
      const name = names.get(entry.id)
      if (name === undefined) throw unknownCall(entry.id)
      const idRef = storedCallId(entry.id)
      answer.push({ type: 'tool_result', idRef, name, content: entry.text })
    }
  }
  return messages
}

const unknownCall = (id: string) => appError('client_call_unknown', { id: id.slice(0, 100) })

function fileOf({ id }: SentFile): NewAttachment {
  const known = FileId.safeParse(id)
  if (!known.success) throw appError('file_id_unknown')
  return { file_id: known.data }
}

function imageOf(url: string, at: number): NewAttachment {
  const [, mime, data] = IMAGE_URL.exec(url) ?? []
  if (mime === undefined || data === undefined) throw appError('image_not_data_url')
  const extension = mime.slice('image/'.length)
  return {
    name: `image-${at + 1}.${extension}`,
    mime: ImageAttachment.shape.mime.parse(mime),
    data: data.replaceAll(/\s/g, ''),
  }
}

function titleOf(text: string): string {
  const line = text.trim().split('\n', 1)[0] ?? ''
  if (line === '') return 'API'
  return line.length <= MAX_TITLE_CHARACTERS ? line : `${line.slice(0, MAX_TITLE_CHARACTERS)}…`
}
