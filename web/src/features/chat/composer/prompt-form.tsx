// The form for the fields of a prompt or of a resource's URI template. A filled-in prompt goes into the message field.
import { type ChangeEvent, type FormEvent, useId, useState } from 'react'
import { insertIntoComposer } from '../../../lib/browser/composer-insert.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { Button } from '../../../ui/controls/button.tsx'
import { TextArea, TextField } from '../../../ui/controls/field.tsx'
import { Dialog } from '../../../ui/overlays/dialog.tsx'
import { reportError } from '../../../ui/states/error-text.ts'
import { askForFields, type PromptToFill } from './prompt-to-fill.ts'

const close = (): void => askForFields(null)

/** Filling in may send a request; a failure is reported, and the dialog stays open. */
export function PromptForm({ prompt }: { prompt: PromptToFill }) {
  const { t } = useTranslation()
  const id = useId()
  const [values, setValues] = useState<Readonly<Record<string, string>>>({})
  const [busy, setBusy] = useState(false)

  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault()
    setBusy(true)
    try {
      // A missing argument is different from an empty one.
      const filled = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''))
      const text = await prompt.fill(filled)
      close()
      if (text !== null) insertIntoComposer(text)
    } catch (error) {
      reportError(error)
      setBusy(false)
    }
  }

  return (
    <Dialog
      open
      onOpenChange={close}
      title={prompt.title}
      {...(prompt.description === undefined ? {} : { description: prompt.description })}
      footer={
        <>
          <Button tone="quiet" onClick={close}>
            {t('common.cancel')}
          </Button>
          <Button tone="primary" type="submit" form={id} disabled={busy}>
            {t(`prompts.${prompt.submit ?? 'insert'}`)}
          </Button>
        </>
      }
    >
      <form id={id} className="flex flex-col gap-4" onSubmit={(event) => void submit(event)}>
        {prompt.fields.map(({ name, description, required }) => {
          const field = {
            label: required ? name : t('prompts.optional', { label: name }),
            hint: description,
            required,
            value: values[name] ?? '',
            onChange: ({ target }: ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) =>
              setValues({ ...values, [name]: target.value }),
          }
          // A part of a URI is one line.
          return prompt.submit === 'attach' ? (
            <TextField key={name} maxLength={2_000} {...field} />
          ) : (
            <TextArea key={name} rows={2} maxLength={100_000} {...field} />
          )
        })}
      </form>
    </Dialog>
  )
}
