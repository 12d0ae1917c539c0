// Who may write to the agent through a channel: pairing by a code, blocking and forgetting people.
import { useState } from 'react'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { Button } from '../../ui/controls/button.tsx'
import { TextField } from '../../ui/controls/field.tsx'
import { Dialog } from '../../ui/overlays/dialog.tsx'
import { FormDialog } from '../../ui/overlays/form-dialog.tsx'
import { notify } from '../../ui/overlays/toasts.ts'
import { errorText } from '../../ui/states/error-text.ts'
import { Failed, Loading } from '../../ui/states/feedback.tsx'
import { type Channel, usePair, useSenders, useSetSender } from './api/channels.ts'

/** Takes the code that a bot told somebody who is not known to it yet. */
export function PairDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation()
  const pair = usePair()
  const [code, setCode] = useState('')
  return (
    <FormDialog
      title={t('channels.people.pair')}
      isReady={code.trim() !== ''}
      isPending={pair.isPending}
      error={pair.error}
      onSubmit={() =>
        pair.mutate(code.trim(), {
          onSuccess: ({ sender, channel }) => {
            notify(
              t('channels.people.paired', { name: sender.name, channel: channel.name }),
              'success',
            )
            onClose()
          },
        })
      }
      onClose={onClose}
    >
      <TextField
        label={t('channels.people.code')}
        field="code"
        hint={t('channels.people.codeHint')}
        autoComplete="off"
        required
        maxLength={50}
        value={code}
        onChange={(event) => setCode(event.target.value)}
      />
    </FormDialog>
  )
}

/** The people who have written to a channel, each with what can be done about them. */
export function PeopleDialog({ channel, onClose }: { channel: Channel; onClose: () => void }) {
  const { t } = useTranslation()
  const senders = useSenders(channel.id)
  const change = useSetSender(channel.id)
  return (
    <Dialog open onOpenChange={onClose} title={t('channels.people.of', { name: channel.name })}>
      {senders.isPending && <Loading />}
      {senders.isError && (
        <Failed message={errorText(senders.error)} onRetry={() => void senders.refetch()} />
      )}
      {senders.data?.length === 0 && (
        <p className="text-sm text-muted">{t('channels.people.none')}</p>
      )}
      <ul className="divide-y divide-line empty:hidden">
        {senders.data?.map((sender) => (
          <li key={sender.id} className="flex flex-wrap items-center gap-2 py-3">
            <div className="min-w-0 flex-1">
              <p className="truncate font-medium">{sender.name || sender.external_id}</p>
              <p className="truncate text-note text-muted">
                {t(`channels.people.state.${sender.state}`)}
              </p>
            </div>
            {sender.state !== 'pending' && (
              <Button
                size="small"
                onClick={() =>
                  change.mutate({
                    id: sender.id,
                    state: sender.state === 'blocked' ? 'allowed' : 'blocked',
                  })
                }
              >
                {t(sender.state === 'blocked' ? 'channels.people.allow' : 'channels.people.block')}
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
    </Dialog>
  )
}
