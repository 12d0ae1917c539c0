// Conversations of ChatGPT's data export: `conversations.json`, since 2026 in shards `conversations-NNN.json`.
import { z } from 'zod'
import { looseList } from '../../lib/loose-list.ts'
import { storedFailure } from '../../protocol/failures/stored.ts'
import {
  argumentsText,
  createUnknownKinds,
  type Draft,
  type DraftFile,
  type DraftNode,
  type DraftStep,
  draftNode,
  linkTo,
  looseFlag,
  looseName,
  looseText,
  resultText,
  timeOf,
  type UnknownKinds,
} from '../draft.ts'

const Pointer = z.looseObject({ asset_pointer: z.string() })
const Content = z.looseObject({
  content_type: looseText,
  parts: looseList(z.union([z.string(), z.looseObject({})])),
  text: looseText,
  result: looseText,
  language: looseText,
  thoughts: looseList(z.looseObject({ summary: looseText, content: looseText })),
})
const Message = z.looseObject({
  author: z.looseObject({ role: looseText, name: looseName }),
  create_time: z.unknown().optional(),
  content: Content,
  recipient: looseName,
  metadata: z
    .looseObject({
      model_slug: looseName,
      is_visually_hidden_from_conversation: looseFlag,
      attachments: looseList(z.looseObject({ id: z.string(), name: looseText })),
      content_references: looseList(
        z.looseObject({
          matched_text: z.string().min(1),
          alt: looseText,
          title: looseText,
          url: looseText,
          items: looseList(z.looseObject({ title: looseText, url: looseText })),
        }),
      ),
    })
    .nullish(),
})
type Message = z.output<typeof Message>
const Node = z.looseObject({
  parent: looseName,
  message: z.unknown().optional(),
})
const ChatGptConversation = z.looseObject({
  title: looseText,
  create_time: z.unknown().optional(),
  update_time: z.unknown().optional(),
  mapping: z.record(z.string(), z.unknown()),
  current_node: looseName,
  conversation_id: looseName,
  id: looseName,
  default_model_slug: looseName,
  is_archived: looseFlag,
  is_starred: looseFlag,
})

/** Who writes messages; only what a person and a model said, and results of tools, are shown. */
const ROLES = new Set(['user', 'assistant', 'tool', 'system', 'developer'])
/** Content that describes the person or the system, which the page of ChatGPT does not show. */
const HIDDEN_CONTENT = new Set(['user_editable_context', 'model_editable_context', 'system_error'])
/** Marks of ChatGPT's page: private-use characters around a kind and its parts, which are words, links or references. */
const MARK = /\ue200([^\ue200\ue201]{0,8000})\ue201/g
const MARK_SEPARATOR = '\ue202'
/** The marks of earlier years, which only refer to sources: `【12†source】`, `【4:0†report.pdf】`. */
const OLD_MARK = /【\d{1,6}(?::\d{1,6})?†[^【】]{0,500}】/g
/** What stands around the words that a mark belongs to. */
const AROUND_WORDS = /[\ue203\ue204\ue206]/g
/** Kinds that only refer to sources: without those there is nothing to show. */
const CITATIONS = new Set(['cite', 'filecite', 'navlist'])

/**
 * @param entryOf finds the file of the archive for the id of an uploaded file.
 * @throws ZodError for anything but a conversation.
 */
export function readChatGpt(value: unknown, entryOf: (fileId: string) => string | null): Draft {
  const given = ChatGptConversation.parse(value)
  const nodes: DraftNode[] = []
  const skipped: Draft['skipped'] = []
  const unknownKinds = createUnknownKinds()
  for (const [id, unchecked] of Object.entries(given.mapping)) {
    const node = Node.safeParse(unchecked)
    const parentId = node.success ? node.data.parent : null
    const message = Message.safeParse(node.success ? node.data.message : undefined)
    if (!message.success) {
      const isEmpty = node.success && node.data.message == null
      if (!isEmpty)
        skipped.push({
          what: id,
          failure: storedFailure('import_unreadable', { detail: 'message' }),
        })
      nodes.push(draftNode({ id, parentId, role: 'hidden' }))
    } else {
      if (!ROLES.has(message.data.author.role))
        skipped.push({ what: id, failure: storedFailure('import_unreadable', { detail: 'role' }) })
      nodes.push(
        toNode(id, parentId, message.data, given.default_model_slug, entryOf, unknownKinds),
      )
    }
  }
  const conversationId = given.conversation_id ?? given.id
  skipped.push(
    ...unknownKinds.skipped(given.title.trim() || conversationId || '', 'import_marks_unknown'),
  )
  return {
    origin: `chatgpt:${conversationId ?? nodes[0]?.id ?? ''}`,
    title: given.title,
    model: given.default_model_slug,
    pinned: given.is_starred,
    archived: given.is_archived,
    tags: [],
    createdAt: timeOf(given.create_time),
    updatedAt: timeOf(given.update_time),
    nodes,
    leaf: given.current_node,
    skipped,
  }
}

