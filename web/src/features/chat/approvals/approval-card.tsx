// The card of an approval request: a preview of the tool call, and buttons to approve, reject or change it.
import { ChevronDown, ShieldAlert } from 'lucide-react'
import { type Ref, useCallback, useEffect, useId, useRef, useState } from 'react'
import type { PendingApproval } from '../../../../../server/protocol/runs/run-event.ts'
import { visibleText } from '../../../../../server/protocol/runs/visible-text.ts'
import { decide } from '../../../lib/api/runs.ts'
import { approvalQuestion } from '../../../lib/approval-question.ts'
import { isComposing } from '../../../lib/browser/composing.ts'
import { ApiError } from '../../../lib/http/api-client.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { parseJson } from '../../../lib/read-json.ts'
import { Button, IconButton } from '../../../ui/controls/button.tsx'
import { TextField } from '../../../ui/controls/field.tsx'
import { reportError } from '../../../ui/states/error-text.ts'
import { prettyVisible, summarize } from '../steps/tool-content.ts'
import { ApprovalPreview } from './approval-preview.tsx'
import { ArgumentFields, JsonField } from './argument-fields.tsx'
import {
  DecisionButtons,
  type DecisionMode,
  type Remember,
  RememberChoice,
} from './decision-controls.tsx'
import { simpleArguments } from './simple-arguments.ts'
import { focusNext, useEscape, useFocusOnArrival, useFocusOnLeaving } from './use-card-focus.ts'

type ApprovalCardProps = {
  runId: string
  approval: PendingApproval
  /** Its position among several requests; null for the only one. */
  place?: { number: number; total: number } | null
  /** Another request comes first: shows only the heading until the user opens the card. */
  folded?: boolean
  onDecided?: () => void
}

/** Calls `onDecided` once a decision is stored, here or elsewhere. */
export function ApprovalCard({
  runId,
  approval,
  place = null,
  folded = false,
  onDecided,
}: ApprovalCardProps) {
  const [mode, setMode] = useState<DecisionMode>('ask')
  const [reason, setReason] = useState('')
  const [changed, setChanged] = useState(() => prettyVisible(approval.arguments))
  /** Whether a field has a value that cannot be sent; `changed` is then the last one that could. */
  const [isBad, setBad] = useState(false)
  const [remember, setRemember] = useState<Remember>('no')
  const [busy, setBusy] = useState(false)
  const [unfolded, setUnfolded] = useState(false)
  const open = unfolded || !folded
  const card = useRef<HTMLElement>(null)
  const changedField = useRef<HTMLTextAreaElement>(null)
  const titleId = useId()
  const invalid = mode === 'change' && (isBad || parseJson(changed) === undefined)

  useFocusOnArrival(card, folded)

  /** Focuses the card again: with the focus on the body, the next Escape would stop the run. */
  const backToCard = useCallback((): void => {
    setMode('ask')
    // The fields begin again with the last values that could be sent.
    setBad(false)
    card.current?.focus({ preventScroll: true })
  }, [])

  useEffect(() => {
    if (mode === 'change') changedField.current?.focus()
  }, [mode])
  useEscape(mode !== 'ask', backToCard)
  const deciding = useFocusOnLeaving(card)

  const leave = (): void => {
    focusNext(card.current)
    deciding.current = false
    onDecided?.()
  }

  const sendDecision = async (decision: 'approve' | 'reject'): Promise<void> => {
    if (invalid || busy) return
    setBusy(true)
    deciding.current = true
    try {
      await decide(runId, {
        id_ref: approval.id_ref,
        decision,
        ...(decision === 'reject' && reason.trim() !== '' ? { reason: reason.trim() } : {}),
        ...(decision === 'approve' && mode === 'change' ? { arguments: changed } : {}),
        ...(decision === 'approve' && remember !== 'no' ? { remember } : {}),
      })
      leave()
    } catch (error) {
      reportError(error)
      if (error instanceof ApiError && error.status === 409) leave()
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
    else if (key === 'e') setMode('change')
    else return false
    return true
  }

  return (
    <section
      ref={card}
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
          <div className="flex flex-col gap-3 px-4 py-3.5">
            <ApprovalPreview approval={approval} />
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
            {mode !== 'reject' && <RememberChoice value={remember} onChange={setRemember} />}
          </div>
          <DecisionButtons
            mode={mode}
            busy={busy}
            invalid={invalid}
            onMode={setMode}
            onBack={backToCard}
            onDecide={(decision) => void sendDecision(decision)}
          />
        </>
      )}
    </section>
  )
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
        className="self-start"
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
      autoFocus
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
  return (
    <header className="flex items-center gap-2.5 border-b border-line bg-warn-soft px-4 py-2.5">
      <ShieldAlert size={17} aria-hidden className="shrink-0 text-warn" />
      <h2 id={titleId} className="min-w-0 flex-1 text-sm font-semibold [overflow-wrap:anywhere]">
        {approvalQuestion(approval, t)}
        {place !== null && (
          <span className="ms-2 text-xs font-normal whitespace-nowrap text-soft tabular-nums">
            {t('approval.place', place)}
          </span>
        )}
        {onUnfold !== null && (
          <span className="block truncate font-mono text-xs font-normal text-soft">
            {visibleText(summarize(approval.arguments))}
          </span>
        )}
      </h2>
      <span className="rounded-full border border-warn/40 px-2 py-0.5 text-xs font-medium text-warn">
        {t(`approval.risk.${approval.risk_level}`)}
      </span>
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
