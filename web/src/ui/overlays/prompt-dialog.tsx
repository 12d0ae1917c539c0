// A dialog that asks for one line of text.
import { useState } from 'react'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { Button } from '../controls/button.tsx'
import { TextField } from '../controls/field.tsx'
import { Dialog } from './dialog.tsx'

/**
 * `onSubmit` receives the trimmed text; it is not called for an empty one. The caller closes the dialog once the text has
 * been stored: after a failure, it is still there.
 */
export function PromptDialog({
  title,
  label,
  initial,
  secret = false,
  saving,
  onClose,
  onSubmit,
}: {
  title: string
  label: string
  initial: string
  /** Masks the input. */
  secret?: boolean
  /** Whether the text is being stored. */
  saving: boolean
  onClose: () => void
  onSubmit: (text: string) => void
}) {
  const { t } = useTranslation()
  const [text, setText] = useState(initial)
  const submit = (): void => {
    if (text.trim() !== '' && !saving) onSubmit(text.trim())
  }
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={title}
      width="narrow"
      footer={
        <>
          <Button tone="quiet" onClick={onClose}>
            {t('common.cancel')}
          </Button>
          <Button tone="primary" disabled={text.trim() === '' || saving} onClick={submit}>
            {t('common.ok')}
          </Button>
        </>
      }
    >
      <form
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
      >
        <TextField
          label={label}
          {...(secret ? { type: 'password', autoComplete: 'off' } : {})}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </form>
    </Dialog>
  )
}
