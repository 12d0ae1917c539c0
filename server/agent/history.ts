// Converts stored messages into model messages: calls followed by their results, file contents framed as data.
import type { Carry } from '../llm/carry.ts'
import type { Document, LlmMessage, ModelImage, ToolCall } from '../llm/client.ts'
import { framedFile } from '../llm/user-content.ts'
import type { Attachment } from '../protocol/conversations/message.ts'
import type { Step, ToolResultStep } from '../protocol/runs/step.ts'

/** A PDF, for a model that reads PDF files itself. */
export interface PdfAttachment {
  name: string
  /** The file as base64. */
  pdf: string
  pages: number
  /** The text of the file, for other models. */
  content: string
}

/** An attachment that was omitted because the history would become too large. */
export type OmittedAttachment = { name: string; omitted: true }

/** A message of the branch with its attachments and steps. */
export interface BranchMessage {
  role: 'user' | 'assistant'
  text: string
  attachments: readonly (Attachment | PdfAttachment | OmittedAttachment)[]
  steps: readonly Step[]
  /** Data that providers require back with the calls, by the index of the first call's step. */
  carries?: Carries | undefined
  /** The images of tool results, by the index of the result's step. */
  images?: StepImages | undefined
}

/** Images that belong to tool results, by the position of the step. */
export type StepImages = ReadonlyMap<number, readonly ModelImage[]>

/** Data that providers require back with their calls, by the position of the step. */
export type Carries = ReadonlyMap<number, Carry>

/** The result of a call whose real result was never stored, because the run was stopped or the server died. */
const MISSING_RESULT = JSON.stringify({
  success: false,
  error: 'Interrupted: this call has no result. It may or may not have taken effect.',
})

/**
 * Converts the messages of a branch, oldest first. An answer becomes one assistant message per iteration, followed by
 * the results of its calls.
 */
export function toModelMessages(branch: readonly BranchMessage[]): LlmMessage[] {
  return branch.flatMap((message) =>
    message.role === 'user'
      ? [userMessage(message)]
      : answerMessages(message.steps, message.text, message),
  )
}

function userMessage({ text, attachments }: BranchMessage): LlmMessage {
  const files = attachments.flatMap((file) =>
    'content' in file && !('pdf' in file) ? [`\n\n${framedFile(file.name, file.content)}`] : [],
  )
  const omitted = attachments.flatMap((file) => ('omitted' in file ? [file.name] : []))
  const note =
    omitted.length === 0
      ? ''
      : `\n\n[Omitted because the attachments of this conversation are too large in total: ${omitted.map((name) => JSON.stringify(name)).join(', ')}]`
  const images = attachments.flatMap((file) =>
    'data' in file ? [{ mime: file.mime, data: file.data }] : [],
  )
  const documents = attachments.flatMap((file): Document[] =>
    'pdf' in file
      ? [{ name: file.name, data: file.pdf, pages: file.pages, text: file.content }]
      : [],
  )
  return {
    role: 'user',
    content: text + files.join('') + note,
    ...(images.length === 0 ? {} : { images }),
    ...(documents.length === 0 ? {} : { documents }),
  }
}

const isOfApp = (step: Step): boolean =>
  (step.type === 'tool_call' || step.type === 'tool_result') && step.origin === 'app'

interface Iteration {
  text: string
  reasoning: string
  calls: ToolCall[]
  results: ToolResultStep[]
  carry?: Carry | undefined
}

/**
 * Splits the steps of an answer into iterations. The first step after a tool result starts a new iteration. Calls of apps are
 * not the model's, and it does not learn of them.
 */
export function iterationsOf(steps: readonly Step[], carries?: Carries): Iteration[] {
  const iterations: Iteration[] = []
  let open: Iteration | undefined
  for (const step of steps) {
    if (step === undefined || isOfApp(step)) continue
    if (step.type === 'tool_result') {
      open?.results.push(step)
      continue
    }
    if (open === undefined || open.results.length > 0) {
      open = { text: '', reasoning: '', calls: [], results: [] }
      iterations.push(open)
    }
    if (step.type === 'thinking') open.reasoning += step.content
    else if (step.type === 'text') open.text += step.content
    else {
      open.calls.push({ id: step.id_ref, name: step.name, arguments: step.arguments })
      open.carry ??= carries?.get(step.index)
    }
  }
  return iterations
}

/**
 * The model messages of one answer. Includes the reasoning of a turn with calls: each client knows whether its provider
 * requires it back.
 * @param options.current whether this is the turn in progress: then its reasoning is always included, and calls without a
 * result stay open.
 */
export function answerMessages(
  steps: readonly Step[],
  text: string,
  {
    current = false,
    carries,
    images,
  }: {
    current?: boolean
    carries?: Carries | undefined
    images?: StepImages | undefined
  } = {},
): LlmMessage[] {
  const iterations = iterationsOf(steps, carries)
  if (iterations.length === 0) return text === '' ? [] : [{ role: 'assistant', content: text }]
  const reasons = current || iterations.some(({ calls }) => calls.length > 0)
  return iterations.flatMap((iteration): LlmMessage[] => {
    if (iteration.text === '' && iteration.calls.length === 0) return []
    const results = new Map(iteration.results.map((result) => [result.id_ref, result]))
    return [
      {
        role: 'assistant',
        content: iteration.text,
        ...(reasons && iteration.reasoning !== '' ? { reasoning: iteration.reasoning } : {}),
        ...(iteration.calls.length === 0 ? {} : { toolCalls: iteration.calls }),
        ...(iteration.carry === undefined ? {} : { carry: iteration.carry }),
      },
      ...iteration.calls.flatMap((call): LlmMessage[] => {
        const result = results.get(call.id)
        const content = result?.content ?? (current ? undefined : MISSING_RESULT)
        if (content === undefined) return []
        const shown = result === undefined ? undefined : images?.get(result.index)
        return [
          {
            role: 'tool',
            callId: call.id,
            name: call.name,
            content,
            ...(shown === undefined ? {} : { images: shown }),
          },
        ]
      }),
    ]
  })
}
