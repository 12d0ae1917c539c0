// The form that connects a channel, or changes one: what to do at the service, its settings, a test, and then who may write.
import { Cable, ExternalLink, Hash, type LucideIcon, Mail, Send, Webhook } from 'lucide-react'
import { type FormEvent, useId, useState } from 'react'
import { ChannelName } from '../../../../server/protocol/programs/channel.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { EmailField, UrlField } from '../../ui/controls/address-field.tsx'
import { Button } from '../../ui/controls/button.tsx'
import { SelectField, TextField } from '../../ui/controls/field.tsx'
import { Switch } from '../../ui/controls/switch.tsx'
import { Dialog } from '../../ui/overlays/dialog.tsx'
import { RemainingError } from '../../ui/overlays/form-dialog.tsx'
import { notify } from '../../ui/overlays/toasts.ts'
import { FieldFaults } from '../../ui/states/field-faults.tsx'
import {
  type Channel,
  type CreatedChannel,
  useChangeChannel,
  useChannels,
  useCreateChannel,
  useTestSettings,
} from './api/channels.ts'
import { ConnectedChannel } from './channel-connected.tsx'
import {
  CHANNEL_KINDS,
  type ChannelKind,
  type FieldName,
  type FieldValues,
  fieldsOf,
  INITIAL_VALUES,
  isKept,
  kindOf,
  MAIL_ENCRYPTIONS,
  RECEIVES,
  SERVICE_PAGES,
  settingsOf,
  shownValues,
} from './channel-fields.ts'
import {
  choicesOf,
  type ReceiveChoices,
  ReceiveFields,
  receiveOf,
} from './channel-receive-fields.tsx'
import { ChannelTestResult } from './channel-test-result.tsx'

const ICONS: Readonly<Record<ChannelKind, LucideIcon>> = {
  telegram: Send,
  slack: Hash,
  email: Mail,
  bridge: Cable,
  webhook: Webhook,
}

/** `canShare`: whether the user may make a channel for everybody. `channel`: the one that is changed; absent for a new one. */
export function ChannelDialog({
  canShare,
  channel,
  onClose,
}: {
  canShare: boolean
  channel?: Channel
  onClose: () => void
}) {
  const { t } = useTranslation()
  const formId = useId()
  const form = useChannelForm(channel, onClose)
  const title =
    channel === undefined ? t('channels.add') : t('channels.edit', { name: channel.name })
  const { kind, created, test } = form
  if (created !== null)
    return (
      <Dialog
        open
        onOpenChange={onClose}
        title={t('channels.connected', { name: created.name })}
        footer={<Button onClick={onClose}>{t('common.close')}</Button>}
      >
        <ConnectedChannel channel={created} />
      </Dialog>
    )
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={title}
      footer={
        <>
          {/* What is not shown cannot be tried before it is stored; then the list can. */}
          {channel === undefined && (
            <Button
              className="me-auto"
              form={formId}
              disabled={!form.isReady || test.isPending}
              onClick={({ currentTarget }) => {
                if (currentTarget.form?.reportValidity() === true) form.tryIt()
              }}
            >
              {t('channels.test')}
            </Button>
          )}
          <Button tone="quiet" onClick={onClose}>
            {t('common.cancel')}
          </Button>
          <Button
            tone="primary"
            type="submit"
            form={formId}
            disabled={!form.isReady || form.isBusy}
          >
            {channel === undefined ? t('channels.add') : t('common.save')}
          </Button>
        </>
      }
    >
      <FieldFaults error={form.error}>
        <form id={formId} onSubmit={form.submit} className="flex flex-col gap-4">
          {channel === undefined && (
            <>
              <KindCards kind={kind} onChange={form.setKind} />
              <Steps kind={kind} receives={form.receives} />
            </>
          )}
          <ChannelFields form={form} />
          {form.receives && (
            <ReceiveFields
              hasGroups={kind !== 'email'}
              // Whoever may not share one any more can still end that.
              canShare={canShare || channel?.receive?.shared === true}
              value={form.choices}
              onChange={form.setChoices}
            />
          )}
          <RemainingError error={form.error} />
        </form>
      </FieldFaults>
      <ChannelTestResult kind={kind} test={test} />
    </Dialog>
  )
}

/** The first name of this kind that the user has not given yet. */
function freeName(kind: ChannelKind, channels: readonly Channel[]): string {
  const taken = new Set(channels.map(({ name }) => name))
  const names = [kind, ...channels.map((_, index) => `${kind}-${index + 2}`)]
  return names.find((name) => !taken.has(name)) ?? ''
}

