// Shares a conversation by a link: contents, password and expiry, copy the link, stop sharing.
import { useState } from 'react'
import type { Share, ShareInclude } from '../../../../server/protocol/conversations/share.ts'
import { useRevokeShare, useShare, useShares } from '../../lib/api/sharing.ts'
import { copyText } from '../../lib/browser/copy-text.ts'
import { fullTime } from '../../lib/format.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { Button } from '../../ui/controls/button.tsx'
import { SelectField, TextField } from '../../ui/controls/field.tsx'
import { Switch } from '../../ui/controls/switch.tsx'
import { Dialog } from '../../ui/overlays/dialog.tsx'
import { notify } from '../../ui/overlays/toasts.ts'
import { errorText } from '../../ui/states/error-text.ts'
import { Failed, Loading } from '../../ui/states/feedback.tsx'

const SHARE_PARTS = [
  'files',
  'apps',
  'tools',
  'thinking',
] as const satisfies readonly ShareInclude[]
const DAY_MS = 86_400_000
const EXPIRY_CHOICES = ['keep', 'never', '1', '7', '30'] as const
type Expiry = (typeof EXPIRY_CHOICES)[number]

/** `id` is the conversation. The link shows a copy from the time of sharing. */
export function ShareDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const { t } = useTranslation()
  const shares = useShares()
  const current = shares.data?.find((share) => share.conversation_id === id)
  const [isCreating, setIsCreating] = useState(false)
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={t('share.title')}
      description={t('share.text')}
    >
      {shares.isPending ? (
        <Loading />
      ) : shares.isLoadingError ? (
        <Failed message={errorText(shares.error)} onRetry={() => void shares.refetch()} />
      ) : (
        <ShareForm
          key={current?.created_at}
          id={id}
          current={current}
          isNew={isCreating}
          onCreate={() => setIsCreating(true)}
        />
      )}
    </Dialog>
  )
}

function ShareForm({
  id,
  current,
  isNew,
  onCreate,
}: {
  id: string
  current: Share | undefined
  /** Whether the link was created in this dialog. */
  isNew: boolean
  /** Called before the link is requested. */
  onCreate: () => void
}) {
  const { t, i18n } = useTranslation()
  const share = useShare()
  const revoke = useRevokeShare()
  const [include, setInclude] = useState<readonly ShareInclude[]>(current?.include ?? [])
  const [protect, setProtect] = useState(current?.has_password ?? false)
  const [password, setPassword] = useState('')
  const [expiry, setExpiry] = useState<Expiry>(current === undefined ? 'never' : 'keep')
  const endText = ({ expires_at }: Share): string =>
    expires_at === null ? t('share.ends.never') : fullTime(expires_at, i18n.language)
  const labelOf = (value: Expiry): string =>
    value === 'keep'
      ? t('share.ends.keep', { current: current === undefined ? '' : endText(current) })
      : t(`share.ends.${value}`)
  const keepsPassword = protect && password === '' && current?.has_password === true
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        if (current === undefined) onCreate()
        share.mutate({
          id,
          include: [...include],
          ...(keepsPassword ? {} : { password: protect ? password : null }),
          ...(expiry === 'keep' ? {} : { expires_at: expiryTime(expiry) }),
        })
      }}
    >
      {current !== undefined &&
        (current.url === null ? (
          <p className="text-sm text-bad">{t('share.unreadable')}</p>
        ) : (
          <LinkField url={current.url} isNew={isNew} />
        ))}
      {SHARE_PARTS.map((part) => (
        <Switch
          key={part}
          label={t(`share.include.${part}`)}
          checked={include.includes(part)}
          onChange={(on) =>
            setInclude(on ? [...include, part] : include.filter((one) => one !== part))
          }
        />
      ))}
      <Switch label={t('share.protect')} checked={protect} onChange={setProtect} />
      {protect && (
        <TextField
          label={t('share.password')}
          hint={current?.has_password === true ? t('share.passwordKept') : undefined}
          type="password"
          autoComplete="new-password"
          maxLength={200}
          required={current?.has_password !== true}
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
      )}
      <SelectField
        label={t('share.end')}
        value={expiry}
        options={EXPIRY_CHOICES.filter((value) => value !== 'keep' || current !== undefined).map(
          (value) => ({ value, label: labelOf(value) }),
        )}
        onChange={(event) =>
          setExpiry(EXPIRY_CHOICES.find((value) => value === event.target.value) ?? 'never')
        }
      />
      {share.isError && (
        <p role="alert" className="rounded-lg bg-bad-soft px-3 py-2 text-sm text-bad">
          {errorText(share.error)}
        </p>
      )}
      <div className="flex flex-wrap justify-end gap-2">
        {current !== undefined && (
          <Button disabled={revoke.isPending} onClick={() => revoke.mutate(id)}>
            {t('share.revoke')}
          </Button>
        )}
        <Button tone="primary" type="submit" disabled={share.isPending}>
          {t(current === undefined ? 'share.create' : 'share.renew')}
        </Button>
      </div>
    </form>
  )
}

/** The time of expiry for the server; null for never. */
const expiryTime = (expiry: Exclude<Expiry, 'keep'>): string | null =>
  expiry === 'never' ? null : new Date(Date.now() + Number(expiry) * DAY_MS).toISOString()

/** A new link gets the focus, selected, so that it can be copied at once. */
function LinkField({ url, isNew }: { url: string; isNew: boolean }) {
  const { t } = useTranslation()
  return (
    <div className="flex items-end gap-2">
      <div className="min-w-0 flex-1">
        <TextField
          label={t('share.link')}
          autoFocus={isNew}
          readOnly
          value={url}
          onFocus={(event) => event.target.select()}
        />
      </div>
      <Button
        className="h-10"
        onClick={() =>
          void copyText(url).then((copied) =>
            copied ? notify(t('common.copied'), 'success') : notify(t('common.notCopied'), 'error'),
          )
        }
      >
        {t('common.copy')}
      </Button>
    </div>
  )
}
