// The plan of an answer as a checklist, which the person can change while the answer is written.
import {
  ChevronRight,
  Circle,
  CircleCheck,
  CircleDot,
  CircleSlash,
  ListTodo,
  Pencil,
} from 'lucide-react'
import { useId, useState } from 'react'
import type { Plan, PlanItem } from '../../../../../server/protocol/runs/plan.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { Button } from '../../../ui/controls/button.tsx'
import { lazyPart } from '../../../ui/states/late.tsx'
import { PartBoundary } from '../../../ui/states/part-boundary.tsx'

const PlanForm = lazyPart(() => import('./plan-form.tsx').then((module) => module.PlanForm))

const ICONS = { open: Circle, doing: CircleDot, done: CircleCheck, dropped: CircleSlash } as const
const TONES = {
  open: 'text-muted',
  doing: 'text-accent',
  done: 'text-ok',
  dropped: 'text-muted',
} as const

/** Open while the answer is written, folded afterwards. Renders nothing without a plan. */
export function PlanChecklist({ plan, runId }: { plan: Plan | null; runId: string | null }) {
  const { t } = useTranslation()
  const [chosen, setChosen] = useState<boolean | null>(null)
  const [isEditing, setEditing] = useState(false)
  const id = useId()
  if (plan === null || plan.items.length === 0) return null
  const isOpen = chosen ?? runId !== null
  const counted = plan.items.filter(({ state }) => state !== 'dropped')
  const done = counted.filter(({ state }) => state === 'done').length
  return (
    <section
      aria-label={t('plan.title')}
      data-plan
      className="rounded-xl border border-line bg-surface px-3 py-1 text-sm"
    >
      <button
        type="button"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setChosen(!isOpen)}
        className="flex min-h-8 w-full items-center gap-2 text-start pointer-coarse:min-h-11"
      >
        <ListTodo size={15} aria-hidden className="shrink-0 text-muted" />
        <span className="font-medium">{t('plan.title')}</span>
        <span className="min-w-0 flex-1 text-note text-muted tabular-nums">
          {t('plan.progress', { done, count: counted.length })}
        </span>
        <ChevronRight
          size={14}
          aria-hidden
          className={classNames('shrink-0 text-muted transition-transform', isOpen && 'rotate-90')}
        />
      </button>
      {isOpen && (
        <div id={id} className="pb-2">
          {isEditing && runId !== null ? (
            <PartBoundary fallback={null}>
              <PlanForm runId={runId} items={plan.items} onClose={() => setEditing(false)} />
            </PartBoundary>
          ) : (
            <>
              <ol className="flex flex-col gap-1.5 py-1">
                {plan.items.map((item) => (
                  <Row key={item.id} item={item} />
                ))}
              </ol>
              {plan.edited_by !== null && (
                <p className="text-note text-muted">
                  {t('plan.editedBy', { name: plan.edited_by.name })}
                </p>
              )}
              {runId !== null && (
                <div className="-ms-2">
                  <Button size="small" tone="quiet" icon={Pencil} onClick={() => setEditing(true)}>
                    {t('plan.edit')}
                  </Button>
                </div>
              )}
            </>
          )}
        </div>
      )}
    </section>
  )
}

function Row({ item: { text, state } }: { item: PlanItem }) {
  const { t } = useTranslation()
  const Icon = ICONS[state]
  return (
    <li className="flex items-start gap-2">
      <Icon size={15} aria-hidden className={classNames('mt-0.5 shrink-0', TONES[state])} />
      <span className="sr-only">{t(`plan.${state}`)}:</span>
      <span
        className={classNames(
          'min-w-0 [overflow-wrap:anywhere]',
          state === 'dropped' && 'text-muted line-through',
          state === 'done' && 'text-muted',
          state === 'doing' && 'font-medium',
        )}
      >
        {text}
      </span>
    </li>
  )
}
