// The buttons of the composer: send, queue (while a run is active), and stop.
import { ArrowUp, Square } from 'lucide-react'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { useDisplay } from '../../../lib/preferences/display.ts'
import { Tip } from '../../../ui/overlays/tip.tsx'

/** With `empty`, there is nothing to send, so only stop is offered while a run is active. `sending`: a send is pending. */
export function SendButtons({
  running,
  empty,
  sending,
  onStop,
}: {
  running: boolean
  empty: boolean
  sending: boolean
  onStop: () => void
}) {
  const { t } = useTranslation()
  const sendKey = useDisplay((display) => display.sendKey)
  return (
    <>
      {running && (
        <Tip text={t('composer.stopHint')} side="top">
          <button
            type="button"
            aria-label={t('composer.stop')}
            className="ms-1 grid size-9 shrink-0 place-items-center rounded-full bg-ink text-paper hover:opacity-85"
            onClick={onStop}
          >
            <Square size={13} fill="currentColor" aria-hidden />
          </button>
        </Tip>
      )}
      {!(running && empty) && (
        <Tip
          text={t(
            sendKey === 'enter'
              ? running
                ? 'composer.queueHint'
                : 'composer.sendHint'
              : running
                ? 'composer.queueHintModifier'
                : 'composer.sendHintModifier',
          )}
          side="top"
        >
          <button
            type="submit"
            aria-label={t(running ? 'composer.queue' : 'composer.send')}
            disabled={empty || sending}
            className="ms-1 grid size-9 shrink-0 place-items-center rounded-full bg-accent text-on-accent transition-[filter,background-color] hover:brightness-110 disabled:bg-hover disabled:text-muted"
          >
            <ArrowUp size={18} aria-hidden />
          </button>
        </Tip>
      )}
    </>
  )
}
