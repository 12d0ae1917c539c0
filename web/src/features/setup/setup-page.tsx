// Adds a model provider: choose one, test it with a few small requests, store it with its key.
import { Check, Plug, ShieldAlert } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Link, useLocation } from 'wouter'
import type { ModelApi, ModelSettings, ProbeReport } from '../../../../server/protocol/catalog.ts'
import type { User } from '../../../../server/protocol/user.ts'
import { type Preset, usePresets, useProbe, useStoreModel } from '../../lib/api/catalog.ts'
import { paths } from '../../lib/paths.ts'
import { Button, linkButtonClass } from '../../ui/button.tsx'
import { classNames } from '../../ui/class-names.ts'
import { errorText } from '../../ui/error-text.ts'
import { Empty, Loading, Spinner } from '../../ui/feedback.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { notify } from '../../ui/toasts.ts'
import { MoreModels } from './more-models.tsx'
import { apiNames, ProbeFindings } from './probe-findings.tsx'

type Form = { apiUrl: string; api: ModelApi | ''; apiKey: string; model: string; name: string }

const apis: readonly ModelApi[] = ['chat', 'responses', 'messages']

const idOf = (model: string): string => model.trim().replace(/\s+/g, '-').slice(0, 200)

/** What the probe found, merged with what the person entered. */
const settingsOf = (form: Form, report: ProbeReport): ModelSettings => {
  const suggested = Object.fromEntries(
    Object.entries(report.suggested).filter(([, value]) => value !== undefined),
  )
  return {
    ...suggested,
    id: idOf(form.model),
    name: form.name.trim() === '' ? form.model.trim() : form.name.trim(),
    api_url: report.suggested.api_url ?? form.apiUrl.trim(),
    upstream_model: form.model.trim(),
    ...(form.apiKey.trim() === '' ? {} : { api_key: form.apiKey.trim() }),
  }
}

/** Another model of the same provider. What it can do is not tested; the server knows it of many models. */
const untested = ({ api_url, api, api_key }: ModelSettings, model: string): ModelSettings => ({
  id: idOf(model),
  name: model,
  upstream_model: model,
  api_url,
  ...(api === undefined ? {} : { api }),
  ...(api_key === undefined ? {} : { api_key }),
})

export function SetupPage({
  user,
}: {
  /** Undefined until the user is known. */
  user: User | undefined
}) {
  const { t } = useTranslation()
  if (user === undefined) return <Loading />
  if (user.role !== 'admin')
    return (
      <Empty icon={ShieldAlert} title={t('setup.adminOnly')} text={t('setup.adminOnlyText')}>
        <Link href={paths.home} className={linkButtonClass}>
          {t('errors.home')}
        </Link>
      </Empty>
    )
  return <AddModel />
}

