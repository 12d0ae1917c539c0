// The card of an approval request: a preview of the tool call, and buttons to approve, reject or change it.
import { ChevronDown, ShieldAlert } from 'lucide-react'
import { type Ref, useCallback, useEffect, useId, useRef, useState } from 'react'
import type { PendingApproval } from '../../../../../server/protocol/runs/run-event.ts'
import { visibleText } from '../../../../../server/protocol/runs/visible-text.ts'
import { decide } from '../../../lib/api/runs.ts'
import { approvalQuestion, questionSays } from '../../../lib/approval-question.ts'
import { isComposing } from '../../../lib/browser/composing.ts'
import { ApiError } from '../../../lib/http/api-client.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { parseJson } from '../../../lib/read-json.ts'
import { Button, IconButton } from '../../../ui/controls/button.tsx'
import { TextField } from '../../../ui/controls/field.tsx'
import { reportError } from '../../../ui/states/error-text.ts'
import { useShownCard } from '../shown-cards.ts'
import { prettyVisible, summarize } from '../steps/tool-content.ts'
import { ApprovalPreview } from './approval-preview.tsx'
import { ArgumentFields, JsonField } from './argument-fields.tsx'
import { CopyLink } from './copy-link.tsx'
import {
  DecisionButtons,
  type DecisionMode,
  type Remember,
  RememberChoice,
} from './decision-controls.tsx'
import type { ChosenGrant } from './grant-choice.tsx'
import { simpleArguments } from './simple-arguments.ts'
import { focusNext, useEscape, useFocusOnArrival, useFocusOnLeaving } from './use-card-focus.ts'

type ApprovalCardProps = {
  runId: string
  approval: PendingApproval
  /** Its position among several requests; null for the only one. */
  place?: { number: number; total: number } | null
  /** Another request comes first: shows only the heading until the user opens the card. */
  folded?: boolean
  /** Whether the card takes the focus when it appears. */
  takesFocus?: boolean
  /** Whether the user decides for somebody else, who alone can change the arguments and allow more than this call. */
  isForOther?: boolean
  onDecided?: () => void
}

/** Calls `onDecided` once a decision is stored, here or elsewhere. */
export function ApprovalCard({
  runId,
  approval,
  place = null,
  folded = false,
  takesFocus = true,
  isForOther = false,
  onDecided,
}: ApprovalCardProps) {
  const [mode, setMode] = useState<DecisionMode>('ask')
  const [reason, setReason] = useState('')
  const [changed, setChanged] = useState(() => prettyVisible(approval.arguments))
  /** Whether a field has a value that cannot be sent; `changed` is then the last one that could. */
  const [isBad, setBad] = useState(false)
  const [remember, setRemember] = useState<Remember>('no')
  const [grant, setGrant] = useState<ChosenGrant | null>(null)
  const [busy, setBusy] = useState(false)
  const [unfolded, setUnfolded] = useState(false)
  const open = unfolded || !folded
  const card = useRef<HTMLElement>(null)
  const changedField = useRef<HTMLTextAreaElement>(null)
  const titleId = useId()
  const invalid =
    (mode === 'change' && (isBad || parseJson(changed) === undefined)) ||
    (mode === 'ask' && remember === 'grant' && grant === null)

  useFocusOnArrival(card, folded || !takesFocus)

  /** Focuses the card again: with the focus on the body, the next Escape would stop the run. */
  const backToCard = useCallback((): void => {
    setMode('ask')
    // The fields begin again with the last values that could be sent.
    setBad(false)
    card.current?.focus({ preventScroll: true })
  }, [])

  useEffect(() => {
    if (mode === 'change') changedField.current?.focus()
    if (mode === 'reject' && isTouched()) card.current?.focus({ preventScroll: true })
  }, [mode])
  useEscape(mode !== 'ask', backToCard)
  const deciding = useFocusOnLeaving(card)
  useShownCard(card)

  const leave = (): void => {
    focusNext(card.current)
    deciding.current = false
    onDecided?.()
  }

  const sendDecision = async (decision: 'approve' | 'reject'): Promise<void> => {
    if ((invalid && decision === 'approve') || busy) return
    setBusy(true)
    deciding.current = true
    try {
      await decide(runId, {
        id_ref: approval.id_ref,
        decision,
        call_hash: approval.call_hash,
        ...(decision === 'reject' && reason.trim() !== '' ? { reason: reason.trim() } : {}),
        ...(decision === 'approve' && mode === 'change' ? { arguments: changed } : {}),
        ...(decision === 'approve' ? remembered(mode, remember, grant) : {}),
      })
      leave()
    } catch (error) {
      reportError(error)
      if (isDecided(error)) leave()
      else {
        deciding.current = false
        setBusy(false)
      }
    }
  }

  /** Handles a shortcut of the card. Returns whether the key was one. */
  const onKey = (key: string): boolean => {
    if (!open || mode !== 'ask' || busy) return false
    if (key === 'a') void sendDecision('approve')
    else if (key === 'r') setMode('reject')
    else if (key === 'e' && !isForOther) setMode('change')
    else return false
    return true
  }

  return (
    <section
      ref={card}
      // Landmarks need different names, and a list of what waits may ask the same thing twice.
      {...(takesFocus ? {} : { role: 'group' })}
      tabIndex={-1}
      data-approval
      aria-labelledby={titleId}
      className="overflow-hidden rounded-2xl border border-warn/45 bg-surface shadow-low outline-offset-3"
      onKeyDown={(event) => {
        if (event.target !== card.current) return
        if (event.metaKey || event.ctrlKey || event.altKey) return
        // Otherwise the key would be typed into the field that it opens.
        if (onKey(event.key)) event.preventDefault()
      }}
    >
      <CardHeader
        titleId={titleId}
        approval={approval}
        place={place}
        onUnfold={open ? null : () => setUnfolded(true)}
      />
      {open && (
        <>
          <div className="flex flex-col gap-2.5 px-4 py-3">
            <ApprovalPreview approval={approval} isChanging={mode === 'change'} />
            {mode === 'change' && (
              <ChangedArguments
                ref={changedField}
                changed={changed}
                invalid={invalid}
                onChange={(json) => {
                  setBad(json === null)
                  if (json !== null) setChanged(json)
                }}
              />
            )}
            {mode === 'reject' && (
              <ReasonField
                value={reason}
                onChange={setReason}
                onEnter={() => void sendDecision('reject')}
              />
            )}
            {mode !== 'reject' && !isForOther && (
              <RememberChoice
                value={remember}
                onChange={setRemember}
                approvalId={mode === 'ask' ? approval.approval_id : null}
                onGrant={setGrant}
              />
            )}
          </div>
          <DecisionButtons
            mode={mode}
            busy={busy}
            invalid={invalid}
            mayChange={!isForOther}
            onMode={setMode}
            onBack={backToCard}
            onDecide={(decision) => void sendDecision(decision)}
          />
        </>
      )}
    </section>
  )
}