/** The entered values and the actions of the form; `channel` is the one that is changed. */
function useChannelForm(channel: Channel | undefined, onClose: () => void) {
  const { t } = useTranslation()
  const { data: channels = [] } = useChannels()
  const create = useCreateChannel()
  const change = useChangeChannel()
  const test = useTestSettings()
  const [initial] = useState(() => stateOf(channel))
  const [kind, setKind] = useState<ChannelKind>(initial.kind)
  const [typedName, setName] = useState<string | null>(channel?.name ?? null)
  const [values, setValues] = useState<FieldValues>(initial.values)
  const [wanted, setReceives] = useState<Partial<Record<ChannelKind, boolean>>>({})
  const [choices, setChoices] = useState<ReceiveChoices>(initial.choices)
  const [created, setCreated] = useState<CreatedChannel | null>(null)
  // A channel that exists can stop receiving, whatever its kind.
  const mode =
    channel === undefined || RECEIVES[kind] === 'never'
      ? RECEIVES[kind]
      : { byDefault: channel.receive !== null }
  const receives = mode === 'always' || (mode !== 'never' && (wanted[kind] ?? mode.byDefault))
  const name = typedName ?? freeName(kind, channels)
  const isNamed = ChannelName.safeParse(name).success
  const fields = fieldsOf(kind, receives).map((field) => ({
    ...field,
    isKept: channel !== undefined && isKept(field.name, channel.settings),
  }))
  const settings = settingsOf(kind, receives, values)
  const isFilled = fields.every(
    (field) => field.isOptional || field.isKept || (values[field.name] ?? '').trim() !== '',
  )
  const receive = receives ? receiveOf(choices, kind !== 'email') : null
  const add = (): void =>
    create.mutate(
      { type: kind, name, settings, ...(receive === null ? {} : { receive }) },
      {
        onSuccess: (made) => {
          if (receives) return setCreated(made)
          notify(t('channels.added', { name }), 'success')
          onClose()
        },
      },
    )
  const save = ({ id, name: before }: Channel): void =>
    change.mutate(
      {
        id,
        ...(name === before ? {} : { name }),
        // What works goes on: settings that are sent are tried again.
        ...(isEqual(settings, initial.settings) ? {} : { settings }),
        ...(isEqual(receive, initial.receive) ? {} : { receive }),
      },
      {
        onSuccess: () => {
          notify(t('channels.saved', { name }), 'success')
          onClose()
        },
      },
    )
  const isBusy = create.isPending || change.isPending
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (!isNamed || !isFilled || isBusy) return
    if (channel === undefined) add()
    else save(channel)
  }
  return {
    kind,
    setKind(next: ChannelKind) {
      setKind(next)
      test.reset()
      create.reset()
    },
    name,
    setName,
    isNamed,
    fields,
    values,
    setValue(field: FieldName, value: string) {
      setValues((old) => ({ ...old, [field]: value }))
    },
    /** Whether the person chooses if people can write through it. */
    hasChoice: typeof mode === 'object',
    receives,
    setReceives(next: boolean) {
      setReceives((old) => ({ ...old, [kind]: next }))
    },
    choices,
    setChoices,
    created,
    test,
    error: create.error ?? change.error,
    isBusy,
    isReady: isNamed && isFilled,
    submit,
    tryIt: () => test.mutate({ type: kind, settings }),
  }
}

const isEqual = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other)

/** What the form begins with, and what it would send of that. */
function stateOf(channel: Channel | undefined) {
  const kind = (channel === undefined ? undefined : kindOf(channel.type)) ?? 'telegram'
  const values = channel === undefined ? INITIAL_VALUES : shownValues(channel.settings)
  const receive = channel?.receive ?? null
  const choices = choicesOf(receive)
  return {
    kind,
    values,
    choices,
    settings: settingsOf(kind, receive !== null, values),
    receive: receive === null ? null : receiveOf(choices, kind !== 'email'),
  }
}

function KindCards({
  kind,
  onChange,
}: {
  kind: ChannelKind
  onChange: (kind: ChannelKind) => void
}) {
  const { t } = useTranslation()
  const name = useId()
  return (
    <fieldset>
      <legend className="mb-1.5 text-sm font-medium text-soft">{t('channels.kind')}</legend>
      <div className="grid grid-cols-2 gap-2 sm:grid-cols-5">
        {CHANNEL_KINDS.map((one) => {
          const Icon = ICONS[one]
          return (
            <label
              key={one}
              className="flex min-h-11 cursor-pointer items-center gap-2 rounded-xl border border-line-strong bg-surface px-3 py-2 text-sm transition-colors hover:bg-hover has-checked:border-accent has-checked:bg-accent-soft has-checked:font-medium has-focus-visible:outline-2 sm:flex-col sm:gap-1 sm:px-1 sm:text-note"
            >
              <input
                type="radio"
                name={name}
                className="sr-only"
                checked={one === kind}
                onChange={() => onChange(one)}
              />
              <Icon size={18} aria-hidden className="shrink-0" />
              {t(`channels.kinds.${one}`)}
            </label>
          )
        })}
      </div>
    </fieldset>
  )
}

/** What to do at the service, one thing a line. */
function Steps({ kind, receives }: { kind: ChannelKind; receives: boolean }) {
  const { t } = useTranslation()
  const text =
    kind === 'email' && !receives ? t('channels.steps.emailOut') : t(`channels.steps.${kind}`)
  const page = SERVICE_PAGES[kind]
  return (
    <div className="rounded-xl bg-sunken px-4 py-3 text-sm">
      <ol className="flex list-decimal flex-col gap-1 ps-5">
        {text.split('\n').map((step) => (
          <li key={step}>{step}</li>
        ))}
      </ol>
      {page !== undefined && (
        <a
          href={page}
          target="_blank"
          rel="noopener noreferrer"
          className="touch-target mt-2 inline-flex items-center gap-1.5 font-medium text-accent underline underline-offset-2"
        >
          <ExternalLink size={14} aria-hidden />
          {kind === 'slack' ? t('channels.openSlack') : t('channels.openBotFather')}
        </a>
      )}
    </div>
  )
}

