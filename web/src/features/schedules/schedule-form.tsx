// The form of a schedule: what to do, when, and the next five times in words.
import { useState } from 'react'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { SelectField, TextArea, TextField } from '../../ui/controls/field.tsx'
import { Switch } from '../../ui/controls/switch.tsx'
import { FormDialog } from '../../ui/overlays/form-dialog.tsx'
import { ShownOnce } from '../../ui/shown-once.tsx'
import { errorText } from '../../ui/states/error-text.ts'
import { type Schedule, useChangeSchedule, useCreateSchedule, usePreview } from './api/schedules.ts'
import { type Details, detailsOf, ScheduleDetails } from './schedule-details.tsx'
import {
  INTERVALS,
  intervalInWords,
  RULE_KINDS,
  type Rule,
  type RuleKind,
  ruleOf,
  timeInWords,
  weekdayName,
  whenOf,
} from './schedule-rule.ts'

const WEEKDAYS = [1, 2, 3, 4, 5, 6, 0]
const isRuleKind = (value: string): value is RuleKind => RULE_KINDS.some((kind) => kind === value)

/** Without a schedule, the form makes one. */
export function ScheduleForm({
  schedule,
  onClose,
}: {
  schedule: Schedule | undefined
  onClose(): void
}) {
  const { t } = useTranslation()
  const create = useCreateSchedule()
  const change = useChangeSchedule()
  const [name, setName] = useState(schedule?.name ?? '')
  const [text, setText] = useState(schedule?.text ?? '')
  const [page, setPage] = useState(pageOf(schedule))
  const [quiet, setQuiet] = useState(schedule?.quiet ?? false)
  const [details, setDetails] = useState(() => detailsOf(schedule))
  const [rule, setRule] = useState(() => ruleOf(schedule?.when))
  const when = whenOf(rule)
  const { isPending, error } = schedule === undefined ? create : change
  const hookUrl = create.data?.hook_url ?? change.data?.hook_url

  function submit(): void {
    if (when === null) return
    const mayWatch = 'cron' in when || 'every' in when
    const done = ({ hook_url: url }: Schedule): void => {
      if (url === undefined) onClose()
    }
    const watch = mayWatch && page.trim() !== '' ? { page: page.trim() } : null
    if (schedule === undefined)
      create.mutate({ name, text, quiet, when, watch, ...details }, { onSuccess: done })
    // What the form does not show, or the person left as it was, stays: new times would start an interval again.
    else
      change.mutate(
        {
          id: schedule.id,
          ...(name === schedule.name ? {} : { name }),
          ...(text === schedule.text ? {} : { text }),
          ...(quiet === schedule.quiet ? {} : { quiet }),
          ...changedDetails(details, detailsOf(schedule)),
          ...(isSame(rule, ruleOf(schedule.when)) ? {} : { when: keptExact(when, schedule.when) }),
          ...(page.trim() === pageOf(schedule) && (mayWatch || schedule.watch === null)
            ? {}
            : { watch }),
        },
        { onSuccess: done },
      )
  }

  return (
    <FormDialog
      title={
        schedule === undefined ? t('schedules.add') : t('schedules.edit', { name: schedule.name })
      }
      submit={t('common.save')}
      isReady={name.trim() !== '' && text.trim() !== '' && when !== null}
      isPending={isPending}
      error={error}
      result={hookUrl && <ShownOnce label={t('schedules.hookUrl')} value={hookUrl} />}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextField
        label={t('schedules.name')}
        field="name"
        required
        maxLength={200}
        value={name}
        onChange={({ target }) => setName(target.value)}
      />
      <TextArea
        label={t('schedules.text')}
        field="text"
        required
        maxLength={20_000}
        hint={t('schedules.textHint')}
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <RuleFields rule={rule} onChange={setRule} />
      <NextTimes rule={rule} />
      {when !== null && ('cron' in when || 'every' in when) && (
        <TextField
          label={t('schedules.page')}
          field="watch"
          type="url"
          maxLength={2_000}
          hint={t('schedules.pageHint')}
          value={page}
          onChange={({ target }) => setPage(target.value)}
        />
      )}
      <Switch
        label={t('schedules.quiet')}
        hint={t('schedules.quietHint')}
        checked={quiet}
        onChange={setQuiet}
      />
      <ScheduleDetails value={details} onChange={setDetails} />
    </FormDialog>
  )
}

