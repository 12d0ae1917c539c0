// The list of the setup's steps, with the current one marked.
import { Check } from 'lucide-react'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { classNames } from '../../ui/class-names.ts'
import { type SetupStep, STEPS } from './setup-form.ts'

/** Shown above each step. The steps are not links, because each one needs the previous one. */
export function StepList({ current }: { current: SetupStep }) {
  const { t } = useTranslation()
  const at = STEPS.indexOf(current)
  return (
    <ol aria-label={t('setup.progress')} className="flex flex-wrap gap-x-4 gap-y-2 text-note">
      {STEPS.map((step, index) => (
        <li
          key={step}
          aria-current={step === current ? 'step' : undefined}
          className={classNames(
            'flex items-center gap-1.5',
            index === at ? 'font-medium text-ink' : 'text-muted',
          )}
        >
          <span
            aria-hidden
            className={classNames(
              'grid size-5 place-items-center rounded-full text-[0.6875rem] tabular-nums',
              index <= at ? 'bg-accent text-on-accent' : 'bg-hover',
            )}
          >
            {index < at ? <Check size={12} /> : index + 1}
          </span>
          {t(`setup.steps.${step}.name`)}
        </li>
      ))}
    </ol>
  )
}
