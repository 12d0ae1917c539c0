// "Don't ask again for calls like this": the narrowest rule that covers a call, in words, with what it would have allowed so far.
import { useEffect, useState } from 'react'
import type { z } from 'zod'
import type { Approval } from '../../../../../server/protocol/runs/approval.ts'
import type { DecidedGrant, Grant, GrantMatch } from '../../../../../server/protocol/runs/grant.ts'
import { useApproval } from '../../../lib/api/approvals.ts'
import { useGrantPreview } from '../../../lib/api/grants.ts'
import { ruleLines } from '../../../lib/grant-rule.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { Segmented } from '../../../ui/controls/segmented.tsx'
import { Switch } from '../../../ui/controls/switch.tsx'
import { errorText } from '../../../ui/states/error-text.ts'
import { Loading } from '../../../ui/states/feedback.tsx'
import { summarize } from '../steps/tool-content.ts'

/** The rule that an approval also stores. */
export type ChosenGrant = z.input<typeof DecidedGrant>

type GrantChoiceProps = {
  approvalId: string
  /** Receives null while there is no rule that can be stored. */
  onChange: (grant: ChosenGrant | null) => void
}

/** Suggests a rule for the call of an approval request, and lets the person widen it. */
export function GrantChoice({ approvalId, onChange }: GrantChoiceProps) {
  const request = useApproval(approvalId)
  if (request.isError) return <Refused error={request.error} />
  return request.data === undefined ? (
    <Loading />
  ) : (
    <RuleChoice request={request.data} onChange={onChange} />
  )
}

/** The schedule whose run asks; null if none does. */
const scheduleOf = ({ origin: { type, id } }: Approval): string | null =>
  type === 'schedule' || type === 'hook' ? (id ?? null) : null

/** Arguments that are never widened: every command is another one. */
const KEPT = new Set(['command'])

function RuleChoice({
  request,
  onChange,
}: {
  request: Approval
  onChange: GrantChoiceProps['onChange']
}) {
  const { t } = useTranslation()
  const { conversation_id, project_id, name = '', tainted } = request
  const scheduleId = scheduleOf(request)
  // The narrowest one: what a person sends in the conversation of a schedule still asks.
  const [scope, setScope] = useState<Grant['scope']>(
    scheduleId === null ? 'conversation' : 'schedule',
  )
  const [widened, setWidened] = useState<readonly string[]>([])
  const [anyway, setAnyway] = useState(false)
  const [expiresAt, setExpiresAt] = useState<string | null>(null)
  const [maxUses, setMaxUses] = useState<number | null>(null)
  const rule = {
    scope,
    scope_id:
      { conversation: conversation_id, project: project_id, schedule: scheduleId }[scope] ?? '',
    tool: name,
    even_tainted: tainted,
    approval_id: request.id,
  }
  const suggestion = useGrantPreview(rule)
  const suggested = suggestion.data?.suggested
  const match = suggested === undefined ? undefined : widen(suggested, widened)
  const isWide = widened.length > 0
  const wide = useGrantPreview(isWide && match !== undefined ? { ...rule, match } : null)
  const { data: preview, error } = isWide ? wide : suggestion
  const rejected = preview?.would_allow.rejected ?? 0
  const isReady = match !== undefined && preview !== undefined && (rejected === 0 || anyway)
  const chosen = isReady
    ? JSON.stringify({
        scope,
        match,
        even_tainted: tainted,
        expires_at: expiresAt,
        max_uses: maxUses,
        ...(rejected > 0 ? { anyway } : {}),
      })
    : null
  useEffect(() => {
    // Written above.
    const grant: ChosenGrant | null = chosen === null ? null : JSON.parse(chosen)
    onChange(grant)
  }, [chosen, onChange])

  if (suggested === undefined || match === undefined)
    return error !== null ? (
      <Refused error={error} />
    ) : suggestion.isPending ? (
      <Loading />
    ) : (
      <p className="text-note text-muted">{t('grants.noSuggestion')}</p>
    )
  const toggle = (argument: string, on: boolean): void =>
    setWidened((before) => before.filter((one) => one !== argument).concat(on ? [argument] : []))
  return (
    <div className="flex flex-col gap-3 rounded-xl border border-line bg-paper px-3.5 py-3">
      <Rule match={match} />
      {Object.keys(suggested)
        .filter((argument) => !KEPT.has(argument))
        .map((argument) => (
          <Switch
            key={argument}
            label={t('grants.widen', {
              argument: ruleLines({ [argument]: { any: true } }, t)[0]?.label ?? argument,
            })}
            checked={widened.includes(argument)}
            onChange={(on) => toggle(argument, on)}
          />
        ))}
      {(project_id !== null || scheduleId !== null) && (
        <Segmented
          label={t('grants.where')}
          value={scope}
          options={[
            ...(scheduleId === null
              ? []
              : [{ value: 'schedule' as const, label: t('grants.inSchedule') }]),
            { value: 'conversation', label: t('grants.inConversation') },
            ...(project_id === null
              ? []
              : [{ value: 'project' as const, label: t('grants.inProject') }]),
          ]}
          onChange={setScope}
        />
      )}
      <Bounds onExpiry={setExpiresAt} onMaxUses={setMaxUses} />
      {error !== null && <Refused error={error} />}
      {preview !== undefined && (
        <p className="text-note text-muted">
          {t('grants.wouldAllow', { count: preview.would_allow.approved })}
        </p>
      )}
      {rejected > 0 && (
        <div className="flex flex-col gap-2 rounded-lg bg-warn-soft px-3 py-2">
          <p className="text-note text-warn">
            {t('grants.wouldAllowRejected', { count: rejected })}
          </p>
          <ul className="flex flex-col gap-0.5">
            {preview?.samples
              .filter(({ state }) => state === 'rejected')
              .slice(0, 3)
              .map((sample) => (
                <li key={sample.approval_id} className="truncate font-mono text-xs text-soft">
                  {summarize(JSON.stringify(sample.arguments))}
                </li>
              ))}
          </ul>
          <Switch label={t('grants.anyway')} checked={anyway} onChange={setAnyway} />
        </div>
      )}
    </div>
  )
}

