// The page of setup, invitation and reset links: creates an account or sets a new password.

import { useEffect, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { useAccountLink, useAuthMode, useConfirmAddress, useSignIn } from '../../lib/api/auth.ts'
import { fromHost } from '../../lib/base-path.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { paths } from '../../lib/paths.ts'
import { Button, linkButtonClass } from '../../ui/controls/button.tsx'
import { Switch } from '../../ui/controls/switch.tsx'
import { errorText } from '../../ui/states/error-text.ts'
import { Loading } from '../../ui/states/feedback.tsx'
import { AccountCard } from './account-card.tsx'
import { NewPasswordField } from './new-password-field.tsx'
import { RegisterForm } from './register-form.tsx'
import { SecondFactorForm, secondFactorOf } from './second-factor-form.tsx'

/** The token is in the fragment of the URL, so that no server logs it. Open to visitors who are not signed in. */
export function JoinPage() {
  const { t } = useTranslation()
  const [, navigate] = useLocation()
  const [token] = useState(() => location.hash.slice(1))
  // Removes the token from the address bar and the history at once.
  useEffect(() => history.replaceState(history.state, '', fromHost(paths.join)), [])
  const link = useAccountLink(token)
  const mode = useAuthMode()
  const home = () => {
    navigate(paths.home, { replace: true })
  }
  if (link.isPending) return <Loading />
  if (link.isError)
    return (
      <AccountCard title={t('auth.linkBroken')} text={errorText(link.error)}>
        <Link href={paths.home} className={linkButtonClass}>
          {t('auth.toSignIn')}
        </Link>
      </AccountCard>
    )
  const { kind, username } = link.data
  if (kind === 'confirmation')
    return <ConfirmCard token={token} address={link.data.address ?? ''} />
  if (kind === 'reset') return <ResetForm token={token} name={username ?? ''} onDone={home} />
  return (
    <RegisterForm
      title={t(kind === 'setup' ? 'auth.setupTitle' : 'auth.joinTitle')}
      text={t(kind === 'setup' ? 'auth.setupText' : 'auth.joinText')}
      link={token}
      asksWhoRegisters={kind === 'setup' && mode.data?.registration === 'open'}
      onDone={home}
    />
  )
}

/** Confirms an address with a button, because programs that check emails open every link in them. */
function ConfirmCard({ token, address }: { token: string; address: string }) {
  const { t } = useTranslation()
  const confirm = useConfirmAddress()
  return (
    <AccountCard
      title={t('auth.confirmTitle')}
      text={
        confirm.isSuccess ? t('auth.confirmed', { address }) : t('auth.confirmText', { address })
      }
      error={confirm.isError ? errorText(confirm.error) : undefined}
      onSubmit={() => confirm.mutate(token)}
    >
      {confirm.isSuccess ? (
        <Link href={paths.home} className={linkButtonClass}>
          {t('auth.toSignIn')}
        </Link>
      ) : (
        <Button tone="primary" type="submit" className="h-10" disabled={confirm.isPending}>
          {t('auth.confirm')}
        </Button>
      )}
    </AccountCard>
  )
}

function ResetForm({ token, name, onDone }: { token: string; name: string; onDone: () => void }) {
  const { t } = useTranslation()
  const reset = useSignIn('reset')
  const [password, setPassword] = useState('')
  const [revokeKeys, setRevokeKeys] = useState(false)
  const second = secondFactorOf(reset.error)
  if (second !== null) return <SecondFactorForm details={second} onBack={onDone} onDone={onDone} />
  return (
    <AccountCard
      title={t('auth.resetTitle', { name })}
      text={t('auth.resetText')}
      error={reset.isError ? errorText(reset.error) : undefined}
      onSubmit={() => {
        // Signing in unmounts this form, which drops callbacks of `mutate`. An error is shown above.
        reset
          .mutateAsync({ link: token, password, revoke_keys: revokeKeys })
          .then(onDone, () => undefined)
      }}
    >
      {/* Makes password managers store the new password under this name. */}
      <input type="text" autoComplete="username" value={name} readOnly hidden />
      <NewPasswordField label={t('settings.newPassword')} value={password} onChange={setPassword} />
      <Switch
        label={t('settings.revokeKeys')}
        hint={t('settings.revokeKeysHint')}
        checked={revokeKeys}
        onChange={setRevokeKeys}
      />
      <Button tone="primary" type="submit" className="mt-1 h-10" disabled={reset.isPending}>
        {t('auth.reset')}
      </Button>
    </AccountCard>
  )
}
