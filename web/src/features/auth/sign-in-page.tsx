// Signing in, and registering where registration is open.
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useSignIn } from '../../lib/api/auth.ts'
import { Button } from '../../ui/button.tsx'
import { errorText } from '../../ui/error-text.ts'
import { TextField } from '../../ui/field.tsx'
import { AccountCard } from './account-card.tsx'
import { RegisterForm } from './register-form.tsx'

export function SignInPage({
  canRegister,
  first,
  needsSetupLink,
}: {
  canRegister: boolean
  /** There is no account yet, and it can be created here. */
  first: boolean
  /** There is no account yet, and only the set-up link creates it. */
  needsSetupLink: boolean
}) {
  const { t } = useTranslation()
  const [isRegistering, setIsRegistering] = useState(first)
  if (needsSetupLink)
    return (
      <AccountCard title={t('auth.setupLinkTitle')} text={t('auth.setupLinkText')}>
        {null}
      </AccountCard>
    )
  if (!isRegistering)
    return <LoginForm onRegister={canRegister ? () => setIsRegistering(true) : undefined} />
  return (
    <RegisterForm
      title={t(first ? 'auth.firstTitle' : 'auth.registerTitle')}
      text={first ? t('auth.firstText') : undefined}
    >
      {!first && (
        <Button tone="quiet" onClick={() => setIsRegistering(false)}>
          {t('auth.toLogin')}
        </Button>
      )}
    </RegisterForm>
  )
}

function LoginForm({ onRegister }: { onRegister: (() => void) | undefined }) {
  const { t } = useTranslation()
  const login = useSignIn('login')
  const [username, setUsername] = useState('')
  const [password, setPassword] = useState('')
  return (
    <AccountCard
      title={t('auth.loginTitle')}
      error={login.isError ? errorText(login.error) : undefined}
      onSubmit={() => login.mutate({ username, password })}
    >
      <TextField
        label={t('auth.username')}
        autoComplete="username"
        required
        maxLength={255}
        value={username}
        onChange={(event) => setUsername(event.target.value)}
      />
      <TextField
        label={t('auth.password')}
        type="password"
        autoComplete="current-password"
        required
        maxLength={200}
        value={password}
        onChange={(event) => setPassword(event.target.value)}
      />
      <Button tone="primary" type="submit" className="mt-1 h-10" disabled={login.isPending}>
        {t('auth.login')}
      </Button>
      {onRegister !== undefined && (
        <Button tone="quiet" onClick={onRegister}>
          {t('auth.toRegister')}
        </Button>
      )}
    </AccountCard>
  )
}
