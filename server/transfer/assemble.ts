// Assembles the messages of a draft: one message per turn of a person or the model, with new ids, parents first.
import { newId } from '../lib/ids.ts'
import { type DescribedFailure, storedFailure } from '../protocol/failures/stored.ts'
import { CallId, type MessageId } from '../protocol/ids.ts'
import { type Step, stepId } from '../protocol/runs/step.ts'
import type { Draft, DraftFile, DraftNode, DraftStep } from './draft.ts'
import {
  type ImportedConversation,
  type ImportedMessage,
  ImportFault,
  MAX_MESSAGES,
} from './import-items.ts'

/** A message of an import whose files are not loaded yet. */
export type AssembledMessage = Omit<ImportedMessage, 'files'> & { files: DraftFile[] }

/** A conversation of an import, ready to be stored. */
export interface Assembled {
  conversation: ImportedConversation
  messages: AssembledMessage[]
  skipped: { what: string; failure: DescribedFailure }[]
}

const MAX_TITLE_CHARACTERS = 255
const MAX_MODEL_CHARACTERS = 200
const MAX_PROMPT_CHARACTERS = 100_000
/** Maximum length of a title taken from the first message. */
const MAX_FIRST_WORDS_CHARACTERS = 60
const MAX_CALL_ID_CHARACTERS = 200
const MAX_TOOL_NAME_CHARACTERS = 200

/**
 * Answers that other programs store as several nodes (reasoning, calls, results, text) become one message; where such a chain
 * branches, a new message begins.
 * @throws ImportFault for a conversation without messages, or with too many.
 */
export function assemble(draft: Draft): Assembled {
  const nodes = new Map<string, DraftNode>()
  for (const node of draft.nodes) if (!nodes.has(node.id)) nodes.set(node.id, node)
  const circular = openCircles(nodes)
  const parents = visibleParents(nodes)
  const shown = [...nodes.values()].filter(isShown)
  if (shown.length === 0) throw new ImportFault(storedFailure('import_no_messages'))
  if (shown.length > MAX_MESSAGES)
    throw new ImportFault(storedFailure('import_too_many_messages', { limit: MAX_MESSAGES }))

  const children = new Map<string | null, DraftNode[]>()
  for (const node of shown) {
    const parent = parents.get(node.id) ?? null
    const siblings = children.get(parent)
    if (siblings === undefined) children.set(parent, [node])
    else siblings.push(node)
  }
  const started = draft.createdAt ?? firstTime(shown) ?? new Date()
  const messages: AssembledMessage[] = []
  const skipped = [
    ...draft.skipped,
    ...circular.map((what) => ({
      what,
      failure: storedFailure('import_unreadable', { detail: 'parent' }),
    })),
  ]
  /** The message that each node became part of. */
  const messageOf = new Map<string, AssembledMessage>()
  const waiting = new Map<AssembledMessage, WaitingCalls>()
  const open: DraftNode[] = [...(children.get(null) ?? [])].reverse()
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    const parent = messageOf.get(parents.get(node.id) ?? '')
    const siblings = children.get(parents.get(node.id) ?? null) ?? []
    const continues =
      node.role === 'assistant' && parent?.role === 'assistant' && siblings.length === 1
    const message = continues ? parent : newMessage(node, parent, started)
    if (continues) continueMessage(message, node)
    else messages.push(message)
    const calls = waiting.get(message) ?? { byId: new Map(), inOrder: [] }
    waiting.set(message, calls)
    if (message.role === 'assistant') addSteps(message.steps, node.steps, calls)
    messageOf.set(node.id, message)
    open.push(...[...(children.get(node.id) ?? [])].reverse())
  }
  for (const message of messages) message.text = textOf(message)
  const leaf = draft.leaf === null ? null : (nodes.get(draft.leaf) ?? null)
  const shownLeaf = leaf === null || isShown(leaf) ? leaf?.id : parents.get(leaf.id)
  const updated = draft.updatedAt ?? messages.at(-1)?.createdAt ?? started
  return {
    conversation: {
      origin: draft.origin,
      title: (draft.title.trim() || firstWords(messages)).slice(0, MAX_TITLE_CHARACTERS),
      model: draft.model?.slice(0, MAX_MODEL_CHARACTERS) ?? null,
      systemPrompt: draft.systemPrompt?.slice(0, MAX_PROMPT_CHARACTERS) ?? null,
      temperature: draft.temperature ?? null,
      maxTokens: draft.maxTokens ?? null,
      thinkingEnabled: draft.thinkingEnabled ?? false,
      pinned: draft.pinned,
      archived: draft.archived,
      tags: draft.tags,
      createdAt: started,
      updatedAt: updated,
      leafId: (messageOf.get(shownLeaf ?? '') ?? messages.at(-1))?.id ?? null,
      project: null,
    },
    messages,
    skipped,
  }
}

const isShown = ({ role, text, steps, files }: DraftNode): boolean =>
  role !== 'hidden' && (text.trim() !== '' || steps.length > 0 || files.length > 0)

