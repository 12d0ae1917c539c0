// The form in which an administrator changes a stored model. Values of empty fields are detected or come from the model
// table.
import { type FormEvent, useId, useState } from 'react'
import type { AdminModel } from '../../../../server/protocol/models/catalog.ts'
import { useChangeModel } from '../../lib/api/catalog.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { UrlField } from '../../ui/controls/address-field.tsx'
import { Button } from '../../ui/controls/button.tsx'
import { SelectField, TextArea, TextField } from '../../ui/controls/field.tsx'
import { Switch } from '../../ui/controls/switch.tsx'
import { Dialog } from '../../ui/overlays/dialog.tsx'
import { RemainingError } from '../../ui/overlays/form-dialog.tsx'
import { FieldFaults } from '../../ui/states/field-faults.tsx'
import { connectionOf, FIELDS, formOf, type ModelForm, patchOf } from './model-form.ts'

/** Opened for one stored model of the list. `siblings` are the other stored models of its address. */
export function ModelDialog({
  model,
  siblings,
  onClose,
}: {
  model: AdminModel
  siblings: readonly AdminModel[]
  onClose: () => void
}) {
  const { t } = useTranslation()
  const formId = useId()
  const change = useChangeModel(true)
  const [form, setForm] = useState<ModelForm>(() => formOf(model))
  const [isForAll, setIsForAll] = useState(true)
  const connection = connectionOf(form, model)
  const isMoved = Object.keys(connection).length > 0
  const field = (name: keyof ModelForm) => ({
    field: FIELDS[name],
    label: t(`models.field.${name}`),
    value: form[name],
    onChange: ({ target }: { target: { value: string } }) =>
      setForm({ ...form, [name]: target.value }),
  })
  const number = { type: 'number', inputMode: 'decimal', min: 0, step: 'any' } as const
  const count = { type: 'number', inputMode: 'numeric', min: 1, step: 1 } as const
  const auto = { value: '', label: t('models.auto') }
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    void save()
  }
  const save = async (): Promise<void> => {
    try {
      await change.mutateAsync({ id: model.id, patch: patchOf(form, model) })
      if (isMoved && isForAll)
        for (const { id } of siblings) await change.mutateAsync({ id, patch: connection })
      onClose()
    } catch {
      // The form shows it and stays open.
    }
  }
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={t('models.editTitle', { name: model.name ?? model.id })}
      footer={
        <>
          <Button tone="quiet" onClick={onClose}>
            {t('common.cancel')}
          </Button>
          <Button tone="primary" type="submit" form={formId} disabled={change.isPending}>
            {t('common.save')}
          </Button>
        </>
      }
    >
      <FieldFaults error={change.error}>
        <form id={formId} onSubmit={submit} className="grid gap-4 sm:grid-cols-2">
          <div className="sm:col-span-2">
            <UrlField {...field('apiUrl')} required maxLength={2000} />
          </div>
          <div className="sm:col-span-2">
            <TextField
              {...field('apiKey')}
              type="password"
              autoComplete="off"
              hint={t(model.has_api_key ? 'models.keyStays' : 'models.keyNone')}
            />
          </div>
          {isMoved && siblings.length > 0 && (
            <div className="sm:col-span-2">
              <Switch
                label={t('models.forAll', { count: siblings.length + 1 })}
                checked={isForAll}
                onChange={setIsForAll}
              />
            </div>
          )}
          <TextField {...field('name')} maxLength={200} />
          <SelectField
            {...field('api')}
            options={[
              auto,
              { value: 'chat', label: 'Chat Completions' },
              { value: 'responses', label: 'Responses' },
              { value: 'messages', label: 'Anthropic Messages' },
            ]}
          />
          <SelectField
            {...field('tools')}
            options={[
              auto,
              ...(['native', 'prompt', 'none'] as const).map((mode) => ({
                value: mode,
                label: t(`models.tools.${mode}`),
              })),
            ]}
          />
          <SelectField
            {...field('thinking')}
            options={[
              auto,
              { value: 'false', label: t('models.off') },
              { value: 'true', label: t('models.on') },
              ...(['low', 'medium', 'high'] as const).map((effort) => ({
                value: effort,
                label: t(`models.effort.${effort}`),
              })),
            ]}
          />
          <SelectField
            {...field('vision')}
            options={[
              auto,
              { value: 'true', label: t('models.on') },
              { value: 'false', label: t('models.off') },
            ]}
          />
          <SelectField
            {...field('pdf')}
            options={[
              auto,
              { value: 'true', label: t('models.on') },
              { value: 'false', label: t('models.off') },
            ]}
          />
          <TextField {...field('contextWindow')} {...count} />
          <TextField {...field('maxTokens')} {...count} />
          <TextField {...field('currency')} maxLength={10} />
          <TextField {...field('input')} {...number} required={form.output !== ''} />
          <TextField {...field('output')} {...number} required={form.input !== ''} />
          <TextField {...field('cachedInput')} {...number} />
          <div className="sm:col-span-2">
            <TextArea
              {...field('headers')}
              hint={t('models.headersHint')}
              rows={2}
              spellCheck={false}
              autoComplete="off"
              placeholder="x-gateway-key: …"
            />
          </div>
          <div className="empty:hidden sm:col-span-2">
            <RemainingError error={change.error} />
          </div>
        </form>
      </FieldFaults>
      <p className="mt-4 text-note text-muted">{t('models.autoText')}</p>
    </Dialog>
  )
}
