// A code block with its language, a copy button and syntax colours.
import { Check, Copy } from 'lucide-react'
import { memo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { copyText } from '../../lib/copy-text.ts'
import { notify } from '../toasts.ts'
import { CodeLines } from './code-lines.tsx'

export function CopyButton({ text, label }: { text: string; label?: string }) {
  const { t } = useTranslation()
  const [copied, setCopied] = useState(false)
  const Icon = copied ? Check : Copy
  return (
    <button
      type="button"
      className="inline-flex h-7 items-center gap-1.5 rounded-md px-2 text-xs text-muted transition-colors hover:bg-hover hover:text-ink"
      onClick={() => {
        void copyText(text).then((done) => {
          if (!done) return notify(t('common.notCopied'), 'error')
          setCopied(true)
          setTimeout(() => setCopied(false), 1_500)
        })
      }}
    >
      <Icon size={13} aria-hidden />
      <span>{copied ? t('common.copied') : (label ?? t('common.copy'))}</span>
    </button>
  )
}

export const CodeBlock = memo(function CodeBlock({
  code,
  language,
}: {
  code: string
  language: string
}) {
  const { t } = useTranslation()
  return (
    <figure dir="ltr" className="overflow-hidden rounded-xl border border-line bg-sunken">
      <figcaption className="flex h-9 items-center justify-between pr-1.5 pl-3.5 text-xs text-muted">
        <span className="font-mono">{language === '' ? t('code.text') : language}</span>
        <CopyButton text={code} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard */}
      <pre tabIndex={0} className="overflow-x-auto px-3.5 pb-3.5 -outline-offset-2">
        <CodeLines code={code} language={language} />
      </pre>
    </figure>
  )
})
