// Signing in, and registering where registration is open.
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useSignIn } from '../../lib/api/auth.ts'
import { Button } from '../../ui/button.tsx'
import { errorText } from '../../ui/error-text.ts'
import { TextField } from '../../ui/field.tsx'
import { Logo } from '../../ui/logo.tsx'

export function SignInPage({
  canRegister,
  first,
}: {
  canRegister: boolean
  /** There is no account yet. */
  first: boolean
}) {
  const { t } = useTranslation()
  const [kind, setKind] = useState<'login' | 'register'>(first ? 'register' : 'login')
  const signIn = useSignIn(kind)
  const [username, setUsername] = useState('')
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const registering = kind === 'register'
  return (
    <main className="grid min-h-full place-items-center p-4">
      <form
        className="flex w-full max-w-sm flex-col gap-4 rounded-2xl border border-line bg-surface p-7 shadow-float"
        onSubmit={(event) => {
          event.preventDefault()
          signIn.mutate({
            username,
            password,
            ...(registering && email !== '' ? { email } : {}),
          })
        }}
      >
        <div className="mb-1 flex flex-col items-center gap-3 text-center">
          <Logo size={40} />
          <h1 className="font-display text-2xl tracking-tight">
            {t(first ? 'auth.firstTitle' : registering ? 'auth.registerTitle' : 'auth.loginTitle')}
          </h1>
          {first && <p className="text-sm text-balance text-muted">{t('auth.firstText')}</p>}
        </div>
        {signIn.isError && (
          <p role="alert" className="rounded-lg bg-bad-soft px-3 py-2 text-sm text-bad">
            {errorText(signIn.error)}
          </p>
        )}
        <TextField
          label={t('auth.username')}
          autoComplete="username"
          required
          minLength={registering ? 2 : 1}
          maxLength={50}
          value={username}
          onChange={(event) => setUsername(event.target.value)}
        />
        {registering && (
          <TextField
            label={t('auth.email')}
            hint={t('common.optional')}
            type="email"
            autoComplete="email"
            value={email}
            onChange={(event) => setEmail(event.target.value)}
          />
        )}
        <TextField
          label={t('auth.password')}
          hint={registering ? t('auth.passwordHint') : undefined}
          type="password"
          autoComplete={registering ? 'new-password' : 'current-password'}
          required
          minLength={registering ? 8 : 1}
          maxLength={200}
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
        <Button tone="primary" type="submit" className="mt-1 h-10" disabled={signIn.isPending}>
          {t(registering ? 'auth.register' : 'auth.login')}
        </Button>
        {canRegister && !first && (
          <Button
            tone="quiet"
            onClick={() => {
              setKind(registering ? 'login' : 'register')
              signIn.reset()
            }}
          >
            {t(registering ? 'auth.toLogin' : 'auth.toRegister')}
          </Button>
        )}
      </form>
    </main>
  )
}
