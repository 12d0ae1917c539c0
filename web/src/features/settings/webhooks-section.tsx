// Webhooks: create one and show its secret once, replace the secret, test, turn on or off, delete.
import { KeyRound, Plus, Power, Trash2, Webhook as WebhookIcon } from 'lucide-react'
import { useState } from 'react'
import { WebhookEventType } from '../../../../server/protocol/programs/webhook.ts'
import { fullTime } from '../../lib/format.ts'
import { useRefusalText } from '../../lib/http/refusal-text.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { UrlField } from '../../ui/controls/address-field.tsx'
import { Button, IconButton } from '../../ui/controls/button.tsx'
import { moveFocusOnRemoval } from '../../ui/controls/move-focus-on-removal.ts'
import { Switch } from '../../ui/controls/switch.tsx'
import { Facts } from '../../ui/facts.tsx'
import { ConfirmDialog, Dialog } from '../../ui/overlays/dialog.tsx'
import { FormDialog } from '../../ui/overlays/form-dialog.tsx'
import { notify } from '../../ui/overlays/toasts.ts'
import { ShownOnce } from '../../ui/shown-once.tsx'
import { errorText } from '../../ui/states/error-text.ts'
import { Empty, Failed, Loading } from '../../ui/states/feedback.tsx'
import {
  useCreateWebhook,
  useDeleteWebhook,
  useReplaceSecret,
  useSwitchWebhook,
  useTestWebhook,
  useWebhooks,
  type Webhook,
  type WebhookDelivery,
} from './api/webhooks.ts'
import { Section } from './section.tsx'

/** Shown below the channels in their tab of the settings. */
export function WebhooksSection() {
  const { t } = useTranslation()
  const webhooks = useWebhooks()
  const remove = useDeleteWebhook()
  const [doomed, setDoomed] = useState<Webhook | null>(null)
  const [isAdding, setIsAdding] = useState(false)
  const [replaced, setReplaced] = useState<Webhook | null>(null)
  return (
    <Section
      id="webhooks"
      title={t('webhooks.title')}
      text={t('webhooks.text')}
      action={
        <Button size="small" icon={Plus} onClick={() => setIsAdding(true)}>
          {t('webhooks.add')}
        </Button>
      }
    >
      {webhooks.isPending && <Loading />}
      {webhooks.isError && (
        <Failed message={errorText(webhooks.error)} onRetry={() => void webhooks.refetch()} />
      )}
      {webhooks.data?.length === 0 && <Empty icon={WebhookIcon} title={t('webhooks.none')} />}
      <ul ref={moveFocusOnRemoval} className="-my-2 divide-y divide-line empty:hidden">
        {webhooks.data?.map((webhook) => (
          <WebhookRow
            key={webhook.id}
            webhook={webhook}
            onReplace={() => setReplaced(webhook)}
            onRemove={() => setDoomed(webhook)}
          />
        ))}
      </ul>
      {isAdding && <NewWebhook onClose={() => setIsAdding(false)} />}
      {replaced !== null && (
        <ReplaceSecret key={replaced.id} webhook={replaced} onClose={() => setReplaced(null)} />
      )}
      <ConfirmDialog
        open={doomed !== null}
        onOpenChange={() => setDoomed(null)}
        title={t('webhooks.removeTitle')}
        text={t('webhooks.removeText')}
        confirm={t('webhooks.remove', { url: doomed === null ? '' : hostOf(doomed) })}
        onConfirm={() => doomed !== null && remove.mutate(doomed.id)}
      />
    </Section>
  )
}

const hostOf = ({ url }: Webhook): string => new URL(url).host

