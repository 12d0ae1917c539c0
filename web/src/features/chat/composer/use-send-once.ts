// Sends the message in the composer once, even if the user tries again after a lost response.
import { useRef, useState } from 'react'
import type { AttachedFile } from '../attachments/attachments.ts'
import { randomId } from '../random-id.ts'
import type { useAttaching } from './use-attaching.ts'

/** A message about to be sent, with its uploaded files. */
export type Draft = { text: string; files: readonly AttachedFile[] }

/** `onSend` resolves with true once the server has accepted the message; until then the text and the files stay. */
export function useSendOnce(onSend: (draft: Draft, clientId: string) => Promise<boolean>) {
  const [sending, setSending] = useState(false)
  /** The last message that failed. Its response may be lost, so sending it again must not create a second message. */
  const lastFailed = useRef<{ draft: Draft; clientId: string } | null>(null)
  const send = async ({
    text,
    chosen,
    isEmpty,
    onSent,
  }: {
    text: string
    chosen: ReturnType<typeof useAttaching>['chosen']
    isEmpty: boolean
    onSent: () => void
  }): Promise<void> => {
    if (isEmpty || sending) return
    setSending(true)
    try {
      const attached = await chosen.uploaded()
      if (text.trim() === '' && attached.length === 0) return
      const last = lastFailed.current
      const isSame = last?.draft.text === text && idsOf(last.draft.files) === idsOf(attached)
      const attempt = isSame ? last : { draft: { text, files: attached }, clientId: randomId() }
      lastFailed.current = attempt
      if (!(await onSend(attempt.draft, attempt.clientId))) return
      lastFailed.current = null
      onSent()
      chosen.clear()
    } finally {
      setSending(false)
    }
  }
  return { sending, send }
}

const idsOf = (files: readonly AttachedFile[]): string => files.map(({ id }) => id).join()
