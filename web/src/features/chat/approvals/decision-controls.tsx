// The controls of an approval card: the buttons, and the choice of how long to remember an approval.
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { Button } from '../../../ui/controls/button.tsx'
import { Switch } from '../../../ui/controls/switch.tsx'
import { Loading } from '../../../ui/states/feedback.tsx'
import { lazyPart } from '../../../ui/states/late.tsx'
import { PartBoundary } from '../../../ui/states/part-boundary.tsx'
import type { ChosenGrant } from './grant-choice.tsx'

const GrantChoice = lazyPart(() =>
  import('./grant-choice.tsx').then((module) => module.GrantChoice),
)

/** `ask` offers the decision, `reject` asks for a reason, `change` for other arguments. */
export type DecisionMode = 'ask' | 'reject' | 'change'

/** What an approval covers: this call, calls like it, or those of its tool for the rest of the run or the whole conversation. */
export type Remember = 'no' | 'grant' | 'run' | 'conversation'

/** The buttons of an approval card. `mode` is the current form; `busy` disables them while the decision is sent. */
export function DecisionButtons({
  mode,
  busy,
  invalid,
  mayChange,
  onMode,
  onBack,
  onDecide,
}: {
  mode: DecisionMode
  busy: boolean
  /** Whether the changed arguments are invalid and cannot be sent. */
  invalid: boolean
  /** Whether other arguments can be approved. */
  mayChange: boolean
  onMode: (mode: DecisionMode) => void
  onBack: () => void
  onDecide: (decision: 'approve' | 'reject') => void
}) {
  const { t } = useTranslation()
  return (
    <footer className="flex flex-wrap items-center justify-end gap-2 border-t border-line px-4 py-2">
      {mode === 'ask' && (
        <>
          {mayChange && (
            <Button
              tone="quiet"
              className="-ms-3.5 me-auto"
              disabled={busy}
              onClick={() => onMode('change')}
            >
              {t('approval.change')}
            </Button>
          )}
          <Button disabled={busy} onClick={() => onMode('reject')}>
            {t('approval.reject')}
          </Button>
        </>
      )}
      {mode !== 'ask' && (
        <Button tone="quiet" disabled={busy} onClick={onBack}>
          {t('common.back')}
        </Button>
      )}
      {mode === 'reject' ? (
        <Button tone="danger" disabled={busy} onClick={() => onDecide('reject')}>
          {t('approval.reject')}
        </Button>
      ) : (
        <Button tone="primary" disabled={busy || invalid} onClick={() => onDecide('approve')}>
          {mode === 'change' ? t('approval.approveChanged') : t('approval.approve')}
        </Button>
      )}
    </footer>
  )
}

/** The choice of what an approval covers. */
export function RememberChoice({
  value,
  onChange,
  approvalId,
  onGrant,
}: {
  value: Remember
  onChange: (value: Remember) => void
  /** The request whose call a rule can be made for; null if its arguments are being changed. */
  approvalId: string | null
  /** Receives the rule with `grant`; null while there is none. */
  onGrant: (grant: ChosenGrant | null) => void
}) {
  const { t } = useTranslation()
  const isForTool = value === 'run' || value === 'conversation'
  return (
    <div className="flex flex-col gap-1.5 pointer-coarse:gap-2.5">
      {approvalId !== null && (
        <Switch
          label={t('approval.rememberLike')}
          checked={value === 'grant'}
          onChange={(on) => onChange(on ? 'grant' : 'no')}
        />
      )}
      {approvalId !== null && value === 'grant' && (
        <PartBoundary fallback={<Loading />}>
          <GrantChoice approvalId={approvalId} onChange={onGrant} />
        </PartBoundary>
      )}
      <Switch
        label={t('approval.rememberRun')}
        checked={isForTool}
        onChange={(on) => onChange(on ? 'run' : 'no')}
      />
      {isForTool && (
        <Switch
          label={t('approval.rememberConversation')}
          checked={value === 'conversation'}
          onChange={(on) => onChange(on ? 'conversation' : 'run')}
        />
      )}
    </div>
  )
}