function AddModel() {
  const { t } = useTranslation()
  const [, navigate] = useLocation()
  const { data: presets } = usePresets()
  const probe = useProbe()
  const store = useStoreModel()
  const [form, setForm] = useState<Form>({ apiUrl: '', api: '', apiKey: '', model: '', name: '' })
  /** Further models of the provider to add with the one that was tested. */
  const [also, setAlso] = useState<readonly string[]>([])
  const change = (part: Partial<Form>): void => {
    setForm((old) => ({ ...old, ...part }))
    probe.reset()
    store.reset()
    setAlso([])
  }
  const keyUrl = presets?.find(({ api_url: url }) => url === form.apiUrl)?.key_url ?? null
  const choose = (preset: Preset): void =>
    change({ apiUrl: preset.api_url, api: '', model: '', name: '' })

  const tryIt = (): void => {
    const model = form.model.trim()
    probe.mutate(
      {
        api_url: form.apiUrl.trim(),
        ...(form.api === '' ? {} : { api: form.api }),
        ...(form.apiKey.trim() === '' ? {} : { api_key: form.apiKey.trim() }),
        ...(model === '' ? {} : { upstream_model: model }),
      },
      {
        onSuccess: (report) => {
          const found = report.suggested.upstream_model ?? report.models[0]
          if (model === '' && found !== undefined) setForm((old) => ({ ...old, model: found }))
        },
      },
    )
  }
  const save = async (report: ProbeReport): Promise<void> => {
    const tested = settingsOf(form, report)
    try {
      await store.mutateAsync(tested)
      for (const model of also)
        if (model !== form.model.trim()) await store.mutateAsync(untested(tested, model))
    } catch {
      return // shown with the form
    }
    notify(t('setup.stored', { name: tested.name }), 'success')
    navigate(paths.home)
  }

  const problem = probe.error ?? store.error
  return (
    <div className="mx-auto flex w-full max-w-xl flex-col gap-6 px-5 py-8">
      <header>
        <h1 className="font-display text-3xl tracking-tight">{t('setup.title')}</h1>
        <p className="mt-2 text-soft">{t('setup.text')}</p>
      </header>
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
                  <span className="ml-1.5 text-xs text-ok">{t('setup.detected')}</span>
                )}
              </button>
            ))}
          </div>
        </fieldset>
      )}
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          tryIt()
        }}
      >
        <TextField
          label={t('setup.url')}
          hint={t('setup.urlHint')}
          type="url"
          required
          placeholder="https://…/v1"
          value={form.apiUrl}
          onChange={(event) => change({ apiUrl: event.target.value })}
        />
        <SelectField
          label={t('setup.api')}
          hint={t('setup.apiHint')}
          value={form.api}
          options={[
            { value: '', label: t('setup.apiDetect') },
            ...apis.map((api) => ({ value: api, label: apiNames[api] })),
          ]}
          onChange={(event) =>
            change({ api: apis.find((api) => api === event.target.value) ?? '' })
          }
        />
        <TextField
          label={t('setup.key')}
          hint={
            keyUrl === null ? (
              t('setup.keyHint')
            ) : (
              <>
                {t('setup.keyHint')}{' '}
                <a
                  href={keyUrl}
                  target="_blank"
                  rel="noopener noreferrer"
                  className="text-accent underline underline-offset-3"
                >
                  {t('setup.getKey')}
                </a>
              </>
            )
          }
          type="password"
          autoComplete="off"
          value={form.apiKey}
          onChange={(event) => change({ apiKey: event.target.value })}
        />
        <TextField
          label={t('setup.model')}
          hint={t('setup.modelHint')}
          list="setup-models"
          value={form.model}
          onChange={(event) => {
            setForm((old) => ({ ...old, model: event.target.value }))
            store.reset()
          }}
        />
        <datalist id="setup-models">
          {probe.data?.models.slice(0, 300).map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        {problem !== null && (
          <p role="alert" className="rounded-lg bg-bad-soft px-3 py-2 text-sm text-bad">
            {errorText(problem)}
          </p>
        )}
        {probe.data !== undefined && <ProbeFindings report={probe.data} />}
        {probe.data?.reachable === true && (
          <MoreModels
            models={probe.data.models.filter((model) => model !== form.model.trim())}
            chosen={also}
            onChange={setAlso}
          />
        )}
        <div className="flex flex-wrap justify-end gap-2">
          <Button tone="quiet" onClick={() => navigate(paths.home)}>
            {t('setup.later')}
          </Button>
          <Button type="submit" icon={Plug} disabled={probe.isPending || form.apiUrl === ''}>
            {probe.isPending ? t('setup.probing') : t('setup.probe')}
          </Button>
          {probe.data?.reachable === true && (
            <Button
              tone="primary"
              icon={Check}
              disabled={store.isPending || form.model.trim() === ''}
              onClick={() => probe.data !== undefined && void save(probe.data)}
            >
              {t('setup.store')}
            </Button>
          )}
        </div>
        {probe.isPending && (
          <p role="status" className="flex items-center gap-2 text-sm text-muted">
            <Spinner /> {t('setup.probingText')}
          </p>
        )}
      </form>
    </div>
  )
}