const pageOf = (schedule: Schedule | undefined): string =>
  schedule?.watch != null && 'page' in schedule.watch ? schedule.watch.page : ''

const isSame = (one: Rule, other: Rule): boolean => JSON.stringify(one) === JSON.stringify(other)

/** Only what a person has changed: the rest may no longer be possible, and stays. */
const changedDetails = (now: Details, before: Details): Partial<Details> => ({
  ...(now.project_id === before.project_id ? {} : { project_id: now.project_id }),
  ...(now.approval === before.approval ? {} : { approval: now.approval }),
  ...(JSON.stringify(now.notify) === JSON.stringify(before.notify) ? {} : { notify: now.notify }),
  ...(JSON.stringify(now.limits) === JSON.stringify(before.limits) ? {} : { limits: now.limits }),
  ...(JSON.stringify(now.checks) === JSON.stringify(before.checks) ? {} : { checks: now.checks }),
})

/** New times, to the minute if the old ones were. */
const keptExact = (
  when: NonNullable<ReturnType<typeof whenOf>>,
  before: Schedule['when'],
): Schedule['when'] =>
  'cron' in when && 'cron' in before && before.exact !== undefined
    ? { ...when, exact: before.exact }
    : when

function RuleFields({ rule, onChange }: { rule: Rule; onChange(rule: Rule): void }) {
  const { t, i18n } = useTranslation()
  const { kind } = rule
  const hasTime = kind === 'daily' || kind === 'weekdays' || kind === 'weekly'
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <SelectField
        label={t('schedules.when')}
        field="when"
        value={kind}
        options={RULE_KINDS.map((value) => ({ value, label: t(`schedules.kind.${value}`) }))}
        onChange={({ target: { value } }) =>
          isRuleKind(value) && onChange({ ...rule, kind: value })
        }
      />
      {kind === 'weekly' && (
        <SelectField
          label={t('schedules.day')}
          value={String(rule.weekday)}
          options={WEEKDAYS.map((day) => ({
            value: String(day),
            label: weekdayName(day, i18n.language),
          }))}
          onChange={({ target }) => onChange({ ...rule, weekday: Number(target.value) })}
        />
      )}
      {hasTime && (
        <TextField
          label={t('schedules.time')}
          type="time"
          required
          hint={rule.zone}
          value={rule.time}
          onChange={({ target }) => onChange({ ...rule, time: target.value })}
        />
      )}
      {kind === 'every' && (
        <SelectField
          label={t('schedules.interval')}
          value={rule.every}
          options={[...new Set([...INTERVALS, rule.every])].map((value) => ({
            value,
            label: intervalInWords(value, i18n.language),
          }))}
          onChange={({ target }) => onChange({ ...rule, every: target.value })}
        />
      )}
      {kind === 'once' && (
        <TextField
          label={t('schedules.time')}
          type="datetime-local"
          required
          value={rule.at}
          onChange={({ target }) => onChange({ ...rule, at: target.value })}
        />
      )}
      {kind === 'cron' && (
        <TextField
          label={t('schedules.cron')}
          required
          maxLength={200}
          placeholder="0 8 * * 1-5"
          hint={rule.zone}
          value={rule.cron}
          onChange={({ target }) => onChange({ ...rule, cron: target.value })}
        />
      )}
    </div>
  )
}

function NextTimes({ rule }: { rule: Rule }) {
  const { t, i18n } = useTranslation()
  const when = whenOf(rule)
  const asked = when !== null && ('cron' in when || 'every' in when) ? when : null
  const { data, error } = usePreview(asked)
  if (rule.kind === 'hook') return <p className="text-note text-muted">{t('schedules.hookText')}</p>
  if (asked === null) return null
  if (error !== null)
    return (
      <p role="alert" className="text-note text-bad">
        {errorText(error)}
      </p>
    )
  if (data === undefined) return null
  if (data.length === 0) return <p className="text-note text-bad">{t('schedules.never')}</p>
  return (
    <div className="text-note text-muted">
      <p>{t('schedules.nextTimes')}</p>
      <ol className="mt-1 flex flex-col gap-0.5">
        {data.map((time) => (
          <li key={time}>
            {timeInWords(time, i18n.language, 'cron' in asked ? asked.tz : undefined)}
          </li>
        ))}
      </ol>
    </div>
  )
}
