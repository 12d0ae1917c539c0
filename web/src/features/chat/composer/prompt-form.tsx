// The form for the arguments of a prompt of an MCP server. The filled in prompt goes into the message field.
import { type FormEvent, useId, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { McpPrompt } from '../../../../../server/protocol/mcp.ts'
import { fillPrompt } from '../../../lib/api/mcp.ts'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { reportError } from '../../../ui/error-text.ts'
import { TextArea } from '../../../ui/field.tsx'
import { insertIntoComposer } from '../composer-insert.ts'
import { askForArguments } from './wanted-prompt.ts'

const close = (): void => askForArguments(null)

export function PromptForm({ prompt }: { prompt: McpPrompt }) {
  const { t } = useTranslation()
  const id = useId()
  const [values, setValues] = useState<Readonly<Record<string, string>>>({})
  const [busy, setBusy] = useState(false)

  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault()
    setBusy(true)
    try {
      // An argument that is left out is not the same as an empty one.
      const filled = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''))
      const { text } = await fillPrompt(prompt, filled)
      close()
      insertIntoComposer(text)
    } catch (error) {
      reportError(error)
      setBusy(false)
    }
  }

  return (
    <Dialog
      open
      onOpenChange={close}
      title={prompt.title ?? prompt.name}
      description={[t('prompts.from', { server: prompt.server }), prompt.description]
        .filter((part) => part !== undefined)
        .join(' ')}
      footer={
        <>
          <Button tone="quiet" onClick={close}>
            {t('common.cancel')}
          </Button>
          <Button tone="primary" type="submit" form={id} disabled={busy}>
            {t('prompts.insert')}
          </Button>
        </>
      }
    >
      <form id={id} className="flex flex-col gap-4" onSubmit={(event) => void submit(event)}>
        {prompt.arguments.map(({ name, description, required }) => (
          <TextArea
            key={name}
            rows={2}
            className="min-h-16"
            label={required ? name : t('prompts.optional', { label: name })}
            hint={description}
            required={required}
            maxLength={100_000}
            value={values[name] ?? ''}
            onChange={(event) => setValues({ ...values, [name]: event.target.value })}
          />
        ))}
      </form>
    </Dialog>
  )
}
