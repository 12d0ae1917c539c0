// The models step: the tested model with the findings, and other models of the same provider.
import { Plug } from 'lucide-react'
import type { ProbeReport } from '../../../../server/protocol/models/catalog.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { Button } from '../../ui/controls/button.tsx'
import { TextField } from '../../ui/controls/field.tsx'
import { MoreModels } from './more-models.tsx'
import { ProbeFindings } from './probe-findings.tsx'
import type { SetupForm } from './setup-form.ts'

/** `report` contains the findings of the test; `onTest` tests again. */
export function ModelsStep({
  form,
  report,
  busy,
  onChange,
  onTest,
}: {
  form: SetupForm
  report: ProbeReport
  busy: boolean
  onChange: (change: Partial<SetupForm>) => void
  /** Tests the model that the form currently names. */
  onTest: () => void
}) {
  const { t } = useTranslation()
  return (
    <>
      <div className="flex items-end gap-2">
        <div className="min-w-0 flex-1">
          <TextField
            label={t('setup.model')}
            list="setup-models"
            required
            value={form.model}
            onChange={(event) => onChange({ model: event.target.value })}
          />
        </div>
        <Button
          icon={Plug}
          className="h-10"
          disabled={busy || form.model.trim() === ''}
          onClick={onTest}
        >
          {busy ? t('setup.probing') : t('setup.probe')}
        </Button>
      </div>
      <datalist id="setup-models">
        {report.models.slice(0, 300).map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <ProbeFindings report={report} hasKey={form.apiKey.trim() !== ''} />
      <MoreModels
        models={report.models.filter((model) => model !== form.model.trim())}
        chosen={form.also}
        onChange={(also) => onChange({ also })}
      />
    </>
  )
}
