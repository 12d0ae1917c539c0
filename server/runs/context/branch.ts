// Loads the part of a conversation that a run needs: from the newest message back to a summary or to what fits, and says what was
// cut of its files.
import type { BranchMessage, PdfAttachment } from '../../agent/history.ts'
import {
  type AttachmentContent,
  type AttachmentInfo,
  PDF,
} from '../../db/repositories/conversations/attachments.ts'
import type { HistoryMessage } from '../../db/repositories/conversations/branch-history.ts'
import type { RunSetting } from '../../db/repositories/conversations/turns.ts'
import type { Store } from '../../db/store.ts'
import { AppError, errorText } from '../../errors.ts'
import { oncePer } from '../../lib/once-per.ts'
import { estimateDocumentTokens } from '../../llm/tokens.ts'
import { withoutResultImages } from '../../llm/user-content.ts'
import type { TextAttachment } from '../../protocol/conversations/message.ts'
import { isRecording } from '../../protocol/conversations/recording.ts'
import type { MessageId, ProjectId, UserId } from '../../protocol/ids.ts'
import type { PublicModel } from '../../protocol/models/catalog.ts'
import { estimateTokens } from '../../protocol/models/token-estimate.ts'
import { fileHandle } from '../../tools/long-results.ts'
import type { ChatDependencies } from '../dependencies.ts'
import type { RunFrame } from '../performed-run.ts'

/** A file whose text is too large for the context window, reduced to its beginning. */
type CutAttachment = TextAttachment & { cut: CutFile }
/** `characters`: length of the whole text. `stored`: how many characters of it are stored. */
export type CutFile = AttachmentInfo & { characters: number; stored: number }
type LoadedAttachment = BranchMessage['attachments'][number] | CutAttachment

type LoadedMessage = Omit<HistoryMessage, 'attachments'> & {
  attachments: readonly LoadedAttachment[]
}

/** The conversation that the model receives, from its root to the message to answer. */
export interface Branch {
  /** Oldest first. */
  messages: LoadedMessage[]
  /** The summary of everything before `messages`; undefined if nothing was summarized. */
  summary: string | undefined
}

/** Messages per query. Most conversations fit into the first page; in a long one, a query for each hundred would add up. */
const FIRST_PAGE = 100
const PAGE = 500
/** An approximation; attachments are not read yet when it is used. */
const BYTES_PER_TOKEN = 4
/** A page ends with the message that reaches this size. */
const PAGE_BYTES = 2_000_000
/** The share of the context window that the texts of one message's files may take. */
const FILE_SHARE = 0.5
/** Upper limit for a run, whatever the context window. */
const MAX_MESSAGES = 4_000
/** Providers refuse longer PDF files; the text of a longer one is sent. */
const MAX_PDF_PAGES = 100
const MAX_PDF_BYTES = 10_000_000
/** Total size of the attachments in a run, newest first: enough for one message of the maximum size, plus some more. */
const MAX_ATTACHMENT_BYTES = 24_000_000

/** What the model reads instead of the content. */
const UNREADABLE = '[No text could be read from this file.]'
const unreadable = ({ mime, failure }: AttachmentInfo): string =>
  isRecording(mime)
    ? `[This file is a recording, which you cannot hear. It was not transcribed${failure === null ? '' : `: ${failure.message}`}. Do not guess what it says.]`
    : UNREADABLE
const MISSING = '[The content of this image is missing on the server.]'

interface AttachmentOptions {
  /** The tokens that the texts of one message's files may take. */
  textTokens: number
  vision: boolean
  /** Whether the model reads PDF files itself. */
  pdf: boolean
  /** Returns the bytes of a file by its hash. */
  readFile(sha256: string): Promise<Buffer>
}

/** Reads one page of a branch, from a message towards the root. */
type ReadPage = (
  from: MessageId,
  page: { length: number; maxBytes: number },
) => Promise<HistoryMessage[]>

/** Tokens. Used for models whose context window is unknown. */
const DEFAULT_CONTEXT_WINDOW = 128_000

/** The size of the model's context window, in tokens. */
export const contextWindowOf = (model: Pick<PublicModel, 'context_window'>): number =>
  model.context_window ?? DEFAULT_CONTEXT_WINDOW

/**
 * The messages that the run answers, and the settings of the conversation, which are at least as recent as the newest
 * message. Reads page by page, so that only the newest part of a very long conversation is loaded into memory.
 */
