// Who may write to the agent through a channel: pairing by a code, blocking and forgetting people.
import { useState } from 'react'
import type { Sender } from '../../../../server/protocol/programs/channel.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { Button } from '../../ui/controls/button.tsx'
import { TextField } from '../../ui/controls/field.tsx'
import { moveFocusOnRemoval } from '../../ui/controls/move-focus-on-removal.ts'
import { Facts } from '../../ui/facts.tsx'
import { ConfirmDialog, Dialog } from '../../ui/overlays/dialog.tsx'
import { RemainingError } from '../../ui/overlays/form-dialog.tsx'
import { notify } from '../../ui/overlays/toasts.ts'
import { errorText } from '../../ui/states/error-text.ts'
import { Failed, Loading } from '../../ui/states/feedback.tsx'
import { FieldFaults } from '../../ui/states/field-faults.tsx'
import { type Channel, usePair, useSenders, useSetSender } from './api/channels.ts'

/** Takes the code that a bot told somebody who is not known to it yet. */
export function PairDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation()
  return (
    <Dialog open onOpenChange={onClose} title={t('channels.people.pair')}>
      <PairForm onPaired={onClose} />
    </Dialog>
  )
}

/** Who may write through a channel: a form for the code that a stranger was told, and the people who have written. */
export function ChannelPeople({ channel }: { channel: Channel }) {
  const { t } = useTranslation()
  const senders = useSenders(channel.id)
  const change = useSetSender(channel.id)
  const [toLetIn, setToLetIn] = useState<Sender | null>(null)
  // Elsewhere only the code says as whom they act, or that the address is theirs.
  const canLetIn = channel.receive?.shared !== true && channel.type !== 'email'
  return (
    <>
      <PairForm />
      {senders.isPending && <Loading />}
      {senders.isError && (
        <Failed message={errorText(senders.error)} onRetry={() => void senders.refetch()} />
      )}
      {senders.data?.length === 0 && (
        <p className="text-sm text-muted">{t('channels.people.none')}</p>
      )}
      <ul ref={moveFocusOnRemoval} className="divide-y divide-line empty:hidden">
        {senders.data?.map((sender) => (
          <li key={sender.id} className="flex flex-wrap items-center gap-2 py-3">
            <div className="min-w-0 flex-1 max-sm:basis-full">
              <p className="truncate font-medium">{sender.name || sender.external_id}</p>
              <p className="truncate text-note text-muted">
                <Facts
                  of={[
                    t(`channels.people.state.${sender.state}`),
                    // Anybody can call themselves as they like at a messenger.
                    ...(sender.name === '' || sender.name === sender.external_id
                      ? []
                      : [sender.external_id]),
                  ]}
                />
              </p>
            </div>
            {canLetIn && sender.user_id === null && (
              <Button size="small" onClick={() => setToLetIn(sender)}>
                {t('channels.people.letIn')}
              </Button>
            )}
            {sender.state === 'blocked' && sender.user_id !== null && (
              <Button
                size="small"
                onClick={() => change.mutate({ id: sender.id, state: 'allowed' })}
              >
                {t('channels.people.allow')}
              </Button>
            )}
            {sender.state !== 'blocked' && (
              <Button
                size="small"
                onClick={() => change.mutate({ id: sender.id, state: 'blocked' })}
              >
                {t('channels.people.block')}
              </Button>
            )}
            <Button
              size="small"
              onClick={() => change.mutate({ id: sender.id, state: 'forgotten' })}
            >
              {t('channels.people.forget')}
            </Button>
          </li>
        ))}
      </ul>
      <ConfirmDialog
        open={toLetIn !== null}
        onOpenChange={() => setToLetIn(null)}
        title={t('channels.people.letInTitle', {
          name: toLetIn?.name || toLetIn?.external_id || '',
        })}
        text={t('channels.people.letInText', {
          id: toLetIn?.external_id ?? '',
          channel: channel.name,
        })}
        confirm={t('channels.people.letIn')}
        onConfirm={() => toLetIn !== null && change.mutate({ id: toLetIn.id, state: 'allowed' })}
      />
    </>
  )
}

/** Pairs whoever was told a code with this account. */
function PairForm({ onPaired }: { onPaired?: () => void }) {
  const { t } = useTranslation()
  const pair = usePair()
  const [code, setCode] = useState('')
  return (
    <FieldFaults error={pair.error}>
      <form
        className="flex flex-col gap-2"
        onSubmit={(event) => {
          event.preventDefault()
          if (code.trim() === '' || pair.isPending) return
          pair.mutate(code.trim(), {
            onSuccess: ({ sender, channel }) => {
              setCode('')
              notify(
                t('channels.people.paired', { name: sender.name, channel: channel.name }),
                'success',
              )
              onPaired?.()
            },
          })
        }}
      >
        <TextField
          label={t('channels.people.code')}
          field="code"
          hint={t('channels.people.codeHint')}
          autoComplete="off"
          autoCapitalize="characters"
          maxLength={50}
          value={code}
          onChange={(event) => setCode(event.target.value)}
        />
        <RemainingError error={pair.error} />
        <Button
          type="submit"
          size="small"
          className="self-start"
          disabled={code.trim() === '' || pair.isPending}
        >
          {t('channels.people.pair')}
        </Button>
      </form>
    </FieldFaults>
  )
}

/** The people who have written to a channel, each with what can be done about them. */
export function PeopleDialog({ channel, onClose }: { channel: Channel; onClose: () => void }) {
  const { t } = useTranslation()
  return (
    <Dialog open onOpenChange={onClose} title={t('channels.people.of', { name: channel.name })}>
      <div className="flex flex-col gap-4">
        <ChannelPeople channel={channel} />
      </div>
    </Dialog>
  )
}
