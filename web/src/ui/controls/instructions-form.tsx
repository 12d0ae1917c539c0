// The form for instructions to the agent, used in the settings (all conversations) and in a project's settings.
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { ChangedElsewhere } from '../states/changed-elsewhere.tsx'
import { Button } from './button.tsx'
import { TextArea } from './field.tsx'
import { useTextEdit } from './use-text-edit.ts'

/** The server's limit. */
const MAX_CHARACTERS = 20_000

/**
 * `place` names what the instructions are for. The button is active if the trimmed text differs from `stored`; `onSave`
 * receives the trimmed text and reports its own failure.
 */
export function InstructionsForm({
  place,
  label,
  hint,
  placeholder,
  stored,
  saving,
  onSave,
}: {
  place: string
  label: string
  hint?: string
  placeholder?: string
  stored: string
  /** Whether a change is being saved. */
  saving: boolean
  onSave: (instructions: string) => Promise<unknown>
}) {
  const { t } = useTranslation()
  const edit = useTextEdit(`instructions ${place}`, stored)
  const trimmed = edit.text.trim()
  const isChanged = trimmed !== stored
  const save = (): void => void edit.save(() => onSave(trimmed).then(() => trimmed))
  const isConflict = edit.isChangedElsewhere && isChanged && !saving
  return (
    <form
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault()
        save()
      }}
    >
      {isConflict && (
        <div className="overflow-hidden rounded-xl">
          <ChangedElsewhere
            text={t('agent.instructionsChanged')}
            onReload={edit.takeStored}
            onOverwrite={save}
          />
        </div>
      )}
      <TextArea
        label={label}
        hint={hint}
        placeholder={placeholder}
        rows={5}
        maxLength={MAX_CHARACTERS}
        value={edit.text}
        onChange={(event) => edit.setText(event.target.value)}
      />
      <Button
        type="submit"
        size="small"
        tone={isChanged ? 'primary' : 'plain'}
        className="self-end"
        disabled={!isChanged || saving || isConflict}
      >
        {t('common.save')}
      </Button>
    </form>
  )
}