export async function readBranch(
  { run, known, dependencies: { store, database, files } }: RunFrame,
  model: PublicModel,
): Promise<Branch & { setting: RunSetting | undefined }> {
  if (run.userMessageId === null) return { messages: [], summary: undefined, setting: undefined }
  let setting = known?.setting
  const readHistory = store.messages.history(run.conversationId)
  const readPage: ReadPage = async (from, page) => {
    if (known?.branch !== undefined && from === run.userMessageId) return known.branch
    if (setting !== undefined) return await readHistory(from, page)
    // The conversation is read after its newest messages, so that its taint is at least as recent as they are.
    return await database.readInOrder(async (read) => {
      const [messages, found] = await Promise.all([
        readHistory(from, page, read),
        store.conversations.findRunSetting(run.userId, run.conversationId, read),
      ])
      setting = found
      return messages
    })
  }
  const windowTokens = contextWindowOf(model)
  const { messages, summary } = await findBranch(readPage, run.userMessageId, windowTokens)
  const full = await withAttachments(store, withNewestResults(messages, model.vision), {
    vision: model.vision,
    pdf: model.pdf,
    readFile: files.read,
    textTokens: windowTokens * FILE_SHARE,
  })
  return { messages: full, summary, setting }
}

/** More images of results are not sent in any case. */
const MAX_RESULT_IMAGES = 40
const NO_IMAGES: HistoryMessage['images'] = new Map()

/** Without the images of older results, or of all for a model that does not see; their texts say that there were some. */
function withNewestResults(messages: HistoryMessage[], vision: boolean): HistoryMessage[] {
  let left = vision ? MAX_RESULT_IMAGES : 0
  return messages
    .toReversed()
    .map((message) => {
      if (message.images.size === 0) return message
      left -= [...message.images.values()].flat().length
      return left >= 0 ? message : withoutImages(message)
    })
    .toReversed()
}

/** The same object for the same message, so that what is derived from it is, too. */
const withoutImages = oncePer(
  (message: HistoryMessage): HistoryMessage => ({
    ...message,
    images: NO_IMAGES,
    steps: message.steps.map((step) => {
      const count = message.images.get(step.index)?.length ?? 0
      if (step.type !== 'tool_result' || count === 0) return step
      return { ...step, content: withoutResultImages(step.content, count, 'not sent again') }
    }),
  }),
)

async function findBranch(
  readPage: ReadPage,
  leafId: MessageId,
  windowTokens: number,
): Promise<{ messages: HistoryMessage[]; summary: string | undefined }> {
  const messages: HistoryMessage[] = []
  let tokens = 0
  let from: MessageId | null = leafId
  while (from !== null && tokens < windowTokens && messages.length < MAX_MESSAGES) {
    // The first pages may be short: of a long conversation, only what is new is read.
    const length: number = messages.length < FIRST_PAGE ? FIRST_PAGE - messages.length : PAGE
    const page: HistoryMessage[] = await readPage(from, { length, maxBytes: PAGE_BYTES })
    for (const message of page.toReversed()) {
      if (message.summary !== null)
        return { messages: messages.toReversed(), summary: message.summary }
      messages.push(message)
      for (const file of message.attachments)
        if (file.kind === 'text' && message.role === 'user')
          tokens += Math.min(Math.ceil(textSize(file) / BYTES_PER_TOKEN), windowTokens * FILE_SHARE)
      tokens += textTokens(message)
    }
    from = page[0]?.parentId ?? null
  }
  return { messages: messages.toReversed(), summary: undefined }
}

/** Messages of long conversations come as the same objects in every run. */
const textTokens = oncePer((message: HistoryMessage): number =>
  message.steps.reduce(
    (sum, step) => sum + estimateTokens('content' in step ? step.content : step.arguments),
    estimateTokens(message.text),
  ),
)

/** The same object for the same message, so that what is derived from it is, too. */
const withoutFiles = oncePer(
  (message: HistoryMessage): LoadedMessage => ({
    ...message,
    attachments: [],
  }),
)

/** Bytes or characters of text that a model gets to read. */
const textSize = (file: AttachmentInfo): number => file.characters ?? file.size

