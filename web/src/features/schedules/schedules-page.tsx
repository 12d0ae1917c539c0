// The page of schedules: when each runs next, what came of the last time, and what all times cost.
import { CalendarClock, Pencil, Play, Plus, Trash2 } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { Link, useSearch } from 'wouter'
import { readFinding } from '../../../../server/protocol/schedules/check-finding.ts'
import { useSchedule } from '../../lib/api/schedules.ts'
import { isBrowserZone } from '../../lib/browser/zone.ts'
import { fullTime, money } from '../../lib/format.ts'
import { useRefusalText } from '../../lib/http/refusal-text.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { atPlaces } from '../../lib/list-keys.ts'
import { paths } from '../../lib/paths.ts'
import { classNames } from '../../ui/class-names.ts'
import { Button, IconButton } from '../../ui/controls/button.tsx'
import { moveFocusOnRemoval } from '../../ui/controls/move-focus-on-removal.ts'
import { ShowMore } from '../../ui/controls/show-more.tsx'
import { Switch } from '../../ui/controls/switch.tsx'
import { Facts } from '../../ui/facts.tsx'
import { ConfirmDialog } from '../../ui/overlays/dialog.tsx'
import { errorText } from '../../ui/states/error-text.ts'
import { Empty, Failed, Loading } from '../../ui/states/feedback.tsx'
import {
  type Occurrence,
  type Schedule,
  schedulesKey,
  useChangeSchedule,
  useDeleteSchedule,
  useOccurrences,
  useRunSchedule,
  useSchedules,
} from './api/schedules.ts'
import { shownCheck } from './schedule-details.tsx'
import { ScheduleForm } from './schedule-form.tsx'
import { intervalInWords, ruleOf, timeInWords, weekdayName } from './schedule-rule.ts'

/** The page at `/schedules`. */
export function SchedulesPage() {
  const { t } = useTranslation()
  const [edited, setEdited] = useState<Schedule | 'new' | null>(null)
  return (
    <div className="mx-auto flex w-full max-w-3xl flex-col gap-6 px-5 py-8">
      <header className="flex flex-wrap items-end justify-between gap-3">
        <h1 className="font-display text-3xl tracking-tight">{t('schedules.title')}</h1>
        <Button tone="primary" icon={Plus} onClick={() => setEdited('new')}>
          {t('schedules.add')}
        </Button>
      </header>
      <ScheduleList onEdit={setEdited} />
      {edited !== null && (
        <ScheduleForm
          schedule={edited === 'new' ? undefined : edited}
          onClose={() => setEdited(null)}
        />
      )}
    </div>
  )
}

function ScheduleList({ onEdit }: { onEdit(schedule: Schedule): void }) {
  const { t } = useTranslation()
  const list = useSchedules()
  const wanted = new URLSearchParams(useSearch()).get('schedule')
  const { data: one } = useSchedule(wanted ?? undefined)
  const remove = useDeleteSchedule()
  const [doomed, setDoomed] = useState<Schedule | null>(null)
  const listed = list.data?.pages.flatMap((page) => page.items) ?? []
  // It may be on a later page of the list.
  const isApart = one != null && !listed.some(({ id }) => id === one.id)
  const items = isApart ? [one, ...listed] : listed
  if (list.isLoadingError)
    return <Failed message={errorText(list.error)} onRetry={() => void list.refetch()} />
  if (list.isPending) return <Loading />
  if (items.length === 0)
    return <Empty icon={CalendarClock} title={t('schedules.none')} text={t('schedules.noneText')} />
  return (
    <section aria-label={t('schedules.title')}>
      <ul ref={moveFocusOnRemoval} className="flex flex-col gap-4">
        {items.map((item) => (
          <ScheduleCard
            key={item.id}
            schedule={item}
            isWanted={item.id === wanted}
            onEdit={() => onEdit(item)}
            onRemove={() => setDoomed(item)}
          />
        ))}
      </ul>
      <ShowMore list={list} queryKey={[...schedulesKey, 'list']} tone="quiet" />
      <ConfirmDialog
        open={doomed !== null}
        onOpenChange={() => setDoomed(null)}
        title={t('schedules.removeTitle')}
        text={t('schedules.removeText')}
        confirm={t('schedules.remove', { name: doomed?.name ?? '' })}
        onConfirm={() => doomed !== null && remove.mutate(doomed.id)}
      />
    </section>
  )
}

