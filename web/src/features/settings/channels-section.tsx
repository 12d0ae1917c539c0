// Channels to which the agent can send messages and from which people write to it: list, create, change, remove. Secrets are never shown again.
import { KeyRound, Pencil, Plus, Send, Trash2, Users } from 'lucide-react'
import { useState } from 'react'
import type { User } from '../../../../server/protocol/accounts/user.ts'
import { useRefusalText } from '../../lib/http/refusal-text.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { Button, IconButton } from '../../ui/controls/button.tsx'
import { moveFocusOnRemoval } from '../../ui/controls/move-focus-on-removal.ts'
import { Facts } from '../../ui/facts.tsx'
import { ConfirmDialog } from '../../ui/overlays/dialog.tsx'
import { notify } from '../../ui/overlays/toasts.ts'
import { errorText, reportError } from '../../ui/states/error-text.ts'
import { Empty, Failed, Loading } from '../../ui/states/feedback.tsx'
import { type Channel, useChannels, useDeleteChannel, useTestChannel } from './api/channels.ts'
import { ChannelDialog } from './channel-dialog.tsx'
import { kindOf } from './channel-fields.ts'
import { PairDialog, PeopleDialog } from './channel-people.tsx'
import { ReceivingState } from './channel-state.tsx'
import { useTestText } from './channel-test-result.tsx'
import { Section } from './section.tsx'

/** A tab of the settings, together with the webhooks. */
export function ChannelsSection({ user, multi }: { user: User | undefined; multi: boolean }) {
  const { t } = useTranslation()
  const canShare = multi && user?.role === 'admin'
  const channels = useChannels()
  const remove = useDeleteChannel()
  const [toDelete, setToDelete] = useState<Channel | null>(null)
  const [isAdding, setIsAdding] = useState(false)
  const [isPairing, setIsPairing] = useState(false)
  const [toEdit, setToEdit] = useState<Channel | null>(null)
  const [withPeople, setWithPeople] = useState<Channel | null>(null)
  return (
    <>
      <Section
        title={t('channels.title')}
        text={t('channels.text')}
        action={
          <Button size="small" icon={Plus} onClick={() => setIsAdding(true)}>
            {t('channels.add')}
          </Button>
        }
      >
        {channels.isPending && <Loading />}
        {channels.isError && (
          <Failed message={errorText(channels.error)} onRetry={() => void channels.refetch()} />
        )}
        {channels.data?.length === 0 && <Empty icon={Send} title={t('channels.none')} />}
        <ul ref={moveFocusOnRemoval} className="-my-2 divide-y divide-line empty:hidden">
          {channels.data?.map((channel) => (
            <ChannelRow
              key={channel.id}
              channel={channel}
              onEdit={() => setToEdit(channel)}
              onPeople={() => setWithPeople(channel)}
              onRemove={() => setToDelete(channel)}
            />
          ))}
        </ul>
        {/* With accounts, somebody else may have made a channel for everybody. */}
        {(multi || channels.data?.some(({ receive }) => receive !== null)) && (
          <Button size="small" icon={KeyRound} className="mt-3" onClick={() => setIsPairing(true)}>
            {t('channels.people.pair')}
          </Button>
        )}
      </Section>
      {isPairing && <PairDialog onClose={() => setIsPairing(false)} />}
      {withPeople !== null && (
        <PeopleDialog channel={withPeople} onClose={() => setWithPeople(null)} />
      )}
      {isAdding && <ChannelDialog canShare={canShare} onClose={() => setIsAdding(false)} />}
      {toEdit !== null && (
        <ChannelDialog canShare={canShare} channel={toEdit} onClose={() => setToEdit(null)} />
      )}
      <ConfirmDialog
        open={toDelete !== null}
        onOpenChange={() => setToDelete(null)}
        title={t('channels.removeTitle')}
        text={t('channels.removeText')}
        confirm={t('channels.remove', { name: toDelete?.name ?? '' })}
        onConfirm={() => toDelete !== null && remove.mutate(toDelete.id)}
      />
    </>
  )
}

function ChannelRow({
  channel,
  onEdit,
  onPeople,
  onRemove,
}: {
  channel: Channel
  onEdit: () => void
  onPeople: () => void
  onRemove: () => void
}) {
  const { t } = useTranslation()
  const test = useTestChannel()
  const testText = useTestText()
  const { name, type, receive } = channel
  const kind = kindOf(type)
  return (
    <li className="flex items-center gap-3 py-3 max-sm:flex-wrap">
      <div className="min-w-0 flex-1 max-sm:basis-full">
        <p className="truncate font-medium">{name}</p>
        <p className="truncate text-note text-muted">
          <Facts
            of={[
              kind === undefined ? type : t(`channels.kinds.${kind}`),
              ...visibleSettings(channel.settings),
            ]}
          />
        </p>
        {receive !== null && <ReceivingState channel={channel} />}
        {channel.address !== null && (
          <p className="text-note wrap-anywhere text-muted">{channel.address}</p>
        )}
        {channel.last_delivery !== null && <Delivery delivery={channel.last_delivery} />}
      </div>
      <Button
        size="small"
        disabled={test.isPending}
        onClick={() =>
          test.mutate(channel.id, {
            onSuccess: (outcome) =>
              notify(testText(kind, outcome), outcome.ok ? 'success' : 'error'),
            onError: reportError,
          })
        }
      >
        {t('channels.test')}
      </Button>
      {receive !== null && (
        <IconButton
          icon={Users}
          label={t('channels.people.of', { name })}
          size="small"
          onClick={onPeople}
        />
      )}
      {kind !== undefined && (
        <IconButton
          icon={Pencil}
          label={t('channels.edit', { name })}
          size="small"
          onClick={onEdit}
        />
      )}
      <IconButton
        icon={Trash2}
        label={t('channels.remove', { name })}
        size="small"
        onClick={onRemove}
      />
    </li>
  )
}

/** The settings that are texts; others are not shown. */
const visibleSettings = (settings: Channel['settings']): string[] =>
  Object.values(settings)
    .flat()
    .filter((value) => typeof value === 'string')

function Delivery({ delivery }: { delivery: NonNullable<Channel['last_delivery']> }) {
  const { t } = useTranslation()
  const refusalText = useRefusalText()
  const failed = delivery.status === 'failed'
  return (
    <p className={`text-note ${failed ? 'text-bad' : 'text-muted'}`}>
      {t(`channels.delivery.${delivery.status}`)}
      {failed &&
        delivery.error !== null &&
        `: ${refusalText({ ...delivery, message: delivery.error })}`}
    </p>
  )
}
