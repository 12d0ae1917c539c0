// The setup in steps: language, provider with its key, models, a first question. The URL names the step.
import { ArrowLeft, ArrowRight, Check, ShieldAlert } from 'lucide-react'
import { type FormEvent, useEffect, useRef } from 'react'
import { Link, useLocation } from 'wouter'
import type { User } from '../../../../server/protocol/accounts/user.ts'
import { useModels } from '../../lib/api/catalog.ts'
import { ApiError } from '../../lib/http/api-client.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { paths } from '../../lib/paths.ts'
import { Button, linkButtonClass } from '../../ui/controls/button.tsx'
import { errorText } from '../../ui/states/error-text.ts'
import { Empty, Loading, Spinner } from '../../ui/states/feedback.tsx'
import { LanguageStep } from './language-step.tsx'
import { ModelsStep } from './models-step.tsx'
import { ProbeFindings } from './probe-findings.tsx'
import { type ProviderFault, ProviderStep } from './provider-step.tsx'
import { type SetupStep, STEPS } from './setup-form.ts'
import { StepList } from './step-list.tsx'
import { TryStep } from './try-step.tsx'
import { useSetup } from './use-setup.ts'

/** The page at `/setup`, for administrators, at the first start and later. */
export function SetupPage({
  user,
}: {
  /** Undefined until the profile has loaded. */
  user: User | undefined
}) {
  const { t } = useTranslation()
  const { data: models } = useModels()
  if (user === undefined || models === undefined) return <Loading />
  if (user.role !== 'admin')
    return (
      <Empty icon={ShieldAlert} title={t('setup.adminOnly')} text={t('setup.adminOnlyText')} isPage>
        <Link href={paths.home} className={linkButtonClass}>
          {t('errors.home')}
        </Link>
      </Empty>
    )
  return <Setup />
}

function Setup() {
  const { t } = useTranslation()
  const [, navigate] = useLocation()
  const setup = useSetup()
  const { form, change, exchange, go, probe, report, save, step, store, taken, test } = setup
  const heading = useFocusOnChange(step)
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (step === 'language') go('provider')
    else if (step === 'provider') test('')
    else if (step === 'models') void save()
  }
  const problem = probe.error ?? store.error ?? exchange.error
  const isTaken = store.error instanceof ApiError && store.error.reason === 'model_id_taken'
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
        {step === 'provider' && (
          <ProviderStep form={form} fault={faultIn(probe)} onChange={change} />
        )}
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
          <p
            role="alert"
            className="flex flex-wrap items-center justify-between gap-x-3 gap-y-2 rounded-lg bg-bad-soft px-3 py-2 text-sm text-bad"
          >
            {errorText(problem)}
            {isTaken && taken.length > 0 && (
              <Button
                size="small"
                className="h-auto min-h-8 max-w-full py-1 text-start whitespace-normal"
                disabled={exchange.isPending || store.isPending}
                onClick={() => void save(true)}
              >
                {taken.length === 1
                  ? t('setup.replaceOne', { name: taken[0] ?? '' })
                  : t('setup.replace', { count: taken.length, name: taken[0] ?? '' })}
              </Button>
            )}
          </p>
        )}
        {step === 'provider' && probe.data !== undefined && report === null && (
          <ProbeFindings report={probe.data} hasKey={form.apiKey.trim() !== ''} />
        )}
        {step !== 'try' && <SetupButtons setup={setup} onLater={() => navigate(paths.home)} />}
        {probe.isPending && (
          <p role="status" className="flex items-center gap-2 text-sm text-muted">
            <Spinner /> {t('setup.probingText')}
          </p>
        )}
      </form>
    </div>
  )
}

/** The field to correct after a failed test; null while the test runs and after a successful one. */
function faultIn({ data, isPending }: ReturnType<typeof useSetup>['probe']): ProviderFault | null {
  if (isPending || data === undefined || data.reachable) return null
  return data.error_reason === 'model_unauthorized' ? 'key' : 'address'
}

/** Focuses the heading of a step when it appears, so that screen readers announce it. */
function useFocusOnChange(step: SetupStep) {
  const heading = useRef<HTMLHeadingElement>(null)
  const last = useRef(step)
  useEffect(() => {
    if (last.current !== step) heading.current?.focus()
    last.current = step
  }, [step])
  return heading
}

function SetupButtons({
  setup: { form, go, probe, step, store },
  onLater,
}: {
  setup: ReturnType<typeof useSetup>
  onLater: () => void
}) {
  const { t } = useTranslation()
  const before = STEPS[STEPS.indexOf(step) - 1]
  return (
    <div className="flex flex-wrap items-center gap-2">
      {before !== undefined && (
        <Button icon={ArrowLeft} onClick={() => go(before)}>
          {t('common.back')}
        </Button>
      )}
      <span className="flex-1" />
      <Button tone="quiet" onClick={onLater}>
        {t('setup.later')}
      </Button>
      <Button
        type="submit"
        tone="primary"
        {...(step === 'models' ? { icon: Check } : {})}
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
            : form.also.length === 0
              ? t('setup.storeOne')
              : t('setup.store', { count: form.also.length + 1 })}
        {step !== 'models' && <ArrowRight size={16} aria-hidden className="rtl:-scale-x-100" />}
      </Button>
    </div>
  )
}
