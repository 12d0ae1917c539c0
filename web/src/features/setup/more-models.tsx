// Other models of a provider to add together with the tested one.
import { useState } from 'react'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { TextField } from '../../ui/controls/field.tsx'

/** The filter finds more. */
const MAX_SHOWN_MODELS = 100
/** With fewer models, there is no filter. */
const MIN_MODELS_TO_FILTER = 10

/** `models` and `chosen` are the provider's model ids; `onChange` receives all chosen ones. */
export function MoreModels({
  models,
  chosen,
  onChange,
}: {
  models: readonly string[]
  chosen: readonly string[]
  onChange: (chosen: string[]) => void
}) {
  const { t } = useTranslation()
  const [filter, setFilter] = useState('')
  if (models.length === 0) return null
  const words = filter.toLowerCase().split(/\s+/)
  const found = models.filter((model) => words.every((word) => model.toLowerCase().includes(word)))
  return (
    <fieldset className="flex min-w-0 flex-col gap-2 rounded-xl border border-line bg-surface p-4">
      <legend className="px-1 text-sm font-medium text-soft">
        {t('setup.more', { count: chosen.length })}
      </legend>
      {models.length >= MIN_MODELS_TO_FILTER && (
        <TextField
          label={t('setup.filter')}
          type="search"
          value={filter}
          onChange={(event) => setFilter(event.target.value)}
        />
      )}
      {found.length === 0 && (
        <p role="status" className="px-1 py-1 text-sm text-muted">
          {t('search.nothing')}
        </p>
      )}
      <ul className="max-h-60 overflow-y-auto">
        {found.slice(0, MAX_SHOWN_MODELS).map((model) => (
          <li key={model}>
            <label className="touch-target flex items-center gap-2.5 rounded-md px-1 py-1 text-sm hover:bg-hover/60">
              <input
                type="checkbox"
                className="size-4 accent-accent"
                checked={chosen.includes(model)}
                onChange={({ target }) =>
                  onChange(
                    target.checked ? [...chosen, model] : chosen.filter((one) => one !== model),
                  )
                }
              />
              <span className="min-w-0 truncate font-mono text-note">{model}</span>
            </label>
          </li>
        ))}
      </ul>
    </fieldset>
  )
}
