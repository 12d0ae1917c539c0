// The lesser settings of a schedule: where it works, what its runs may use, what is checked, and who is told.
import { Plus, X } from 'lucide-react'
import { useState } from 'react'
import { ApprovalMode } from '../../../../server/protocol/conversations/conversation.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { atPlaces } from '../../lib/list-keys.ts'
import { Button, IconButton } from '../../ui/controls/button.tsx'
import { SelectField, TextField } from '../../ui/controls/field.tsx'
import { ProjectField } from '../../ui/controls/project-field.tsx'
import { type Schedule, useChannelNames } from './api/schedules.ts'

/** The fields of a schedule that this part of the form changes. */
export type Details = Pick<Schedule, 'project_id' | 'approval' | 'notify' | 'limits' | 'checks'>

/** The details of a schedule; those of a new one without it. */
export const detailsOf = (schedule: Schedule | undefined): Details => ({
  project_id: schedule?.project_id ?? null,
  approval: schedule?.approval ?? null,
  notify: schedule?.notify ?? null,
  limits: schedule?.limits ?? {},
  checks: schedule?.checks ?? [],
})

/** Folded until a person opens it. */
export function ScheduleDetails({
  value,
  onChange,
}: {
  value: Details
  onChange(value: Details): void
}) {
  const { t } = useTranslation()
  const mode = ApprovalMode.options.find((one) => one === value.approval)
  const limit = (name: 'minutes' | 'cost', text: string): void => {
    const { [name]: _old, ...others } = value.limits
    const number = Number(text)
    onChange({ ...value, limits: text === '' ? others : { ...others, [name]: number } })
  }
  return (
    <details className="group">
      <summary className="touch-target w-fit cursor-pointer text-sm font-medium text-soft">
        {t('schedules.more')}
      </summary>
      <div className="mt-3 flex flex-col gap-4">
        <div className="grid gap-4 sm:grid-cols-2">
          <ProjectField
            label={t('schedules.project')}
            field="project_id"
            value={value.project_id}
            onChange={(project_id) => onChange({ ...value, project_id })}
          />
          <NotifyField value={value.notify} onChange={(notify) => onChange({ ...value, notify })} />
          <SelectField
            label={t('schedules.approval')}
            field="approval"
            value={mode ?? ''}
            options={[
              { value: '', label: t('schedules.approvalDefault') },
              ...ApprovalMode.options.map((one) => ({
                value: one,
                label: t(`approval.mode.${one}`),
              })),
            ]}
            onChange={({ target }) =>
              onChange({
                ...value,
                approval: ApprovalMode.options.find((one) => one === target.value) ?? null,
              })
            }
          />
          <TextField
            label={t('schedules.minutes')}
            field="limits"
            type="number"
            min={1}
            max={1_440}
            value={value.limits.minutes ?? ''}
            onChange={({ target }) => limit('minutes', target.value)}
          />
          <TextField
            label={t('schedules.cost')}
            type="number"
            min={0}
            step="any"
            value={value.limits.cost ?? ''}
            onChange={({ target }) => limit('cost', target.value)}
          />
        </div>
        <Checks value={value.checks} onChange={(checks) => onChange({ ...value, checks })} />
      </div>
    </details>
  )
}

const SEVERAL = 'several'

function NotifyField({
  value,
  onChange,
}: {
  value: Details['notify']
  onChange(value: Details['notify']): void
}) {
  const { t } = useTranslation()
  const { data: channels = [] } = useChannelNames()
  const known = channels.map((name) => `channel:${name}`)
  // What was chosen elsewhere stays until a person chooses here.
  const others = (value ?? []).filter((one) => one !== 'push' && !known.includes(one))
  const [kept] = useState(value)
  const chosen =
    value === null ? 'ask' : value.length === 0 ? 'nobody' : value.length === 1 ? value[0] : SEVERAL
  return (
    <SelectField
      label={t('schedules.notify')}
      field="notify"
      value={chosen}
      options={[
        { value: 'ask', label: t('schedules.byPreferences') },
        { value: 'push', label: t('schedules.byPush') },
        ...[...known, ...(value?.length === 1 ? others : [])].map((one) => ({
          value: one,
          label: one.slice('channel:'.length),
        })),
        ...(kept !== null && kept.length > 1 ? [{ value: SEVERAL, label: kept.join(', ') }] : []),
        { value: 'nobody', label: t('schedules.byNobody') },
      ]}
      onChange={({ target: { value: one } }) =>
        onChange(one === 'ask' ? null : one === 'nobody' ? [] : one === SEVERAL ? kept : [one])
      }
    />
  )
}

type Check = Details['checks'][number]
const KINDS = ['checkChanged', 'checkAnswer', 'checkTool'] as const
type Kind = (typeof KINDS)[number]
const isKind = (value: string): value is Kind => KINDS.some((kind) => kind === value)
const MAX_CHECKS = 10

const checkOf = (kind: Kind, text: string): Check =>
  kind === 'checkChanged'
    ? { file: text, is: 'changed' }
    : kind === 'checkAnswer'
      ? { answer: 'contains', value: text }
      : { tool: text, is: 'succeeded' }

/** A check as the form shows it; null for one that only a request can make. */
export function shownCheck(check: Check): { kind: Kind; text: string } | null {
  if ('is' in check && 'file' in check && check.is === 'changed')
    return { kind: 'checkChanged', text: check.file }
  if ('answer' in check && check.answer === 'contains')
    return { kind: 'checkAnswer', text: check.value }
  if ('tool' in check && check.is === 'succeeded' && check.at_least === undefined)
    return { kind: 'checkTool', text: check.tool }
  return null
}

function Checks({ value, onChange }: { value: Check[]; onChange(value: Check[]): void }) {
  const { t } = useTranslation()
  const replace = (place: number, check: Check | null): void =>
    onChange(value.flatMap((one, at) => (at !== place ? [one] : check === null ? [] : [check])))
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="text-sm font-medium text-soft">{t('schedules.checks')}</legend>
      <p className="text-note text-muted">{t('schedules.checksHint')}</p>
      {/* A check has no name, and its text changes with each key. */}
      {atPlaces(value).map(({ place, item: check }) => {
        const shown = shownCheck(check)
        return (
          <div key={place} className="flex items-end gap-2">
            {shown === null ? (
              <code className="min-w-0 flex-1 font-mono text-code wrap-anywhere">
                {JSON.stringify(check)}
              </code>
            ) : (
              <div className="grid min-w-0 flex-1 gap-2 sm:grid-cols-2">
                <SelectField
                  label={t('schedules.checkKind')}
                  value={shown.kind}
                  options={KINDS.map((kind) => ({ value: kind, label: t(`schedules.${kind}`) }))}
                  onChange={({ target }) =>
                    isKind(target.value) && replace(place, checkOf(target.value, shown.text))
                  }
                />
                <TextField
                  label={t('schedules.checkValue')}
                  required
                  maxLength={500}
                  value={shown.text}
                  onChange={({ target }) => replace(place, checkOf(shown.kind, target.value))}
                />
              </div>
            )}
            <IconButton
              icon={X}
              label={t('schedules.removeCheck')}
              onClick={() => replace(place, null)}
            />
          </div>
        )
      })}
      {value.length < MAX_CHECKS && (
        <Button
          size="small"
          icon={Plus}
          className="self-start"
          onClick={() => onChange([...value, checkOf('checkChanged', '')])}
        >
          {t('schedules.addCheck')}
        </Button>
      )}
    </fieldset>
  )
}
