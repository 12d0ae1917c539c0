// Sends what is in the composer: once, even if the person has to try again after a lost response.
import { useRef, useState } from 'react'
import type { AttachedFile } from '../attachments/attachments.ts'
import { randomId } from '../random-id.ts'
import type { useAttaching } from './use-attaching.ts'

/** What was written and is about to be sent; its files are uploaded. */
export type Draft = { text: string; files: readonly AttachedFile[] }

/** `onSend` resolves to true once the server has accepted the message; until then the text and the files stay. */
export function useSendOnce(onSend: (draft: Draft, clientId: string) => Promise<boolean>) {
  const [sending, setSending] = useState(false)
  /** The last message that failed: its response may have been lost, so sending it again must not create a second one. */
  const refused = useRef<{ draft: Draft; clientId: string } | null>(null)
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
      const last = refused.current
      const isSame = last?.draft.text === text && idsOf(last.draft.files) === idsOf(attached)
      const attempt = isSame ? last : { draft: { text, files: attached }, clientId: randomId() }
      refused.current = attempt
      if (!(await onSend(attempt.draft, attempt.clientId))) return
      refused.current = null
      onSent()
      chosen.clear()
    } finally {
      setSending(false)
    }
  }
  return { sending, send }
}

const idsOf = (files: readonly AttachedFile[]): string => files.map(({ id }) => id).join()
