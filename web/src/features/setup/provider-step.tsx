// The provider step: a known provider or any URL, and the API key. A few small requests test it.
import { ExternalLink } from 'lucide-react'
import { useEffect, useRef } from 'react'
import type { Preset } from '../../lib/api/catalog.ts'
import { usePresets } from '../../lib/api/catalog.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { classNames } from '../../ui/class-names.ts'
import { UrlField } from '../../ui/controls/address-field.tsx'
import { SelectField, TextArea, TextField } from '../../ui/controls/field.tsx'
import { API_NAMES } from './probe-findings.tsx'
import { APIS, type SetupForm } from './setup-form.ts'

/** The field of the provider step to correct after a failed test. */
export type ProviderFault = 'address' | 'key'

/**
 * Edits `form`; `onChange` receives only the changed fields. `fault` is the field that the last test found wrong; it gets
 * the focus.
 */
export function ProviderStep({
  form,
  fault,
  onChange,
}: {
  form: SetupForm
  fault: ProviderFault | null
  onChange: (change: Partial<SetupForm>) => void
}) {
  const { t } = useTranslation()
  const { data: presets } = usePresets()
  const fields = { address: useRef<HTMLInputElement>(null), key: useRef<HTMLInputElement>(null) }
  // biome-ignore lint/correctness/useExhaustiveDependencies: once per test; the refs stay the same
  useEffect(() => {
    if (fault !== null) fields[fault].current?.focus()
  }, [fault])
  const chosen = presets?.find(({ api_url: url }) => url === form.apiUrl)
  const keyUrl = chosen?.key_url ?? null
  const keyVariable = chosen?.key_variable ?? null
  // A key belongs to its provider: it is not sent to another, and is back when its provider is chosen again.
  const keys = useRef(new Map<string, string>())
  const choose = (preset: Preset): void => {
    keys.current.set(form.apiUrl, form.apiKey)
    const apiKey = keys.current.get(preset.api_url) ?? ''
    onChange({ apiUrl: preset.api_url, apiKey, headers: '', api: '', model: '', also: [] })
  }
  return (
    <>
      {presets !== undefined && presets.length > 0 && (
        <fieldset>
          <legend className="mb-2 text-sm font-medium text-soft">{t('setup.provider')}</legend>
          <div className="flex flex-wrap gap-2">
            {presets.map((preset) => (
              <button
                key={preset.id}
                type="button"
                aria-pressed={form.apiUrl === preset.api_url}
                className={classNames(
                  'h-9 rounded-full border px-3.5 text-sm transition-colors',
                  form.apiUrl === preset.api_url
                    ? 'border-accent bg-accent-soft text-accent'
                    : 'border-line-strong bg-surface hover:bg-hover',
                )}
                onClick={() => choose(preset)}
              >
                {preset.name}
                {preset.detected === true && (
                  <span className="ms-1.5 text-xs text-ok">{t('setup.detected')}</span>
                )}
                {preset.key_variable != null && (
                  <span className="ms-1.5 text-xs text-ok">{t('setup.keyThere')}</span>
                )}
              </button>
            ))}
          </div>
        </fieldset>
      )}
      <UrlField
        label={t('setup.url')}
        hint={t('setup.urlHint')}
        ref={fields.address}
        aria-invalid={fault === 'address'}
        required
        placeholder="https://…/v1"
        value={form.apiUrl}
        onChange={(event) => onChange({ apiUrl: event.target.value })}
      />
      <TextField
        label={t('setup.key')}
        hint={
          <>
            {keyVariable === null
              ? t('setup.keyHint')
              : t('setup.keyInVariable', { variable: keyVariable })}
            {keyUrl !== null && (
              <a
                href={keyUrl}
                target="_blank"
                rel="noopener noreferrer"
                className="touch-target ms-1.5 inline-flex items-center gap-1 font-medium text-accent underline underline-offset-3"
              >
                {t('setup.getKey')}
                <ExternalLink size={13} aria-hidden />
              </a>
            )}
          </>
        }
        type="password"
        ref={fields.key}
        aria-invalid={fault === 'key'}
        autoComplete="off"
        value={form.apiKey}
        onChange={(event) => onChange({ apiKey: event.target.value })}
      />
      <SelectField
        label={t('setup.api')}
        hint={t('setup.apiHint')}
        value={form.api}
        options={[
          { value: '', label: t('setup.apiDetect') },
          ...APIS.map((api) => ({ value: api, label: API_NAMES[api] })),
        ]}
        onChange={({ target }) => onChange({ api: APIS.find((api) => api === target.value) ?? '' })}
      />
      <TextArea
        label={t('setup.headers')}
        hint={t('setup.headersHint')}
        rows={2}
        spellCheck={false}
        autoComplete="off"
        placeholder="x-gateway-key: …"
        value={form.headers}
        onChange={({ target }) => onChange({ headers: target.value })}
      />
    </>
  )
}
