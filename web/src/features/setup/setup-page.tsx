// The set-up in steps: language, provider with its key, models, a first question. The address says which step is shown.
import { ArrowLeft, ArrowRight, Check, ShieldAlert } from 'lucide-react'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Link, useLocation, useSearch } from 'wouter'
import type { User } from '../../../../server/protocol/accounts/user.ts'
import { useModels, useProbe, useStoreModel } from '../../lib/api/catalog.ts'
import { paths } from '../../lib/paths.ts'
import { Button, linkButtonClass } from '../../ui/button.tsx'
import { errorText } from '../../ui/error-text.ts'
import { Empty, Loading, Spinner } from '../../ui/feedback.tsx'
import { notify } from '../../ui/toasts.ts'
import { LanguageStep } from './language-step.tsx'
import { ModelsStep } from './models-step.tsx'
import { ProbeFindings } from './probe-findings.tsx'
import { ProviderStep } from './provider-step.tsx'
import {
  modelsOf,
  readForm,
  type SetupForm,
  type SetupStep,
  STEPS,
  writeForm,
} from './setup-form.ts'
import { StepList } from './step-list.tsx'
import { TryStep } from './try-step.tsx'

export function SetupPage({
  user,
}: {
  /** Undefined until the user is known. */
  user: User | undefined
}) {
  const { t } = useTranslation()
  const { data: models } = useModels()
  if (user === undefined || models === undefined) return <Loading />
  if (user.role !== 'admin')
    return (
      <Empty icon={ShieldAlert} title={t('setup.adminOnly')} text={t('setup.adminOnlyText')}>
        <Link href={paths.home} className={linkButtonClass}>
          {t('errors.home')}
        </Link>
      </Empty>
    )
  return <Setup isFirst={models.every(({ demo }) => demo)} />
}

function Setup({
  isFirst,
}: {
  /** There is no model yet: the language is asked first. */
  isFirst: boolean
}) {
  const { t } = useTranslation()
  const [, navigate] = useLocation()
  const search = useSearch()
  const [begins] = useState<SetupStep>(isFirst ? 'language' : 'provider')
  const [form, setForm] = useState(readForm)
  const probe = useProbe()
  const store = useStoreModel()
  const report = probe.data?.reachable === true ? probe.data : null
  const named = STEPS.find((one) => one === new URLSearchParams(search).get('step')) ?? begins
  // After a reload nothing is tested, and the key is not kept: what was entered is there, and is tested again.
  const isLost = (named === 'models' && report === null) || (named === 'try' && !form.added.length)
  const step = isLost ? 'provider' : named
  const heading = useRef<HTMLHeadingElement>(null)
  const last = useRef(step)
  useEffect(() => {
    if (last.current !== step) heading.current?.focus()
    last.current = step
  }, [step])

  const go = (to: SetupStep): void => navigate(`${paths.setup}?step=${to}`)
  const change = (part: Partial<SetupForm>): void => {
    const next = { ...form, ...part }
    setForm(next)
    writeForm(next)
    store.reset()
    if (part.apiUrl !== undefined || part.api !== undefined || part.apiKey !== undefined)
      probe.reset()
  }
  const test = (model: string): void =>
    probe.mutate(
      {
        api_url: form.apiUrl.trim(),
        ...(form.api === '' ? {} : { api: form.api }),
        ...(form.apiKey.trim() === '' ? {} : { api_key: form.apiKey.trim() }),
        ...(model === '' ? {} : { upstream_model: model }),
      },
      {
        onSuccess(found) {
          if (!found.reachable) return
          const first = found.suggested.upstream_model ?? found.models[0] ?? ''
          if (model === '') change({ model: first })
          go('models')
        },
      },
    )
  const save = async (): Promise<void> => {
    if (report === null) return
    const added: string[] = []
    try {
      for (const settings of modelsOf(form, report)) {
        await store.mutateAsync(settings)
        added.push(settings.id)
      }
    } catch {
      return // shown with the form
    }
    notify(t('setup.stored', { name: added.join(', ') }), 'success')
    change({ added, apiKey: '', also: [] })
    go('try')
  }
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (step === 'language') go('provider')
    else if (step === 'provider') test('')
    else if (step === 'models') void save()
  }
  const before = step === 'try' ? undefined : STEPS[STEPS.indexOf(step) - 1]
  const problem = probe.error ?? store.error
  return (
    <div className="mx-auto flex w-full max-w-xl flex-col gap-6 px-5 py-8">
      <StepList current={step} />
      <header>
        <h1
          ref={heading}
          tabIndex={-1}
          className="font-display text-3xl tracking-tight outline-none"
        >
          {t(`setup.steps.${step}.title`)}
        </h1>
        <p className="mt-2 text-soft">{t(`setup.steps.${step}.text`)}</p>
      </header>
      <form className="flex flex-col gap-4" onSubmit={submit}>
        {step === 'language' && <LanguageStep label={t('settings.language')} />}
        {step === 'provider' && <ProviderStep form={form} onChange={change} />}
        {step === 'models' && report !== null && (
          <ModelsStep
            form={form}
            report={report}
            busy={probe.isPending}
            onChange={change}
            onTest={() => test(form.model.trim())}
          />
        )}
        {step === 'try' && <TryStep models={form.added} />}
        {step !== 'try' && problem !== null && (
          <p role="alert" className="rounded-lg bg-bad-soft px-3 py-2 text-sm text-bad">
            {errorText(problem)}
          </p>
        )}
        {step === 'provider' && probe.data !== undefined && report === null && (
          <ProbeFindings report={probe.data} />
        )}
        {step !== 'try' && (
          <div className="flex flex-wrap items-center gap-2">
            {before !== undefined && (
              <Button icon={ArrowLeft} onClick={() => go(before)}>
                {t('common.back')}
              </Button>
            )}
            <span className="flex-1" />
            <Button tone="quiet" onClick={() => navigate(paths.home)}>
              {t('setup.later')}
            </Button>
            <Button
              type="submit"
              tone="primary"
              icon={step === 'models' ? Check : ArrowRight}
              disabled={
                probe.isPending ||
                store.isPending ||
                (step === 'provider' && form.apiUrl.trim() === '') ||
                (step === 'models' && form.model.trim() === '')
              }
            >
              {step === 'language'
                ? t('setup.next')
                : step === 'provider'
                  ? t(probe.isPending ? 'setup.probing' : 'setup.probeNext')
                  : t('setup.store', { count: form.also.length + 1 })}
            </Button>
          </div>
        )}
        {probe.isPending && (
          <p role="status" className="flex items-center gap-2 text-sm text-muted">
            <Spinner /> {t('setup.probingText')}
          </p>
        )}
      </form>
    </div>
  )
}
