// The controls of an approval card: the buttons, and the choice of how long to remember an approval.
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { Button } from '../../../ui/controls/button.tsx'
import { Switch } from '../../../ui/controls/switch.tsx'

/** `ask` offers the decision, `reject` asks for a reason, `change` for other arguments. */
export type DecisionMode = 'ask' | 'reject' | 'change'

/** What an approval covers: this call, the same call for the rest of the run, or for the whole conversation. */
export type Remember = 'no' | 'run' | 'conversation'

/** The buttons of an approval card. `mode` is the current form; `busy` disables them while the decision is sent. */
export function DecisionButtons({
  mode,
  busy,
  invalid,
  onMode,
  onBack,
  onDecide,
}: {
  mode: DecisionMode
  busy: boolean
  /** Whether the changed arguments are invalid and cannot be sent. */
  invalid: boolean
  onMode: (mode: DecisionMode) => void
  onBack: () => void
  onDecide: (decision: 'approve' | 'reject') => void
}) {
  const { t } = useTranslation()
  return (
    <footer className="flex flex-wrap items-center justify-end gap-2 border-t border-line px-4 py-2.5">
      {mode === 'ask' && (
        <>
          <Button tone="quiet" className="me-auto" disabled={busy} onClick={() => onMode('change')}>
            {t('approval.change')}
          </Button>
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
}: {
  value: Remember
  onChange: (value: Remember) => void
}) {
  const { t } = useTranslation()
  return (
    <div className="flex flex-col gap-2.5">
      <Switch
        label={t('approval.rememberRun')}
        checked={value !== 'no'}
        onChange={(on) => onChange(on ? 'run' : 'no')}
      />
      {value !== 'no' && (
        <Switch
          label={t('approval.rememberConversation')}
          checked={value === 'conversation'}
          onChange={(on) => onChange(on ? 'conversation' : 'run')}
        />
      )}
    </div>
  )
}