/** Whether a finger points: a reason may be left out, and the keyboard for it would cover the button that rejects. */
const isTouched = (): boolean => matchMedia('(pointer: coarse)').matches

/** Whether the request no longer waits, or is another one now. */
const isDecided = (error: unknown): boolean =>
  error instanceof ApiError && error.status === 409 && error.reason !== 'grant_allows_rejected'

/** What the approval covers besides its call. A rule is made for the call as it was asked about. */
function remembered(mode: DecisionMode, remember: Remember, grant: ChosenGrant | null) {
  if (remember === 'no') return {}
  if (remember !== 'grant') return { remember }
  return mode === 'ask' && grant !== null ? { remember, grant } : {}
}

/** A form where that shows all of the arguments, otherwise JSON. `onChange` receives null while a field is invalid. */
function ChangedArguments({
  ref,
  changed,
  invalid,
  onChange,
}: {
  ref: Ref<HTMLTextAreaElement>
  changed: string
  invalid: boolean
  onChange: (json: string | null) => void
}) {
  const { t } = useTranslation()
  const [fields, setFields] = useState(() => simpleArguments(changed))
  if (fields === null)
    return <JsonField ref={ref} value={changed} invalid={invalid} onChange={onChange} />
  return (
    <>
      <ArgumentFields fields={fields} onChange={onChange} />
      <Button
        tone="quiet"
        size="small"
        className="-ms-2.5 self-start"
        onClick={() => {
          onChange(changed)
          setFields(null)
        }}
      >
        {t('approval.asJson')}
      </Button>
    </>
  )
}

function ReasonField({
  value,
  onChange,
  onEnter,
}: {
  value: string
  onChange: (value: string) => void
  onEnter: () => void
}) {
  const { t } = useTranslation()
  return (
    <TextField
      autoFocus={!isTouched()}
      label={t('approval.reason')}
      value={value}
      maxLength={2_000}
      placeholder={t('approval.reasonHint')}
      onChange={(event) => onChange(event.target.value)}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && !isComposing(event.nativeEvent)) onEnter()
      }}
    />
  )
}

/** `onUnfold` is null for an open card. */
function CardHeader({
  titleId,
  approval,
  place,
  onUnfold,
}: {
  titleId: string
  approval: PendingApproval
  place: { number: number; total: number } | null
  onUnfold: (() => void) | null
}) {
  const { t } = useTranslation()
  const question = approvalQuestion(approval, t)
  const detail = visibleText(summarize(approval.arguments))
  return (
    <header className="flex items-center gap-2.5 border-b border-line bg-warn-soft px-4 py-1.5 min-h-10">
      <ShieldAlert size={17} aria-hidden className="shrink-0 text-warn" />
      <h2 id={titleId} className="min-w-0 flex-1 text-sm font-semibold [overflow-wrap:anywhere]">
        {question}
        {place !== null && (
          <span className="ms-2 text-xs font-normal whitespace-nowrap text-soft tabular-nums">
            {t('approval.place', place)}
          </span>
        )}
        {onUnfold !== null && !questionSays(approval, detail) && (
          <span className="block truncate font-mono text-xs font-normal text-soft">{detail}</span>
        )}
      </h2>
      <span className="rounded-full border border-warn/40 px-2 py-0.5 text-xs font-medium text-warn">
        {t(`approval.risk.${approval.risk_level}`)}
      </span>
      {onUnfold === null && <CopyLink approvalId={approval.approval_id} />}
      {onUnfold !== null && (
        <IconButton
          icon={ChevronDown}
          size="small"
          label={t('approval.unfold')}
          aria-expanded={false}
          onClick={onUnfold}
        />
      )}
    </header>
  )
}