/** Makes a root of one node of each circle, so that every node is below a root. Returns their ids. */
function openCircles(nodes: Map<string, DraftNode>): string[] {
  const opened: string[] = []
  const rooted = new Set<string>()
  for (const start of nodes.keys()) {
    const path = new Set<string>()
    let node = nodes.get(start)
    while (node !== undefined && !rooted.has(node.id)) {
      path.add(node.id)
      const above: string | null = node.parentId
      if (above !== null && path.has(above)) {
        nodes.set(node.id, { ...node, parentId: null })
        opened.push(node.id)
        break
      }
      node = nodes.get(above ?? '')
    }
    for (const id of path) rooted.add(id)
  }
  return opened
}

/** The nearest shown node above each node; null without one. A node whose parent is missing counts as a root. */
function visibleParents(nodes: ReadonlyMap<string, DraftNode>): Map<string, string | null> {
  const found = new Map<string, string | null>()
  /** Nodes whose path to the root is known. */
  const rooted = new Set<string>()
  for (const start of nodes.keys()) {
    const path = new Set<string>()
    let current: string | null = start
    while (current !== null && !rooted.has(current)) {
      path.add(current)
      const parent: string | null = nodes.get(current)?.parentId ?? null
      current = parent !== null && nodes.has(parent) ? parent : null
    }
    // Top down, so that the parent's own result is known.
    for (const id of [...path].reverse()) {
      rooted.add(id)
      const parent = nodes.get(nodes.get(id)?.parentId ?? '')
      found.set(
        id,
        parent === undefined ? null : isShown(parent) ? parent.id : (found.get(parent.id) ?? null),
      )
    }
  }
  return found
}

const firstWords = (messages: readonly AssembledMessage[]): string =>
  (messages.find(({ role }) => role === 'user')?.text ?? '')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, MAX_FIRST_WORDS_CHARACTERS)

const firstTime = (nodes: readonly DraftNode[]): Date | null =>
  nodes.find(({ createdAt }) => createdAt !== null)?.createdAt ?? null

function newMessage(
  node: DraftNode,
  parent: AssembledMessage | undefined,
  started: Date,
): AssembledMessage {
  return {
    id: newId<MessageId>(),
    parentId: parent?.id ?? null,
    role: node.role === 'user' ? 'user' : 'assistant',
    text: node.role === 'user' ? node.text : '',
    tokenCount: 0,
    model: node.role === 'user' ? null : (node.model?.slice(0, MAX_MODEL_CHARACTERS) ?? null),
    status: node.status,
    error: node.error,
    origin: null,
    createdAt: node.createdAt ?? parent?.createdAt ?? started,
    steps: [],
    files: [...node.files],
  }
}

function continueMessage(message: AssembledMessage, node: DraftNode): void {
  message.model ??= node.model?.slice(0, MAX_MODEL_CHARACTERS) ?? null
  message.status = node.status
  message.error ??= node.error
  message.files.push(...node.files)
}

/** The calls of an answer without a result: by id, and in order, a list that may still contain calls with one. */
interface WaitingCalls {
  byId: Map<string, Call>
  inOrder: Call[]
}

/**
 * Appends steps with their positions. A result belongs to the call that it names, else to the last one without a result.
 */
function addSteps(steps: Step[], added: readonly DraftStep[], waiting: WaitingCalls): void {
  for (const step of added) {
    const index = steps.length
    if (step.type === 'thinking' || step.type === 'text') {
      const { type, content } = step
      if (content !== '') steps.push({ id: stepId(index), index, type, content })
    } else if (step.type === 'tool_call') addCall(steps, step, waiting)
    else if (step.type === 'tool_result') {
      const { callId, name } = step
      // The export may omit the call.
      const call =
        removeWaiting(waiting, callId) ?? addCall(steps, { callId, name, arguments: '{}' }, waiting)
      waiting.byId.delete(call.id_ref)
      const position = steps.length
      steps.push({
        id: stepId(position),
        index: position,
        type: 'tool_result',
        id_ref: call.id_ref,
        name: call.name,
        content: step.content,
        skipped: false,
      })
    }
  }
}

type Call = Extract<Step, { type: 'tool_call' }>

function addCall(
  steps: Step[],
  given: { callId: string | null; name: string; arguments: string },
  waiting: WaitingCalls,
): Call {
  const index = steps.length
  const id = (given.callId ?? '').slice(0, MAX_CALL_ID_CHARACTERS) || `call_${index}`
  const call: Call = {
    id: stepId(index),
    index,
    type: 'tool_call',
    id_ref: CallId.parse(id),
    name: given.name.slice(0, MAX_TOOL_NAME_CHARACTERS) || 'tool',
    arguments: given.arguments,
  }
  steps.push(call)
  waiting.byId.set(call.id_ref, call)
  waiting.inOrder.push(call)
  return call
}

function removeWaiting({ byId, inOrder }: WaitingCalls, callId: string | null): Call | undefined {
  if (callId !== null) return byId.get(callId.slice(0, MAX_CALL_ID_CHARACTERS))
  for (let call = inOrder.pop(); call !== undefined; call = inOrder.pop())
    if (byId.get(call.id_ref) === call) return call
  return undefined
}

/** The text as this server stores it: that of an answer is what follows its last tool call. */
function textOf({ role, text, steps }: AssembledMessage): string {
  if (role === 'user') return text
  let last = ''
  let isAfterCall = false
  for (const step of steps) {
    if (step.type === 'text') {
      last = isAfterCall ? step.content : last + step.content
      isAfterCall = false
    } else if (step.type !== 'thinking') isAfterCall = true
  }
  return last
}
