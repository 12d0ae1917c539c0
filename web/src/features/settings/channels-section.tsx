// Channels to which the agent can send messages: list, create, remove. Secrets are never shown again.
import { Plus, Send, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { ChannelName } from '../../../../server/protocol/programs/channel.ts'
import { useRefusalText } from '../../lib/http/refusal-text.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { Button, IconButton } from '../../ui/controls/button.tsx'
import { SelectField, TextField } from '../../ui/controls/field.tsx'
import { moveFocusOnRemoval } from '../../ui/controls/move-focus-on-removal.ts'
import { Facts } from '../../ui/facts.tsx'
import { ConfirmDialog } from '../../ui/overlays/dialog.tsx'
import { FormDialog } from '../../ui/overlays/form-dialog.tsx'
import { notify } from '../../ui/overlays/toasts.ts'
import { errorText } from '../../ui/states/error-text.ts'
import { Empty, Failed, Loading } from '../../ui/states/feedback.tsx'
import { type Channel, useChannels, useCreateChannel, useDeleteChannel } from './api/channels.ts'
import { Section } from './section.tsx'

/** The fields of each kind of channel; secret fields are masked. */
const CHANNEL_FIELDS = {
  webhook: [
    { name: 'url', secret: false, required: true },
    { name: 'secret', secret: true, required: false },
  ],
  email: [{ name: 'to', secret: false, required: true }],
  telegram: [
    { name: 'bot_token', secret: true, required: true },
    { name: 'chat_id', secret: false, required: true },
  ],
} as const
type Kind = keyof typeof CHANNEL_FIELDS
const CHANNEL_KINDS: readonly Kind[] = ['webhook', 'email', 'telegram']

/** A tab of the settings, together with the webhooks. */
export function ChannelsSection() {
  const { t } = useTranslation()
  const channels = useChannels()
  const remove = useDeleteChannel()
  const [toDelete, setToDelete] = useState<Channel | null>(null)
  const [isAdding, setIsAdding] = useState(false)
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
            <li key={channel.id} className="flex items-center gap-3 py-3">
              <div className="min-w-0 flex-1">
                <p className="truncate font-medium">{channel.name}</p>
                <p className="truncate text-note text-muted">
                  <Facts
                    of={[
                      t(`channels.kinds.${kindOf(channel)}`),
                      ...visibleSettings(channel.settings),
                    ]}
                  />
                </p>
                {channel.last_delivery !== null && <Delivery delivery={channel.last_delivery} />}
              </div>
              <IconButton
                icon={Trash2}
                label={t('channels.remove', { name: channel.name })}
                size="small"
                onClick={() => setToDelete(channel)}
              />
            </li>
          ))}
        </ul>
      </Section>
      {isAdding && <NewChannel onClose={() => setIsAdding(false)} />}
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

const kindOf = (channel: Channel): Kind =>
  CHANNEL_KINDS.find((name) => name === channel.type) ?? 'webhook'

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

function NewChannel({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation()
  const create = useCreateChannel()
  const [kind, setKind] = useState<Kind>('webhook')
  const [name, setName] = useState('')
  const [settings, setSettings] = useState<Record<string, string>>({})
  const isNamed = ChannelName.safeParse(name).success
  const fields = CHANNEL_FIELDS[kind]
  const filled = Object.fromEntries(
    Object.entries(settings).filter(([, value]) => value.trim() !== ''),
  )
  return (
    <FormDialog
      title={t('channels.add')}
      isReady={isNamed && fields.every((one) => !one.required || one.name in filled)}
      isPending={create.isPending}
      error={create.error}
      onSubmit={() =>
        create.mutate(
          { type: kind, name, settings: filled },
          {
            onSuccess: () => {
              notify(t('channels.added', { name }), 'success')
              onClose()
            },
          },
        )
      }
      onClose={onClose}
    >
      <div className="grid gap-4 sm:grid-cols-2">
        <SelectField
          label={t('channels.kind')}
          value={kind}
          options={CHANNEL_KINDS.map((value) => ({ value, label: t(`channels.kinds.${value}`) }))}
          onChange={(event) => {
            setKind(CHANNEL_KINDS.find((one) => one === event.target.value) ?? 'webhook')
            setSettings({})
          }}
        />
        <TextField
          label={t('channels.name')}
          hint={t('channels.nameHint')}
          error={name === '' || isNamed ? undefined : t('channels.nameHint')}
          required
          maxLength={50}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
      </div>
      {fields.map((field) => (
        <TextField
          key={`${kind}-${field.name}`}
          label={t(`channels.field.${field.name}`)}
          type={field.secret ? 'password' : 'text'}
          autoComplete="off"
          required={field.required}
          value={settings[field.name] ?? ''}
          onChange={(event) => setSettings((old) => ({ ...old, [field.name]: event.target.value }))}
        />
      ))}
    </FormDialog>
  )
}
