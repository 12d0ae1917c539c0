// A button that copies a text and confirms it for a moment.
import { Check, Copy } from 'lucide-react'
import { useState } from 'react'
import { copyText } from '../../lib/browser/copy-text.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { notify } from '../overlays/toasts.ts'

const CONFIRMATION_MS = 1_500

/** Copies `text`, or calls `copy` instead. `label` is the text next to the icon. */
export function CopyButton({
  text,
  label,
  copy = () => copyText(text ?? ''),
}: {
  text?: string
  label?: string
  /** Copies something other than `text`; resolves with whether it worked. */
  copy?: () => Promise<boolean>
}) {
  const { t } = useTranslation()
  const [copied, setCopied] = useState(false)
  const Icon = copied ? Check : Copy
  return (
    <button
      type="button"
      className="inline-flex h-7 items-center gap-1.5 rounded-md px-2 text-xs text-muted transition-colors hover:bg-hover hover:text-ink"
      onClick={() => {
        void copy().then((done) => {
          if (!done) return notify(t('common.notCopied'), 'error')
          setCopied(true)
          setTimeout(() => setCopied(false), CONFIRMATION_MS)
        })
      }}
    >
      <Icon size={13} aria-hidden />
      <span>{copied ? t('common.copied') : (label ?? t('common.copy'))}</span>
    </button>
  )
}
