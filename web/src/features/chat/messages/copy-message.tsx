// Buttons that copy a message: formatted, for programs that accept HTML, or only as Markdown.
import { Copy, FileCode } from 'lucide-react'
import { copyRich, copyText } from '../../../lib/browser/copy-text.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { ActionButton } from '../../../ui/controls/action-button.tsx'
import { notify } from '../../../ui/overlays/toasts.ts'

/** The rendered HTML of the message around the button; empty for a message without Markdown. */
async function drawnText(button: Element): Promise<string> {
  const texts = button.closest('article')?.querySelectorAll('.prose[data-footnotes]') ?? []
  if (texts.length === 0) return ''
  // Already loaded together with the Markdown renderer.
  const { plainHtml } = await import('../../../ui/markdown/plain-html.ts')
  return [...texts].map(plainHtml).join('')
}

/** Copies the formatted text and the Markdown. `text` returns the Markdown when the button is pressed. */
export function CopyMessage({ text }: { text: () => string }) {
  const { t } = useTranslation()
  const report = (copied: boolean): void =>
    copied ? notify(t('common.copied')) : notify(t('common.notCopied'), 'error')
  const copy = async (button: Element): Promise<boolean> => {
    const html = await drawnText(button)
    return html === '' ? copyText(text()) : copyRich({ text: text(), html })
  }
  return (
    <ActionButton
      icon={Copy}
      label={t('common.copy')}
      onClick={({ currentTarget }) => void copy(currentTarget).then(report)}
    />
  )
}

/** Copies only the Markdown, for programs that would otherwise take the formatted text. */
export function CopyMarkdown({ text }: { text: () => string }) {
  const { t } = useTranslation()
  return (
    <ActionButton
      icon={FileCode}
      label={t('message.copyMarkdown')}
      onClick={() =>
        void copyText(text()).then((copied) =>
          copied ? notify(t('common.copied')) : notify(t('common.notCopied'), 'error'),
        )
      }
    />
  )
}