const DAY_MS = 86_400_000
/** Days of a rule by choice; null: it does not end. */
const DURATIONS = { none: null, day: 1, month: 30 } as const
/** Uses of a rule by choice; null: any number. */
const USES = { any: null, once: 1, ten: 10 } as const

/** How long and how often the rule holds. */
function Bounds({
  onExpiry,
  onMaxUses,
}: {
  onExpiry: (at: string | null) => void
  onMaxUses: (uses: number | null) => void
}) {
  const { t } = useTranslation()
  const [duration, setDuration] = useState<keyof typeof DURATIONS>('none')
  const [uses, setUses] = useState<keyof typeof USES>('any')
  return (
    <div className="flex flex-wrap gap-x-4 gap-y-2">
      <Segmented
        label={t('grants.howLong')}
        value={duration}
        options={[
          { value: 'none', label: t('grants.noEnd') },
          { value: 'day', label: t('grants.oneDay') },
          { value: 'month', label: t('grants.thirtyDays') },
        ]}
        onChange={(next) => {
          const days = DURATIONS[next]
          setDuration(next)
          onExpiry(days === null ? null : new Date(Date.now() + days * DAY_MS).toISOString())
        }}
      />
      <Segmented
        label={t('grants.howOften')}
        value={uses}
        options={[
          { value: 'any', label: t('grants.anyTimes') },
          { value: 'once', label: t('grants.once') },
          { value: 'ten', label: t('grants.tenTimes') },
        ]}
        onChange={(next) => {
          setUses(next)
          onMaxUses(USES[next])
        }}
      />
    </div>
  )
}

const widen = (match: GrantMatch, widened: readonly string[]): GrantMatch =>
  Object.fromEntries(
    Object.entries(match).map(([name, pattern]) => [
      name,
      widened.includes(name) ? { any: true as const } : pattern,
    ]),
  )

/** What calls are allowed, argument by argument. */
function Rule({ match }: { match: GrantMatch }) {
  const { t } = useTranslation()
  const lines = ruleLines(match, t)
  return (
    <div className="flex flex-col gap-1.5">
      <p className="text-sm font-medium">{t('grants.rule')}</p>
      {lines.length === 0 && <p className="text-note text-soft">{t('grants.noArguments')}</p>}
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-1 text-note empty:hidden">
        {lines.map(({ name, label, text }) => (
          <div key={name} className="contents">
            <dt className="text-muted">{label}</dt>
            <dd className="[overflow-wrap:anywhere] text-soft">{text}</dd>
          </div>
        ))}
      </dl>
    </div>
  )
}

function Refused({ error }: { error: Error }) {
  return (
    <p role="alert" className="text-note text-bad">
      {errorText(error)}
    </p>
  )
}
