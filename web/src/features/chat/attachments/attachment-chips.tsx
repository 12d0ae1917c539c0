// Attachments as small chips: a thumbnail or file icon, the name, and a button to remove it.
import { FileText, X } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { StoredAttachment } from '../../../../../server/protocol/message.ts'
import { send } from '../../../lib/api-client.ts'
import type { AttachmentInput } from './attachments.ts'

export function AttachmentChips({
  attachments,
  onRemove,
}: {
  attachments: readonly (AttachmentInput | StoredAttachment)[]
  onRemove?: (index: number) => void
}) {
  const { t } = useTranslation()
  if (attachments.length === 0) return null
  return (
    <ul className="flex flex-wrap gap-2" aria-label={t('composer.attachments')}>
      {attachments.map((attachment, index) => (
        <li
          // biome-ignore lint/suspicious/noArrayIndexKey: two attachments may be alike in everything
          key={index}
          className="flex h-10 max-w-60 items-center gap-2 rounded-[10px] border border-line bg-paper pr-2 pl-1.5 text-[13px]"
        >
          {'data' in attachment ? (
            <img
              src={`data:${attachment.mime};base64,${attachment.data}`}
              alt=""
              className="size-7 rounded-md object-cover"
            />
          ) : 'url' in attachment && attachment.mime.startsWith('image/') ? (
            <StoredImage url={attachment.url} />
          ) : (
            <span className="grid size-7 place-items-center rounded-md bg-sunken text-muted">
              <FileText size={14} aria-hidden />
            </span>
          )}
          <span className="min-w-0 truncate">{attachment.name}</span>
          {onRemove !== undefined && (
            <button
              type="button"
              aria-label={t('composer.removeAttachment', { name: attachment.name })}
              className="grid size-5 place-items-center rounded text-muted hover:bg-hover hover:text-ink"
              onClick={() => onRemove(index)}
            >
              <X size={13} aria-hidden />
            </button>
          )}
        </li>
      ))}
    </ul>
  )
}

/** An image of a stored message: it needs the sign-in header, which an address in the page can't carry. */
function StoredImage({ url }: { url: string }) {
  const [source, setSource] = useState<string | null>(null)
  useEffect(() => {
    const controller = new AbortController()
    let address: string | null = null
    void send(url, { signal: controller.signal })
      .then(async (response) => {
        const image = await response.blob()
        if (controller.signal.aborted) return
        address = URL.createObjectURL(image)
        setSource(address)
      })
      // A thumbnail that fails to load leaves its space empty; the name beside it is enough.
      .catch(() => setSource(null))
    return () => {
      controller.abort()
      if (address !== null) URL.revokeObjectURL(address)
    }
  }, [url])
  return source === null ? (
    <span className="size-7 rounded-md bg-sunken" />
  ) : (
    <img src={source} alt="" className="size-7 rounded-md object-cover" />
  )
}
