// Whether people can write through a channel now, and why not.
import { useRefusalText } from '../../lib/http/refusal-text.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { Button } from '../../ui/controls/button.tsx'
import { type Channel, useRetryChannel } from './api/channels.ts'

/** A channel that its service refuses can be tried again. */
export function ReceivingState({ channel }: { channel: Channel }) {
  const { t } = useTranslation()
  const refusalText = useRefusalText()
  const retry = useRetryChannel()
  const isBroken = channel.state === 'error' || channel.state === 'conflict'
  return (
    <div className="flex flex-wrap items-center gap-2">
      <p role="status" className={`text-note ${isBroken ? 'text-bad' : 'text-muted'}`}>
        {t(`channels.people.receive.${channel.state}`)}
        {isBroken &&
          channel.error !== null &&
          `: ${refusalText({ reason: channel.reason, params: null, message: channel.error })}`}
      </p>
      {channel.state === 'error' && (
        <Button size="small" disabled={retry.isPending} onClick={() => retry.mutate(channel)}>
          {t('common.retry')}
        </Button>
      )}
    </div>
  )
}
