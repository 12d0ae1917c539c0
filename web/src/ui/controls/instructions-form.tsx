// The form for instructions to the agent: for every conversation in the settings, or for those of one project.
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from './button.tsx'
import { TextArea } from './field.tsx'

/** The server refuses longer instructions. */
const MAX_CHARACTERS = 20_000

/**
 * `stored` is the text that applies now. The button is active when the text differs from it, apart
 * from spaces around it; `onSave` receives it without them.
 */
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
  /** A change is on its way to the server. */
  saving: boolean
  onSave: (instructions: string) => void
}) {
  const { t } = useTranslation()
  const [text, setText] = useState(stored)
  const wanted = text.trim()
  const isChanged = wanted !== stored
  return (
    <form
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault()
        onSave(wanted)
      }}
    >
      <TextArea
        label={label}
        hint={hint}
        placeholder={placeholder}
        rows={5}
        maxLength={MAX_CHARACTERS}
        value={text}
        onChange={(event) => setText(event.target.value)}
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
