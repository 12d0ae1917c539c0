// Sends the message in the composer: it leaves the field at once, and comes back if the server refuses it.
import { useRef } from 'react'
import type { AttachedFile, ChosenFiles } from '../attachments/attachments.ts'
import { randomId } from '../random-id.ts'
import { hideOutgoing, outgoingOf, showOutgoing } from '../sending/outgoing.ts'
import { joinTexts, readDraft, returnDraft, writeDraft } from './drafts.ts'

/** A message about to be sent, with its uploaded files. */
export type Draft = { text: string; files: readonly AttachedFile[] }

/**
 * Returns the function that sends the message of the draft `draftKey`. `onSend` resolves with true once the server has
 * accepted it. A message that is sent again after a failure keeps its `clientId`: the response may be lost, and there must not be a second
 * message.
 */
export function useSendOnce(
  draftKey: string,
  onSend: (draft: Draft, clientId: string) => Promise<boolean>,
) {
  const lastFailed = useRef<{ text: string; files: string; clientId: string } | null>(null)
  return async (text: string, chosen: ChosenFiles, onTaken: () => void): Promise<void> => {
    const taken = chosen.take()
    const files = taken.files.map(({ uploaded }) => uploaded?.id ?? '?').join()
    const last = lastFailed.current
    const isSame = last?.text === text && last.files === files
    const clientId = isSame ? last.clientId : randomId()
    const isShown = outgoingOf(draftKey) === null
    if (isShown) showOutgoing(draftKey, { clientId, text, files: taken.files, messageId: null })
    onTaken()
    // A page that closes meanwhile cannot know whether the message arrives.
    const keep = (): void => {
      writeDraft(draftKey, joinTexts(text, readDraft(draftKey)))
      taken.keep()
    }
    addEventListener('pagehide', keep)
    let isSent = false
    let attempt: typeof lastFailed.current = null
    try {
      const attached = await taken.uploaded()
      if (attached !== null) {
        attempt = { text, files: attached.map(({ id }) => id).join(), clientId }
        isSent = await onSend({ text, files: attached }, clientId)
      }
    } finally {
      removeEventListener('pagehide', keep)
      if (isShown) hideOutgoing(draftKey, clientId)
      // One that was queued meanwhile says nothing about another one that has failed.
      if (isSent) {
        taken.forget()
        if (lastFailed.current?.clientId === clientId) lastFailed.current = null
      } else {
        lastFailed.current = attempt ?? lastFailed.current
        returnDraft(draftKey, text)
        taken.giveBack()
      }
    }
  }
}
