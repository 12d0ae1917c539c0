// Starts runs: send, edit, regenerate and resume. Each response is the event stream of its run.
import type { QueryClient } from '@tanstack/react-query'
import type { z } from 'zod'
import type {
  EditMessageBody,
  Message,
  RegenerateBody,
  SendMessageBody,
  StoredAttachment,
} from '../../../../../server/protocol/conversations/message.ts'
import { titleFromMessage } from '../../../../../server/protocol/conversations/title.ts'
import type { MessageId, RunId } from '../../../../../server/protocol/ids.ts'
import { PAGE_ORIGIN } from '../../../../../server/protocol/runs/origin.ts'
import { updateCached } from '../../../lib/api/conversations.ts'
import { appendMessages, markStreaming, messageKeys } from '../../../lib/api/messages.ts'
import { resumeRun } from '../../../lib/api/runs.ts'
import { skillsIn } from '../../../lib/api/skills.ts'
import { isUntitled } from '../../../lib/conversation-title.ts'
import { ApiError, send } from '../../../lib/http/api-client.ts'
import { type NumberedEvent, readEvents } from '../../../lib/http/event-stream.ts'
import type { AttachedFile } from '../attachments/attachments.ts'
import { acceptOutgoing, announceAnswer } from '../sending/outgoing.ts'
import { follow } from './follow-run.ts'

type Request =
  | {
      kind: 'send'
      files: readonly AttachedFile[]
      body: Partial<z.input<typeof SendMessageBody>>
    }
  | {
      kind: 'edit'
      messageId: string
      attachments: readonly StoredAttachment[]
      body: Partial<z.input<typeof EditMessageBody>>
    }
  | { kind: 'regenerate'; messageId: string; body: Partial<z.input<typeof RegenerateBody>> }

const addressOf = (conversationId: string, request: Request) => {
  const base = `/api/conversations/${conversationId}`
  switch (request.kind) {
    case 'send':
      return { path: `${base}/messages`, method: 'POST' as const }
    case 'edit':
      return { path: `${base}/messages/${request.messageId}`, method: 'PATCH' as const }
    case 'regenerate':
      return { path: `${base}/regenerate/${request.messageId}`, method: 'POST' as const }
  }
}

/** Whether the answer is written beside another one, which keeps its place in the conversation. */
const isBeside = (request: Request): boolean =>
  request.kind === 'regenerate' && request.body.beside === true

/** Reads events up to the `run` event, which begins every stream. */
async function untilStarted(events: AsyncGenerator<NumberedEvent>) {
  const read: NumberedEvent[] = []
  for (;;) {
    const { done, value } = await events.next()
    if (done === true) return { read, started: null }
    read.push(value)
    if (value.event.event === 'run') return { read, started: value.event }
    if (value.event.event === 'error') {
      const { code: reason, params, content } = value.event
      throw new ApiError(502, content, params === undefined ? { reason } : { reason, params })
    }
  }
}

/**
 * Sends the request and follows its run in the background. Resolves with the id of the answer once the run has started.
 * `clientId` makes it safe to send again after a lost response. Throws `ApiError` if the server refuses.
 */
export async function startRun(
  client: QueryClient,
  conversationId: string,
  request: Request,
  clientId: string,
): Promise<MessageId> {
  const { path, method } = addressOf(conversationId, request)
  const response = await send(path, {
    method,
    headers: { accept: 'text/event-stream' },
    body: { ...request.body, stream: true, stream_mode: 'delta', client_id: clientId },
  })
  const stream = readEvents(response)
  const { read, started } = await untilStarted(stream.events)
  if (started === null) throw new ApiError(0, 'offline')
  if (isBeside(request)) placeBeside(client, conversationId, started)
  else {
    placeMessages(client, conversationId, request, started)
    acceptOutgoing(clientId, started.user_message_id)
    // A message that was written before this answer existed waits for it, and so does one that waited for the answer which this one replaces.
    announceAnswer({
      conversationId,
      parent: request.kind === 'regenerate' ? request.messageId : null,
      answer: started.message_id,
    })
  }
  void follow({ conversationId, runId: started.run_id, client }, { stream, read })
  return started.message_id
}

/** The fields of a written message for the body of its request. */
export const writtenFields = (
  { text, files }: { text: string; files: readonly AttachedFile[] },
  projectId: string | null,
) => {
  const skills = skillsIn(text, projectId)
  return {
    text,
    attachments: files.map(({ id }) => ({ file_id: id })),
    ...(skills.length === 0 ? {} : { skills }),
  }
}

/** The attachments of the new message. */
function shownAttachments(
  request: Exclude<Request, { kind: 'regenerate' }>,
): Pick<Message, 'attachments'> {
  if (request.kind === 'edit') return { attachments: [...request.attachments] }
  return {
    attachments: request.files.map(({ id, name, mime, size, pages, error, reason, params }) => ({
      file_id: id,
      name,
      mime,
      size,
      ...(pages === undefined ? {} : { pages }),
      ...(error === undefined ? {} : { error }),
      ...(reason === undefined ? {} : { reason }),
      ...(params === undefined ? {} : { params }),
      url: `/api/files/${id}`,
    })),
  }
}

/** What the first event of a run says. */
type Started = {
  run_id: RunId
  user_message_id: Message['id'] | null
  message_id: Message['id']
}

/** An answer of which nothing has been written. */
const emptyAnswer = (
  { message_id: id, run_id, user_message_id: parent_id }: Started,
  created_at: string,
): Message => ({
  id,
  role: 'assistant',
  text: '',
  process_steps: [],
  token_count: 0,
  run_id,
  parent_id,
  siblings: [id],
  status: 'streaming',
  origin: PAGE_ORIGIN,
  created_at,
})

/** Adds an answer beside another one to the cache. */
function placeBeside(client: QueryClient, conversationId: string, started: Started): void {
  client.setQueryData<Message>(
    messageKeys.one(conversationId, started.message_id),
    emptyAnswer(started, new Date().toISOString()),
  )
  updateCached(client, conversationId, (old) =>
    old.active_run_id === null
      ? { ...old, active_run_id: started.run_id, active_run_status: 'running' }
      : { ...old, beside_run_id: started.run_id },
  )
}

/** Adds the new messages to the cache at once; the stored ones replace them when the run ends. */
function placeMessages(
  client: QueryClient,
  conversationId: string,
  request: Request,
  started: Started,
): void {
  const now = new Date().toISOString()
  const added: Message[] = []
  if (request.kind !== 'regenerate' && started.user_message_id !== null)
    added.push({
      id: started.user_message_id,
      role: 'user',
      text: request.body.text ?? '',
      ...shownAttachments(request),
      token_count: 0,
      parent_id: null,
      siblings: [started.user_message_id],
      status: 'completed',
      origin: PAGE_ORIGIN,
      created_at: now,
    })
  added.push(emptyAnswer(started, now))
  appendMessages(client, conversationId, added, request.kind === 'send' ? null : request.messageId)
  updateCached(client, conversationId, (old) => ({
    ...old,
    active_run_id: started.run_id,
    active_run_status: 'running',
    updated_at: now,
    ...(request.kind === 'send' && isUntitled(old.title)
      ? { title: titleFromMessage(request.body.text ?? '') }
      : {}),
  }))
}

/** Resumes a run that was stopped, failed or reached a limit. */
export async function continueRun(
  client: QueryClient,
  conversationId: string,
  runId: string,
): Promise<void> {
  await resumeRun(runId)
  await client.cancelQueries({ queryKey: messageKeys.list(conversationId) })
  markStreaming(client, conversationId, runId)
  void follow({ conversationId, runId, client })
}