function WebhookRow({
  webhook,
  onReplace,
  onRemove,
}: {
  webhook: Webhook
  onReplace(): void
  onRemove(): void
}) {
  const { t, i18n } = useTranslation()
  const test = useTestWebhook()
  const change = useSwitchWebhook()
  const failureOf = useFailureText()
  const { id, url, is_active: isActive, earlier_secret_until: until } = webhook
  return (
    <li className="flex items-center gap-3 py-3 max-sm:flex-wrap">
      <div className="min-w-0 flex-1 max-sm:basis-full">
        <p className="font-medium wrap-anywhere">{url}</p>
        <p className="text-note text-muted">
          <Facts
            of={[
              ...(isActive ? [] : [t('webhooks.off')]),
              ...webhook.events.map((event) => t(`webhooks.event.${event}`)),
              ...(until === null
                ? []
                : [t('webhooks.overlapUntil', { until: fullTime(until, i18n.language) })]),
            ]}
          />
        </p>
        {webhook.last_delivery !== null && <LastDelivery delivery={webhook.last_delivery} />}
      </div>
      <Button
        size="small"
        disabled={test.isPending}
        onClick={() =>
          test.mutate(id, {
            onSuccess: (delivery) =>
              delivery.status === 'delivered'
                ? notify(t('webhooks.testDelivered'), 'success')
                : notify(failureOf(delivery), 'error'),
          })
        }
      >
        {t('webhooks.test')}
      </Button>
      <IconButton
        icon={KeyRound}
        size="small"
        label={t('webhooks.replace', { url: hostOf(webhook) })}
        onClick={onReplace}
      />
      <IconButton
        icon={Power}
        size="small"
        label={t(isActive ? 'webhooks.switchOff' : 'webhooks.switchOn', { url: hostOf(webhook) })}
        onClick={() => change.mutate({ id, is_active: !isActive })}
      />
      <IconButton
        icon={Trash2}
        size="small"
        label={t('webhooks.remove', { url: hostOf(webhook) })}
        onClick={onRemove}
      />
    </li>
  )
}

/** Asks how long the old secret stays valid, and shows the new one. */
function ReplaceSecret({ webhook, onClose }: { webhook: Webhook; onClose(): void }) {
  const { t } = useTranslation()
  const replace = useReplaceSecret()
  const [overlaps, setOverlaps] = useState(true)
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={t('webhooks.replaceTitle')}
      description={replace.data === undefined ? t('webhooks.replaceText') : hostOf(webhook)}
      width="narrow"
      footer={
        replace.data === undefined ? (
          <Button
            tone="primary"
            disabled={replace.isPending}
            onClick={() => replace.mutate({ id: webhook.id, overlap_hours: overlaps ? 24 : 0 })}
          >
            {t('webhooks.replaceTitle')}
          </Button>
        ) : (
          <Button onClick={onClose}>{t('common.close')}</Button>
        )
      }
    >
      {replace.data === undefined ? (
        <Switch
          label={t('webhooks.overlap')}
          hint={t('webhooks.overlapHint')}
          checked={overlaps}
          onChange={setOverlaps}
        />
      ) : (
        <ShownOnce label={t('webhooks.secret')} value={replace.data.secret} />
      )}
    </Dialog>
  )
}

/** Returns a function that describes the state of a delivery, with the reason for a failure. */
function useFailureText(): (delivery: WebhookDelivery) => string {
  const { t } = useTranslation()
  const refusalText = useRefusalText()
  return (delivery) => {
    const state = t(`webhooks.delivery.${delivery.status}`)
    return delivery.error === null
      ? state
      : `${state}: ${refusalText({ ...delivery, message: delivery.error })}`
  }
}

function LastDelivery({ delivery }: { delivery: WebhookDelivery }) {
  const failureOf = useFailureText()
  return (
    <p className={`text-note ${delivery.error === null ? 'text-muted' : 'text-bad'}`}>
      {failureOf(delivery)}
    </p>
  )
}

function NewWebhook({ onClose }: { onClose(): void }) {
  const { t } = useTranslation()
  const create = useCreateWebhook()
  const [url, setUrl] = useState('')
  const [events, setEvents] = useState<readonly WebhookEventType[]>(WebhookEventType.options)
  return (
    <FormDialog
      title={t('webhooks.add')}
      isReady={url.trim() !== '' && events.length > 0}
      isPending={create.isPending}
      error={create.error}
      result={create.data && <ShownOnce label={t('webhooks.secret')} value={create.data.secret} />}
      onSubmit={() => create.mutate({ url, events })}
      onClose={onClose}
    >
      <UrlField
        label={t('webhooks.url')}
        field="url"
        required
        maxLength={2_000}
        value={url}
        onChange={(event) => setUrl(event.target.value)}
      />
      <fieldset className="flex flex-wrap gap-x-4 gap-y-1">
        <legend className="mb-1 text-sm font-medium text-soft">{t('webhooks.events')}</legend>
        {WebhookEventType.options.map((event) => (
          <label key={event} className="flex items-center gap-2 py-1 text-sm">
            <input
              type="checkbox"
              className="size-4 accent-accent"
              checked={events.includes(event)}
              onChange={({ target }) =>
                setEvents(
                  target.checked ? [...events, event] : events.filter((one) => one !== event),
                )
              }
            />
            {t(`webhooks.event.${event}`)}
          </label>
        ))}
      </fieldset>
    </FormDialog>
  )
}
