// How people are told of requests that wait for them: through their browsers and their channels.
import type { Store } from '../db/store.ts'
import type { Channels } from '../messaging/channels.ts'
import type { Push } from '../messaging/push.ts'
import { waitingText } from '../messaging/waiting-notice.ts'
import type { ApprovalPreview } from '../protocol/runs/run-event.ts'
import type { TellWaiting } from '../runs/told-request.ts'

/** Tells people of requests through their browsers and channels. */
export function tellWaitingThrough({
  publicUrl,
  store,
  push,
  channels,
  log,
}: {
  publicUrl: string | undefined
  store: Pick<Store, 'conversations' | 'users'>
  push: Pick<Push, 'tellWaiting'>
  channels: Pick<Channels, 'send'>
  log: { warn(details: object, message: string): void }
}): TellWaiting {
  const url = publicUrl === undefined ? undefined : `${publicUrl.replace(/\/+$/, '')}/waiting`
  return async ({ through, detail }, request, { run, reader }, signal) => {
    const isOwn = reader === run.userId
    if (through === 'push')
      return await push.tellWaiting(reader, {
        ...(isOwn ? {} : { approver: true }),
        run_id: run.id,
        conversation_id: run.conversationId,
        ...(request.type === 'approval' && request.callHash !== null
          ? {
              approval_id: request.id,
              call_hash: request.callHash,
              deadline: request.deadline?.toISOString() ?? null,
            }
          : {}),
      })
    // The title is of the conversation, which approvers do not see.
    const conversation = isOwn
      ? await store.conversations.find(reader, run.conversationId)
      : undefined
    const owner = isOwn ? undefined : await store.users.find(run.userId)
    const text = waitingText(
      {
        ...request,
        person: owner?.username ?? null,
        preview: detail === 'preview' ? previewText(request.preview) : null,
        url,
      },
      conversation?.title ?? '',
    )
    const name = through.slice('channel:'.length)
    const sent = await channels.send(reader, name, { text, conversationId: null, signal })
    if (sent === null)
      log.warn({ run_id: run.id }, 'a person could not be told of a request: the channel is gone')
  }
}

/** What a preview says in words, or shows. */
const previewText = (preview: ApprovalPreview | null): string =>
  [preview?.display, preview?.command, preview?.diff]
    .filter((part) => part !== undefined && part !== '')
    .join('\n')