/** Adds the contents of the attachments, newest message first, up to the size limit. */
async function withAttachments(
  store: Pick<Store, 'attachments'>,
  messages: readonly HistoryMessage[],
  options: AttachmentOptions,
): Promise<Branch['messages']> {
  const { vision, pdf, readFile, textTokens } = options
  const isNative = (file: AttachmentInfo): boolean =>
    pdf &&
    file.mime === PDF &&
    file.fileId !== null &&
    file.pages !== null &&
    file.pages <= MAX_PDF_PAGES &&
    file.size <= MAX_PDF_BYTES
  let left = MAX_ATTACHMENT_BYTES
  const full: Branch['messages'] = []
  for (const message of messages.toReversed()) {
    // Answers have files only if they were imported. Models never see these; only people do.
    if (message.role === 'assistant' || message.attachments.length === 0) {
      full.push(withoutFiles(message))
      continue
    }
    const wanted = message.attachments.filter((file) => {
      // A model without vision only learns that there was an image.
      const size = isNative(file)
        ? file.size
        : file.kind === 'text'
          ? textSize(file)
          : vision
            ? file.size
            : 0
      if (size > left) return false
      left -= size
      return size > 0
    })
    const read = new Map<number, LoadedAttachment>()
    const positions = wanted.map(({ position }) => position)
    let tokens = textTokens
    const contents =
      positions.length === 0 ? [] : await store.attachments.contents(message.id, positions)
    for (const { position, ...file } of contents) {
      if ('sha256' in file) {
        read.set(position, await imageOf(file, readFile))
        continue
      }
      const { pdfSha256, ...plain } = file
      if ('data' in plain) {
        read.set(position, plain)
        continue
      }
      const info = message.attachments.find((one) => one.position === position)
      const pages = info !== undefined && isNative(info) ? info.pages : null
      const document =
        pages === null || pdfSha256 === undefined
          ? null
          : await documentOf(plain, pages, tokens, () => readFile(pdfSha256))
      if (document !== null) {
        tokens -= estimateDocumentTokens({ text: document.content, pages: document.pages })
        read.set(position, document)
        continue
      }
      const content = plain.content === '' ? UNREADABLE : beginningOf(plain.content, tokens)
      tokens -= estimateTokens(content)
      const stored = plain.content.length
      const cut =
        info !== undefined && content.length < stored && plain.content !== ''
          ? { cut: { ...info, characters: info.characters ?? stored, stored } }
          : {}
      read.set(position, { ...plain, content, ...cut })
    }
    const attachments = message.attachments.map((file): LoadedAttachment => {
      const content = read.get(file.position)
      if (content !== undefined) return content
      if (file.kind === 'image' && !vision) return { name: file.name, mime: 'image/png', data: '' }
      if (file.characters === 0 && file.size > 0)
        return { name: file.name, extension: undefined, content: unreadable(file) }
      return file.size === 0
        ? { name: file.name, extension: undefined, content: '' }
        : { name: file.name, omitted: true }
    })
    full.push({ ...message, attachments })
  }
  return full.toReversed()
}

/** A PDF with its text; null if it takes too many tokens or its file is lost. */
async function documentOf(
  { name, content }: TextAttachment,
  pages: number,
  tokens: number,
  read: () => Promise<Buffer>,
): Promise<PdfAttachment | null> {
  if (estimateDocumentTokens({ text: content, pages }) > tokens) return null
  try {
    const pdf = (await read()).toString('base64')
    return { name, pdf, pages, content: content === '' ? UNREADABLE : content }
  } catch (error) {
    if (!isLost(error)) throw error
    return null
  }
}

/** Whether a content is gone for good. While its storage does not respond, the run ends with the reason instead. */
const isLost = (error: unknown): boolean =>
  error instanceof AppError && error.code !== 'store_unavailable'

type ImageFile = Extract<AttachmentContent, { sha256: string }>

async function imageOf(
  { name, mime, sha256 }: Omit<ImageFile, 'position'>,
  readFile: AttachmentOptions['readFile'],
): Promise<BranchMessage['attachments'][number]> {
  try {
    return { name, mime, data: (await readFile(sha256)).toString('base64') }
  } catch (error) {
    if (!isLost(error)) throw error
    // A lost file must not make every later answer in the conversation fail.
    return { name, extension: undefined, content: MISSING }
  }
}

