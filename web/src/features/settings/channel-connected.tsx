// A channel that has just been connected: whether it works, where people write to it, and who may.
import { ExternalLink } from 'lucide-react'
import { useEffect } from 'react'
import { fromHost } from '../../lib/base-path.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { ShownOnce } from '../../ui/shown-once.tsx'
import { type CreatedChannel, useChannels, useTestChannel } from './api/channels.ts'
import { kindOf } from './channel-fields.ts'
import { ChannelPeople } from './channel-people.tsx'
import { ReceivingState } from './channel-state.tsx'
import { ChannelTestResult } from './channel-test-result.tsx'

/** `channel` still has the token that is shown only once. */
export function ConnectedChannel({ channel }: { channel: CreatedChannel }) {
  const { t } = useTranslation()
  const { data: channels = [] } = useChannels()
  const kind = kindOf(channel.type)
  const current = channels.find(({ id }) => id === channel.id) ?? channel
  const isBot = kind === 'telegram' || kind === 'slack'
  return (
    <div className="flex flex-col gap-4">
      <ReceivingState channel={current} />
      {isBot && <Bot channel={channel} />}
      {kind === 'bridge' && channel.token !== undefined && (
        <>
          <ShownOnce label={t('channels.token')} value={channel.token} />
          <p className="text-note text-muted">{t('channels.tokenHint')}</p>
          <ShownOnce
            label={t('channels.incoming')}
            value={incomingUrl(channel.id)}
            isFocused={false}
          />
        </>
      )}
      {channel.address !== null && (
        <ShownOnce label={t('channels.writeTo')} value={channel.address} />
      )}
      <ChannelPeople channel={channel} />
    </div>
  )
}

/** Where a program hands over messages, at the address under which the page is open. */
const incomingUrl = (id: string): string =>
  location.origin + fromHost(`/api/channels/${id}/incoming`)

/** Who the bot is, as its service says, and a link to write to it. */
function Bot({ channel }: { channel: CreatedChannel }) {
  const { t } = useTranslation()
  const test = useTestChannel()
  const { mutate } = test
  useEffect(() => mutate(channel.id), [mutate, channel.id])
  const bot = test.data?.bot ?? null
  return (
    <div>
      <ChannelTestResult kind={kindOf(channel.type)} test={test} />
      {channel.type === 'telegram' && bot !== null && (
        <a
          href={`https://t.me/${encodeURIComponent(bot.replace(/^@/, ''))}`}
          target="_blank"
          rel="noopener noreferrer"
          className="touch-target mt-2 inline-flex items-center gap-1.5 text-sm font-medium text-accent underline underline-offset-2"
        >
          <ExternalLink size={14} aria-hidden />
          {t('channels.writeBot', { bot })}
        </a>
      )}
    </div>
  )
}