function ChannelFields({ form }: { form: ReturnType<typeof useChannelForm> }) {
  const { t } = useTranslation()
  const { name, isNamed, kind } = form
  return (
    <>
      <TextField
        label={t('channels.name')}
        field="name"
        hint={t('channels.nameHint')}
        error={name === '' || isNamed ? undefined : t('channels.nameHint')}
        required
        maxLength={50}
        autoComplete="off"
        value={name}
        onChange={({ target }) => form.setName(target.value)}
      />
      {form.hasChoice && (
        <Switch
          label={t(kind === 'email' ? 'channels.people.receivesMail' : 'channels.people.receives')}
          hint={t(
            kind === 'telegram'
              ? 'channels.people.receivesHint'
              : 'channels.people.receivesMailHint',
          )}
          checked={form.receives}
          onChange={form.setReceives}
        />
      )}
      <div className="grid gap-4 sm:grid-cols-2">
        {form.fields.map(({ name: field, isOptional, isKept: stays }) => (
          <div key={field} className={HALF.has(field) ? '' : 'sm:col-span-2'}>
            <ChannelField
              name={field}
              isOptional={isOptional && !stays}
              isKept={stays}
              value={form.values[field] ?? ''}
              onChange={(value) => form.setValue(field, value)}
            />
          </div>
        ))}
      </div>
    </>
  )
}

/** Short ones, two of which stand side by side. */
const HALF: ReadonlySet<FieldName> = new Set([
  'imap_host',
  'imap_port',
  'imap_tls',
  'imap_folder',
  'imap_user',
  'imap_password',
])
const PATTERNS: Readonly<Partial<Record<FieldName, string>>> = {
  bot_token: '\\d+:[\\w\\-]{20,100}',
  chat_id: '-?\\d{1,20}|@\\w{5,40}',
  slack_app_token: 'xapp-[\\w\\-]{1,300}',
  slack_bot_token: '(xoxe\\.)?xoxb-[\\w\\-]{1,300}',
  bridge_secret: 'whsec_[A-Za-z0-9+\\/=]{16,200}',
  imap_host: '[\\w.:\\-]{1,253}',
  authserv_id: '[\\w.\\-]{1,253}',
}
const SECRET: ReadonlySet<FieldName> = new Set([
  'secret',
  'bridge_secret',
  'bot_token',
  'slack_app_token',
  'slack_bot_token',
  'imap_password',
])

/** The field of one setting. The browser checks it before the form is sent. `isKept`: left empty, it stays as it is. */
function ChannelField({
  name,
  isOptional,
  isKept: stays,
  value,
  onChange,
}: {
  name: FieldName
  isOptional: boolean
  isKept: boolean
  value: string
  onChange: (value: string) => void
}) {
  const { t } = useTranslation()
  const label = t(`channels.field.${name}`)
  const common = {
    label: isOptional ? t('channels.optional', { field: label }) : label,
    autoComplete: 'off',
    required: !isOptional && !stays,
    ...(stays ? { placeholder: t('channels.unchanged') } : {}),
    value,
    onChange: ({ target }: { target: { value: string } }) => onChange(target.value),
  }
  switch (name) {
    case 'url':
      return <UrlField {...common} maxLength={2_000} />
    case 'bridge_url':
      return <UrlField {...common} maxLength={2_000} hint={t('channels.hint.bridge_url')} />
    case 'to':
      return <EmailField {...common} multiple hint={t('channels.hint.to')} />
    case 'address':
      return <EmailField {...common} hint={t('channels.hint.address')} />
    case 'imap_port':
      return <TextField {...common} type="number" min={1} max={65_535} />
    case 'imap_tls':
      return (
        <SelectField
          label={label}
          value={value}
          options={[
            ...(stays ? [{ value: '', label: t('channels.unchanged') }] : []),
            ...MAIL_ENCRYPTIONS.map((one) => ({ value: one, label: t(`channels.tls.${one}`) })),
          ]}
          onChange={({ target }) => onChange(target.value)}
        />
      )
    case 'imap_user':
      return <TextField {...common} maxLength={300} spellCheck={false} />
    case 'imap_folder':
      return <TextField placeholder="INBOX" {...common} maxLength={300} />
    default: {
      const hint = name === 'imap_host' ? undefined : t(`channels.hint.${name}`)
      return (
        <TextField
          {...common}
          type={SECRET.has(name) ? 'password' : 'text'}
          {...(name === 'secret' ? { minLength: 8, maxLength: 500 } : {})}
          {...(PATTERNS[name] === undefined
            ? {}
            : { pattern: PATTERNS[name], title: hint ?? label })}
          spellCheck={false}
          hint={hint}
        />
      )
    }
  }
}