/** The longest beginning of a text that fits into `tokens`. */
function beginningOf(text: string, tokens: number): string {
  const needed = estimateTokens(text)
  return needed <= tokens
    ? text
    : text.slice(0, Math.floor((text.length * Math.max(0, tokens)) / needed))
}

// Adds files that are too large for the context window to the project's documents, and tells the model where to read on.

type Loaded = Branch['messages'][number]

/**
 * Appends a note to each text that was cut.
 * @param tools the tools that the run may use.
 * @param documentOf the name of the project's document that contains the whole file; null if there is none. Called only if the
 * model can search the project's documents.
 */
export async function noteLargeFiles(
  messages: readonly Loaded[],
  tools: readonly { name: string }[],
  documentOf: (messageId: MessageId, cut: CutFile) => Promise<string | null>,
): Promise<(Loaded & BranchMessage)[]> {
  const has = (name: string): boolean => tools.some((tool) => tool.name === name)
  const full: (Loaded & BranchMessage)[] = []
  for (const message of messages) {
    if (isWhole(message)) {
      full.push(message)
      continue
    }
    const attachments: BranchMessage['attachments'][number][] = []
    for (const file of message.attachments) {
      if (!('cut' in file)) {
        attachments.push(file)
        continue
      }
      const { cut, content, ...text } = file
      const document = has('search_knowledge') ? await documentOf(message.id, cut) : null
      const note = noteOf(content, cut, { document, readsOn: has('result_read') })
      attachments.push({ ...text, content: `${content}\n${note}` })
    }
    full.push({ ...message, attachments })
  }
  return full
}

const isWhole = (message: Loaded): boolean => message.attachments.every((file) => !('cut' in file))

/**
 * Makes a file that was cut a document of the project, once: after somebody deletes that document, it is not added again.
 * @param projectId null if files stay in their conversation.
 * @returns the name of the document that contains the whole file; null if there is none.
 */
export async function addDocument(
  { messageId, cut }: { messageId: MessageId; cut: CutFile },
  { userId, projectId }: { userId: UserId; projectId: ProjectId | null },
  {
    announce,
    database,
    store,
    files,
    documents,
    log,
  }: Pick<ChatDependencies, 'announce' | 'database' | 'store' | 'files' | 'documents' | 'log'>,
): Promise<string | null> {
  if (projectId === null || cut.fileId === null) return null
  if (cut.documentId !== null) return cut.documentProjectId === projectId ? cut.documentName : null
  try {
    // Others would see the file of a conversation that is not theirs.
    if (await store.members.isShared(projectId)) return null
    const [file] = await files.findAll(userId, [cut.fileId])
    if (file === undefined) return null
    const { id, name } = await documents.addStored(
      { userId, projectId },
      {
        name: cut.name,
        mime: file.mime,
        sha256: file.sha256,
        encoding: await files.encoding(userId, cut.fileId),
        open: () => files.open(file),
      },
    )
    await database.write((tx) => store.attachments.setDocument(tx, messageId, cut.position, id))
    announce(userId, { type: 'project', id: projectId, change: 'updated' })
    return name
  } catch (error) {
    // The model can still read on in the stored text, so the answer does not fail.
    log.warn(
      { file: cut.fileId, project: projectId, cause: errorText(error) },
      'a large file did not become a document of its project',
    )
    return null
  }
}

function noteOf(
  shown: string,
  { characters, stored, fileId, pages }: CutFile,
  { document, readsOn }: { document: string | null; readsOn: boolean },
): string {
  const mark = shown.slice(Math.max(0, shown.lastIndexOf('[Page ')))
  const page = /^\[Page (\d+)\]\n/.exec(mark)?.[1]
  const upTo = pages === null || page === undefined ? '' : `, up to page ${page} of ${pages}`
  const ways: string[] = []
  if (document !== null)
    ways.push(
      `The whole file is a document of the project, ${JSON.stringify(document)}: search_knowledge finds passages in it, with their pages.`,
    )
  if (readsOn && fileId !== null)
    ways.push(
      `To read on${stored < characters ? ` up to character ${stored}` : ''}, call result_read with the handle "${fileHandle(fileId)}" and the offset ${shown.length}.`,
    )
  if (ways.length === 0) ways.push('Tell the user so.')
  return `[This file is too large for the context window: only the first ${shown.length} of ${characters} characters are shown${upTo}. ${ways.join(' ')}]`
}
