// The form for instructions to the agent, used in the settings (all conversations) and in a project's settings.
import { useState } from 'react'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { Button } from './button.tsx'
import { TextArea } from './field.tsx'

/** The server's limit. */
const MAX_CHARACTERS = 20_000

/** `stored` is the current text. The button is active if the trimmed text differs from it; `onSave` receives the trimmed text. */
export function InstructionsForm({
  label,
  hint,
  placeholder,
  stored,
  saving,
  onSave,
}: {
  label: string
  hint?: string
  placeholder?: string
  stored: string
  /** Whether a change is being saved. */
  saving: boolean
  onSave: (instructions: string) => void
}) {
  const { t } = useTranslation()
  const [{ base, text }, setEdit] = useState({ base: stored, text: stored })
  // What was stored elsewhere meanwhile replaces a text that was not edited.
  if (stored !== base) setEdit({ base: stored, text: text === base ? stored : text })
  const trimmed = text.trim()
  const isChanged = trimmed !== stored
  return (
    <form
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault()
        onSave(trimmed)
      }}
    >
      <TextArea
        label={label}
        hint={hint}
        placeholder={placeholder}
        rows={5}
        maxLength={MAX_CHARACTERS}
        value={text}
        onChange={(event) => setEdit({ base, text: event.target.value })}
      />
      <Button
        type="submit"
        size="small"
        tone={isChanged ? 'primary' : 'plain'}
        className="self-end"
        disabled={!isChanged || saving}
      >
        {t('common.save')}
      </Button>
    </form>
  )
}