/** Intervals of one: no language counts them. */
const OF_ONE = new Map<string, 'everyDay' | 'everyHour' | 'everyMinute'>([
  ['1d', 'everyDay'],
  ['1h', 'everyHour'],
  ['1m', 'everyMinute'],
])

/** How often a schedule runs, in words. */
function useRuleText(): (schedule: Pick<Schedule, 'when'>) => string {
  const { t, i18n } = useTranslation()
  return ({ when }) => {
    const rule = ruleOf(when)
    const { kind, time, weekday, cron, every } = rule
    if (kind === 'daily' || kind === 'weekdays') return t(`schedules.rule.${kind}`, { time })
    if (kind === 'weekly')
      return t('schedules.rule.weekly', { day: weekdayName(weekday, i18n.language), time })
    if (kind === 'every') {
      const one = OF_ONE.get(every)
      return one === undefined
        ? t('schedules.rule.every', { interval: intervalInWords(every, i18n.language) })
        : t(`schedules.rule.${one}`)
    }
    if (kind === 'cron') return t('schedules.rule.cron', { cron })
    return t(kind === 'hook' ? 'schedules.rule.hook' : 'schedules.rule.once')
  }
}

function ScheduleCard({
  schedule,
  isWanted,
  onEdit,
  onRemove,
}: {
  schedule: Schedule
  /** Whether the address names it: it is in view, with what came of its times. */
  isWanted: boolean
  onEdit(): void
  onRemove(): void
}) {
  const { t, i18n } = useTranslation()
  const ruleText = useRuleText()
  const change = useChangeSchedule()
  const run = useRunSchedule()
  const [isOpen, setIsOpen] = useState(isWanted)
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (!isWanted) return
    setIsOpen(true)
    heading.current?.focus({ preventScroll: true })
    heading.current?.closest('li')?.scrollIntoView({ block: 'center' })
  }, [isWanted])
  const { id, name, text, enabled, next_at: next, last, when } = schedule
  const zone = 'cron' in when ? when.tz : undefined
  return (
    <li
      aria-current={isWanted || undefined}
      className={classNames(
        'flex flex-col gap-2 rounded-xl border bg-surface p-4',
        isWanted ? 'border-accent' : 'border-line',
      )}
    >
      <div className="flex items-center gap-2">
        <h2
          ref={heading}
          tabIndex={isWanted ? -1 : undefined}
          dir="auto"
          className="min-w-0 flex-1 truncate font-medium"
        >
          {name}
        </h2>
        <IconButton
          icon={Play}
          size="small"
          label={t('schedules.runNow', { name })}
          onClick={() => run.mutate(id)}
        />
        <IconButton
          icon={Pencil}
          size="small"
          label={t('schedules.edit', { name })}
          onClick={onEdit}
        />
        <IconButton
          icon={Trash2}
          size="small"
          label={t('schedules.remove', { name })}
          onClick={onRemove}
        />
      </div>
      <p dir="auto" className="line-clamp-2 text-sm text-soft">
        {text}
      </p>
      <p className="text-note text-muted">
        <Facts
          of={[
            ruleText(schedule),
            ...(next !== null
              ? [t('schedules.next', { time: timeInWords(next, i18n.language, zone) })]
              : enabled && !('hook' in when)
                ? [t('schedules.noNext')]
                : []),
            // Elsewhere on the page, times are those of this browser.
            ...(zone !== undefined && !isBrowserZone(zone) ? [zone] : []),
          ]}
        />
      </p>
      {last !== null && <LastOccurrence occurrence={last} />}
      {schedule.disabled_reason !== null && (
        <p className="text-note text-bad">{t(`schedules.off.${schedule.disabled_reason}`)}</p>
      )}
      <div className="flex flex-wrap items-center justify-between gap-3">
        <Switch
          label={t('schedules.enabled')}
          checked={enabled}
          onChange={(value) => change.mutate({ id, enabled: value })}
        />
        <Button size="small" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
          {t('schedules.history')}
        </Button>
      </div>
      {isOpen && <History id={id} />}
    </li>
  )
}

