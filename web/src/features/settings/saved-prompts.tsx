// The user's saved prompts: `/` in the composer lists them, and a form asks for their fields.
import { Bookmark, Pencil, Plus, Trash2 } from 'lucide-react'
import { type FormEvent, useId, useState } from 'react'
import type { Preferences } from '../../../../server/protocol/accounts/preferences.ts'
import { fieldsOfPrompt } from '../../../../server/protocol/accounts/prompt-fields.ts'
import { useChangePreferences } from '../../lib/api/preferences.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { Button, IconButton } from '../../ui/controls/button.tsx'
import { TextArea, TextField } from '../../ui/controls/field.tsx'
import { moveFocusOnRemoval } from '../../ui/controls/move-focus-on-removal.ts'
import { Dialog } from '../../ui/overlays/dialog.tsx'
import { Empty } from '../../ui/states/feedback.tsx'
import { Section } from './section.tsx'

type SavedPrompt = Preferences['saved_prompts'][number]

/** `at` is the index in the list; the length of the list for a new prompt. */
type Edited = { at: number; prompt: SavedPrompt }

/** Inserts an example field, because braces in a text of the page would be a parameter. */
const withField = (text: string, name: string): string => text.replace('FIELD', `{{${name}}}`)

/** A part of the agent tab. Every change stores the whole list. */
export function SavedPrompts({ prompts }: { prompts: readonly SavedPrompt[] }) {
  const { t } = useTranslation()
  const change = useChangePreferences()
  const [edited, setEdited] = useState<Edited | null>(null)
  const store = (next: SavedPrompt[], onSuccess?: () => void): void =>
    change.mutate({ saved_prompts: next }, onSuccess && { onSuccess })
  return (
    <Section
      id="prompts"
      title={t('savedPrompts.title')}
      text={t('savedPrompts.text')}
      action={
        <Button
          size="small"
          icon={Plus}
          onClick={() => setEdited({ at: prompts.length, prompt: { name: '', text: '' } })}
        >
          {t('savedPrompts.add')}
        </Button>
      }
    >
      {prompts.length === 0 && <Empty icon={Bookmark} title={t('savedPrompts.none')} />}
      {prompts.length > 0 && (
        <ul
          aria-label={t('savedPrompts.title')}
          ref={moveFocusOnRemoval}
          className="-my-2 divide-y divide-line"
        >
          {prompts.map((prompt, at) => (
            <li key={prompt.name} className="flex items-center gap-1 py-2.5">
              <div className="min-w-0 flex-1">
                <p className="font-medium wrap-anywhere">{prompt.name}</p>
                <p className="line-clamp-2 text-note wrap-anywhere text-muted">{prompt.text}</p>
              </div>
              <IconButton
                icon={Pencil}
                size="small"
                label={t('savedPrompts.editOne', { name: prompt.name })}
                onClick={() => setEdited({ at, prompt })}
              />
              <IconButton
                icon={Trash2}
                size="small"
                label={t('savedPrompts.deleteOne', { name: prompt.name })}
                onClick={() => store(prompts.filter((one) => one !== prompt))}
              />
            </li>
          ))}
        </ul>
      )}
      {edited !== null && (
        <Editor
          initial={edited.prompt}
          otherNames={prompts.filter((_, at) => at !== edited.at).map(({ name }) => name)}
          onClose={() => setEdited(null)}
          saving={change.isPending}
          onSave={(prompt) => store(prompts.toSpliced(edited.at, 1, prompt), () => setEdited(null))}
        />
      )}
    </Section>
  )
}

function Editor({
  initial,
  otherNames,
  saving,
  onClose,
  onSave,
}: {
  initial: SavedPrompt
  /** The names of the other prompts. */
  otherNames: readonly string[]
  saving: boolean
  onClose: () => void
  onSave: (prompt: SavedPrompt) => void
}) {
  const { t } = useTranslation()
  const id = useId()
  const [name, setName] = useState(initial.name)
  const [text, setText] = useState(initial.text)
  const fields = fieldsOfPrompt(text)
  const isTaken = otherNames.includes(name.trim())
  const isComplete = name.trim() !== '' && text.trim() !== '' && !isTaken && !saving
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (isComplete) onSave({ name: name.trim(), text: text.trim() })
  }
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={t(initial.name === '' ? 'savedPrompts.add' : 'savedPrompts.edit')}
      footer={
        <>
          <Button tone="quiet" onClick={onClose}>
            {t('common.cancel')}
          </Button>
          <Button tone="primary" type="submit" form={id} disabled={!isComplete}>
            {t('common.save')}
          </Button>
        </>
      }
    >
      <form id={id} className="flex flex-col gap-4" onSubmit={submit}>
        <TextField
          label={t('savedPrompts.name')}
          error={isTaken ? t('savedPrompts.taken') : undefined}
          required
          maxLength={80}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <TextArea
          label={t('savedPrompts.prompt')}
          hint={
            fields.length === 0
              ? withField(t('savedPrompts.hint'), t('savedPrompts.exampleField'))
              : t('savedPrompts.fields', { fields: fields.join(', ') })
          }
          placeholder={withField(t('savedPrompts.example'), t('savedPrompts.exampleField'))}
          required
          rows={7}
          maxLength={10_000}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </form>
    </Dialog>
  )
}
