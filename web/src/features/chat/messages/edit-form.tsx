// The form for editing the text of a message.
import { useState } from 'react'
import { isComposing } from '../../../lib/browser/composing.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { Button } from '../../../ui/controls/button.tsx'
import { inputClass } from '../../../ui/controls/field.tsx'

/** Used for user messages and answers. `submit` is the label of the submit button. */
export function EditForm({
  initial,
  hint,
  submit: submitLabel,
  onCancel,
  onSubmit,
}: {
  initial: string
  /** Explains what submitting does. */
  hint: string
  submit: string
  onCancel: () => void
  onSubmit: (text: string) => Promise<void>
}) {
  const { t } = useTranslation()
  const [text, setText] = useState(initial)
  const [opener] = useState(() => document.activeElement)
  const cancel = (): void => {
    onCancel()
    // If ↑ in the composer opened the form, the focus returns there; otherwise the list moves it to the message's button.
    if (opener instanceof HTMLElement && opener.id === 'composer') opener.focus()
  }
  const submit = (): void => {
    if (text.trim() !== '') void onSubmit(text)
  }
  return (
    <form
      className="mb-4 flex flex-col gap-2"
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      <textarea
        // biome-ignore lint/a11y/noAutofocus: the user has just asked to edit
        autoFocus
        onFocus={({ target }) => target.setSelectionRange(target.value.length, target.value.length)}
        aria-label={t('message.edit')}
        dir="auto"
        value={text}
        rows={Math.min(14, Math.max(3, text.split('\n').length))}
        className={`${inputClass} resize-y rounded-2xl px-4 py-3 text-message leading-relaxed sm:text-message`}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (isComposing(event.nativeEvent)) return
          if (event.key === 'Escape') {
            event.stopPropagation()
            cancel()
          }
          if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) {
            event.preventDefault()
            submit()
          }
        }}
      />
      <div className="flex items-center justify-end gap-2">
        <span className="me-auto text-note text-muted">{hint}</span>
        <Button size="small" tone="quiet" onClick={cancel}>
          {t('common.cancel')}
        </Button>
        <Button size="small" tone="primary" type="submit" disabled={text.trim() === ''}>
          {submitLabel}
        </Button>
      </div>
    </form>
  )
}