/** The costs of an occurrence in words; empty if it cost nothing. */
const costText = ({ cost }: Occurrence, language: string): string[] =>
  Object.entries(cost ?? {}).map(([currency, amount]) => money(amount, currency, language))

/** The text of a reason that says more than the state does. */
function reasonKey(reason: Occurrence['reason']) {
  switch (reason) {
    case null:
    case 'check_failed':
    case 'run_failed':
    case 'stopped':
      return null
    default:
      return `occurrence.reason.${reason}` as const
  }
}

function LastOccurrence({ occurrence }: { occurrence: Occurrence }) {
  const { t, i18n } = useTranslation()
  const { state, count, due_at: due, conversation_id: conversation } = occurrence
  const { message_id: message } = occurrence
  const why = reasonKey(occurrence.reason)
  const isBad = state === 'failed' || state === 'unmet' || state === 'missed'
  return (
    <p className="flex flex-wrap items-baseline gap-x-2 text-note">
      <span className={isBad ? 'text-bad' : 'text-soft'}>
        {t(`occurrence.state.${state}`)}
        {count > 1 && ` × ${count.toLocaleString(i18n.language)}`}
      </span>
      <span className="text-muted tabular-nums">
        <Facts of={[fullTime(due, i18n.language), ...costText(occurrence, i18n.language)]} />
      </span>
      {conversation !== null && (
        <Link
          href={
            message === null
              ? paths.conversation(conversation)
              : paths.messageIn(conversation, message, [])
          }
          className="touch-target inline-flex items-center text-accent underline-offset-3 hover:underline"
        >
          {t('schedules.open')}
        </Link>
      )}
      {why !== null && <span className="basis-full text-muted">{t(why)}</span>}
    </p>
  )
}

/** What was not as required; of a check that only a request can make, as it was written, and what was found instead. */
function FailedCheck({ of: { check, detail, failure } }: { of: Occurrence['checks'][number] }) {
  const { t } = useTranslation()
  const refusalText = useRefusalText()
  const shown = shownCheck(check)
  const known = readFinding(detail)
  const text = failure === undefined ? detail : refusalText({ ...failure, message: detail })
  const found = known === null ? text : t(`occurrence.found.${known.finding}`, known)
  const facts =
    shown === null
      ? [JSON.stringify(check), found]
      : [t(`schedules.${shown.kind}`), shown.text, ...(failure === undefined ? [] : [found])]
  return (
    <p dir="auto" className="text-note text-bad wrap-anywhere">
      ✗ <Facts of={facts} />
    </p>
  )
}

function History({ id }: { id: string }) {
  const { t } = useTranslation()
  const refusalText = useRefusalText()
  const list = useOccurrences(id)
  const items = list.data?.pages.flatMap((page) => page.items) ?? []
  if (list.isLoadingError)
    return <Failed message={errorText(list.error)} onRetry={() => void list.refetch()} />
  if (list.isPending) return <Loading />
  if (items.length === 0) return <p className="text-note text-muted">{t('schedules.noHistory')}</p>
  return (
    <>
      <ul className="flex flex-col gap-2 border-line border-t pt-3">
        {items.map((item) => (
          <li key={item.id}>
            <LastOccurrence occurrence={item} />
            {atPlaces(item.checks.filter(({ passed }) => !passed)).map(({ place, item: check }) => (
              <FailedCheck key={place} of={check} />
            ))}
            {item.detail !== null && (
              <p dir="auto" className="text-note text-muted wrap-anywhere">
                {item.failure === null
                  ? item.detail
                  : refusalText({ ...item.failure, message: item.detail })}
              </p>
            )}
          </li>
        ))}
      </ul>
      <ShowMore list={list} queryKey={['occurrences', id]} tone="quiet" />
    </>
  )
}
