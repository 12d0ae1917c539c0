// Channels to which the agent can send messages and from which people write to it: list, create, remove. Secrets are never shown again.
import { KeyRound, Plus, Send, Trash2, Users } from 'lucide-react'
import { useState } from 'react'
import { ChannelName } from '../../../../server/protocol/programs/channel.ts'
import { useRefusalText } from '../../lib/http/refusal-text.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { EmailField, UrlField } from '../../ui/controls/address-field.tsx'
import { Button, IconButton } from '../../ui/controls/button.tsx'
import { SelectField, TextField } from '../../ui/controls/field.tsx'
import { moveFocusOnRemoval } from '../../ui/controls/move-focus-on-removal.ts'
import { Switch } from '../../ui/controls/switch.tsx'
import { Facts } from '../../ui/facts.tsx'
import { ConfirmDialog } from '../../ui/overlays/dialog.tsx'
import { FormDialog } from '../../ui/overlays/form-dialog.tsx'
import { notify } from '../../ui/overlays/toasts.ts'
import { errorText } from '../../ui/states/error-text.ts'
import { Empty, Failed, Loading } from '../../ui/states/feedback.tsx'
import { type Channel, useChannels, useCreateChannel, useDeleteChannel } from './api/channels.ts'
import { PairDialog, PeopleDialog } from './channel-people.tsx'
import { Section } from './section.tsx'

/** The settings of each kind of channel. */
const CHANNEL_FIELDS = {
  webhook: ['url', 'secret'],
  email: ['to'],
  telegram: ['bot_token', 'chat_id'],
} as const
type Kind = keyof typeof CHANNEL_FIELDS
type FieldName = (typeof CHANNEL_FIELDS)[Kind][number]
const CHANNEL_KINDS: readonly Kind[] = ['webhook', 'email', 'telegram']

/** A tab of the settings, together with the webhooks. */
export function ChannelsSection() {
  const { t } = useTranslation()
  const channels = useChannels()
  const remove = useDeleteChannel()
  const [toDelete, setToDelete] = useState<Channel | null>(null)
  const [isAdding, setIsAdding] = useState(false)
  const [isPairing, setIsPairing] = useState(false)
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
            <li key={channel.id} className="flex items-center gap-3 py-3">
              <div className="min-w-0 flex-1">
                <p className="truncate font-medium">{channel.name}</p>
                <p className="truncate text-note text-muted">
                  <Facts
                    of={[
                      t(`channels.kinds.${labelOf(channel)}`),
                      ...visibleSettings(channel.settings),
                    ]}
                  />
                </p>
                {channel.receive !== null && <Receiving channel={channel} />}
                {channel.last_delivery !== null && <Delivery delivery={channel.last_delivery} />}
              </div>
              {channel.receive !== null && (
                <IconButton
                  icon={Users}
                  label={t('channels.people.of', { name: channel.name })}
                  size="small"
                  onClick={() => setWithPeople(channel)}
                />
              )}
              <IconButton
                icon={Trash2}
                label={t('channels.remove', { name: channel.name })}
                size="small"
                onClick={() => setToDelete(channel)}
              />
            </li>
          ))}
        </ul>
        {channels.data?.some(({ receive }) => receive !== null) && (
          <Button size="small" icon={KeyRound} onClick={() => setIsPairing(true)}>
            {t('channels.people.pair')}
          </Button>
        )}
      </Section>
      {isPairing && <PairDialog onClose={() => setIsPairing(false)} />}
      {withPeople !== null && (
        <PeopleDialog channel={withPeople} onClose={() => setWithPeople(null)} />
      )}
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

const labelOf = (channel: Channel): Kind | 'bridge' =>
  channel.type === 'bridge' ? 'bridge' : kindOf(channel)

/** Whether people can write through the channel now. */
function Receiving({ channel }: { channel: Channel }) {
  const { t } = useTranslation()
  const refusalText = useRefusalText()
  const isBroken = channel.state === 'error' || channel.state === 'conflict'
  return (
    <p className={`text-note ${isBroken ? 'text-bad' : 'text-muted'}`}>
      {t(`channels.people.receive.${channel.state}`)}
      {isBroken &&
        channel.error !== null &&
        `: ${refusalText({ reason: channel.reason, params: null, message: channel.error })}`}
    </p>
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

function NewChannel({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation()
  const create = useCreateChannel()
  const [kind, setKind] = useState<Kind>('webhook')
  const [name, setName] = useState('')
  const [settings, setSettings] = useState<Partial<Record<FieldName, string>>>({})
  const [receives, setReceives] = useState(false)
  const isNamed = ChannelName.safeParse(name).success
  const filled = filledSettings(settings)
  const isReceiving = kind === 'telegram' && receives
  const isOptional = (field: FieldName): boolean =>
    field === 'secret' || (field === 'chat_id' && isReceiving)
  return (
    <FormDialog
      title={t('channels.add')}
      isReady={
        isNamed && CHANNEL_FIELDS[kind].every((field) => isOptional(field) || field in filled)
      }
      isPending={create.isPending}
      error={create.error}
      onSubmit={() =>
        create.mutate(
          { type: kind, name, settings: filled, ...(isReceiving ? { receive: {} } : {}) },
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
          field="name"
          hint={t('channels.nameHint')}
          error={name === '' || isNamed ? undefined : t('channels.nameHint')}
          required
          maxLength={50}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
      </div>
      {CHANNEL_FIELDS[kind].map((field) => (
        <ChannelField
          key={field}
          name={field}
          isOptional={isOptional(field)}
          value={settings[field] ?? ''}
          onChange={(value) => setSettings((old) => ({ ...old, [field]: value }))}
        />
      ))}
      {kind === 'telegram' && (
        <Switch
          label={t('channels.people.receives')}
          hint={t('channels.people.receivesHint')}
          checked={receives}
          onChange={setReceives}
        />
      )}
    </FormDialog>
  )
}

/** The settings that are filled in, as the server expects them: several addresses are a list. */
function filledSettings(
  settings: Readonly<Partial<Record<FieldName, string>>>,
): Record<string, string | string[]> {
  const entries = Object.entries(settings).flatMap(([name, value]) => {
    const text = value.trim()
    if (text === '') return []
    return [[name, name === 'to' && text.includes(',') ? text.split(/\s*,\s*/) : text] as const]
  })
  return Object.fromEntries(entries)
}

/** The field of one setting. The browser checks it before the form is sent. */
function ChannelField({
  name,
  isOptional,
  value,
  onChange,
}: {
  name: FieldName
  isOptional: boolean
  value: string
  onChange: (value: string) => void
}) {
  const { t } = useTranslation()
  const common = {
    label: t(`channels.field.${name}`),
    field: `settings.${name}`,
    autoComplete: 'off',
    required: !isOptional,
    value,
    onChange: ({ target }: { target: { value: string } }) => onChange(target.value),
  }
  if (name === 'url') return <UrlField {...common} maxLength={2_000} />
  const hint = t(`channels.hint.${name}`)
  if (name === 'to') return <EmailField {...common} multiple hint={hint} />
  if (name === 'secret')
    return <TextField {...common} type="password" minLength={8} maxLength={500} hint={hint} />
  const isToken = name === 'bot_token'
  return (
    <TextField
      {...common}
      type={isToken ? 'password' : 'text'}
      pattern={isToken ? '\\d+:[\\w\\-]{20,100}' : '-?\\d{1,20}|@\\w{5,40}'}
      title={hint}
      hint={hint}
    />
  )
}
