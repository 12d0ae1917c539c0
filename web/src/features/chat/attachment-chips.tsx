// Attachments as small chips: a thumbnail or a file icon, the name, and a way to take it off again.
import { FileText, X } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import type { AttachmentInput } from './attachments.ts'

export function AttachmentChips({
  attachments,
  onRemove,
}: {
  attachments: readonly AttachmentInput[]
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
          {'mime' in attachment ? (
            <img
              src={`data:${attachment.mime};base64,${attachment.data}`}
              alt=""
              className="size-7 rounded-md object-cover"
            />
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