function toNode(
  id: string,
  parentId: string | null,
  message: Message,
  defaultModel: string | null,
  entryOf: (fileId: string) => string | null,
  /** Receives the kinds of marks that the text loses. */
  unknownKinds: UnknownKinds,
): DraftNode {
  const { author, content, metadata } = message
  const isHidden =
    !['user', 'assistant', 'tool'].includes(author.role) ||
    metadata?.is_visually_hidden_from_conversation === true ||
    HIDDEN_CONTENT.has(content.content_type)
  if (isHidden) return draftNode({ id, parentId, role: 'hidden' })
  const createdAt = timeOf(message.create_time)
  const files = filesOf(message, entryOf)
  if (author.role === 'user')
    return draftNode({
      id,
      parentId,
      role: 'user',
      text: textOf(message, unknownKinds),
      files,
      createdAt,
    })
  return draftNode({
    id,
    parentId,
    role: 'assistant',
    steps: stepsOf(message, unknownKinds),
    files,
    model: metadata?.model_slug ?? defaultModel,
    createdAt,
  })
}

const textOf = (
  { content: { parts, text, result }, metadata }: Message,
  unknownKinds: UnknownKinds,
): string => {
  const said = parts.flatMap((part) =>
    typeof part === 'string' ? [part] : typeof part.text === 'string' ? [part.text] : [],
  )
  const whole = said.length > 0 ? said.join('\n') : text || result
  const references = new Map(
    (metadata?.content_references ?? []).map((found) => [found.matched_text, found]),
  )
  return whole
    .replaceAll(MARK, (mark, inner: string) => {
      const shown = markText(inner, references.get(mark))
      const [kind = ''] = inner.split(MARK_SEPARATOR, 1)
      if (shown === '' && !CITATIONS.has(kind)) unknownKinds.add(kind)
      return shown
    })
    .replaceAll(OLD_MARK, (mark) => sourcesText(references.get(mark)))
    .replaceAll(AROUND_WORDS, '')
}

type Reference = NonNullable<Message['metadata']>['content_references'][number]

/** What ChatGPT's page shows for a mark: the words of an entity, a link, or the sources of a citation if the export has them. */
function markText(inner: string, reference: Reference | undefined): string {
  const [kind = '', ...parts] = inner.split(MARK_SEPARATOR)
  if (kind === 'entity') return entityName(parts[0] ?? '')
  if (kind === 'url') return linkTo(parts[1] ?? '', parts[0] ?? '')
  return sourcesText(reference)
}

function sourcesText(reference: Reference | undefined): string {
  if (reference === undefined) return ''
  if (reference.alt !== '') return reference.alt
  // Some references are one page, others have several.
  const pages = reference.items.length > 0 ? reference.items : [reference]
  const links = pages.map(({ title, url }) => linkTo(url, title)).filter(Boolean)
  return links.length === 0 ? '' : `(${links.join(', ')})`
}

/** The name in the parts of an entity, such as `["people","Mira Example",0]`. */
function entityName(json: string): string {
  try {
    return z.tuple([z.unknown(), z.string()], z.unknown()).parse(JSON.parse(json))[1]
  } catch {
    // Another form of the mark: only its words, if it has any, are kept.
    return /^[[{]/.test(json.trim()) ? '' : json
  }
}

function stepsOf(message: Message, unknownKinds: UnknownKinds): DraftStep[] {
  const { author, content, recipient } = message
  if (author.role === 'tool') {
    const name = author.name ?? 'tool'
    return [
      {
        type: 'tool_result',
        callId: null,
        name,
        content: resultText(textOf(message, unknownKinds)),
      },
    ]
  }
  const isCall = recipient !== null && recipient !== 'all'
  switch (content.content_type) {
    case 'thoughts':
      return content.thoughts.map(({ summary, content: thought }) => ({
        type: 'thinking',
        content: [summary === '' ? '' : `**${summary}**`, thought].filter(Boolean).join('\n\n'),
      }))
    // Contains only how long the model thought.
    case 'reasoning_recap':
      return []
    case 'code':
      if (!isCall)
        return [{ type: 'text', content: `\`\`\`${content.language}\n${content.text}\n\`\`\`` }]
  }
  const text = textOf(message, unknownKinds)
  if (text === '') return []
  if (!isCall) return [{ type: 'text', content: text }]
  return [
    { type: 'tool_call', callId: null, name: recipient ?? 'tool', arguments: argumentsText(text) },
  ]
}

/** The files of a message: those that its parts refer to, and those uploaded with the text. */
function filesOf(
  { content, metadata }: Message,
  entryOf: (fileId: string) => string | null,
): DraftFile[] {
  const names = new Map((metadata?.attachments ?? []).map(({ id, name }) => [id, name]))
  const pointed = content.parts.flatMap((part) => {
    const pointer = Pointer.safeParse(part)
    return pointer.success ? [pointer.data.asset_pointer.replace(/^[a-z-]+:\/\//, '')] : []
  })
  return [...new Set([...names.keys(), ...pointed])].map((id) => {
    const entry = entryOf(id)
    const name = names.get(id) || (entry?.split('/').at(-1) ?? id)
    return entry === null ? { name, missing: true } : { name, entry }
  })
}

/** The id of an uploaded file from the name of its entry: `file-AbC123-photo.png`, `file_0123-sanitized.png`. */
export const chatGptFileId = (name: string): string | null =>
  /^file[-_][A-Za-z0-9]+/.exec(name.split('/').at(-1) ?? '')?.[0] ?? null
