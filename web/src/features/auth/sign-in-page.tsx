// The sign-in page, with registration if it is open.

import { useQuery } from '@tanstack/react-query'
import { Fingerprint, KeyRound } from 'lucide-react'
import { type ReactNode, useEffect, useState } from 'react'
import { useSignIn } from '../../lib/api/auth.ts'
import { askForPasskey } from '../../lib/api/second-factors.ts'
import { fromHost, pagePath } from '../../lib/base-path.ts'
import { ApiError } from '../../lib/http/api-client.ts'
import { useRefusalText } from '../../lib/http/refusal-text.ts'
import { useSession } from '../../lib/http/session.ts'
import { joinSentences } from '../../lib/i18n/sentences.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { classNames } from '../../ui/class-names.ts'
import { Button, linkButtonClass } from '../../ui/controls/button.tsx'
import { TextField } from '../../ui/controls/field.tsx'
import { errorText } from '../../ui/states/error-text.ts'
import { AccountCard } from './account-card.tsx'
import { ForgottenForm } from './forgotten-form.tsx'
import { RegisterForm } from './register-form.tsx'
import { SecondFactorForm, secondFactorOf } from './second-factor-form.tsx'

/** The fragment that a refused single sign-on adds to the page's URL. */
const REFUSED = /^#sign-in-refused=([a-z_]{1,60})$/
/** Where a shared page leads the guests who want to continue its conversation. */
const CONTINUED = /^\/continue\/./

/** Replaces the application until the user is signed in. The server's sign-in mode determines its options. */
export function SignInPage({
  canRegister,
  first,
  needsSetupLink,
  ssoName,
  passwordOff,
  hasPasskeys,
  hasMail,
}: {
  canRegister: boolean
  /** Whether there is no account yet and it can be created here. */
  first: boolean
  /** Whether there is no account yet and only the setup link can create it. */
  needsSetupLink: boolean
  /** The name of the single sign-on; undefined if there is none. */
  ssoName: string | undefined
  /** Whether only the emergency account has a password. */
  passwordOff: boolean
  /** Whether passkeys work at this address. */
  hasPasskeys: boolean
  /** Whether the server can send links for forgotten passwords by email. */
  hasMail: boolean
}) {
  const { t, i18n } = useTranslation()
  const [isForgotten, setIsForgotten] = useState(false)
  const [isRegistering, setIsRegistering] = useState(first)
  const [usesPassword, setUsesPassword] = useState(!passwordOff)
  const { ended } = useSession()
  const endedText =
    ended === null ? undefined : t(ended === 'account_disabled' ? 'auth.disabled' : 'auth.ended')
  const refusal = useSsoRefusal() ?? endedText
  const isByInvitation = !canRegister && ssoName === undefined
  const purpose = CONTINUED.test(pagePath())
    ? joinSentences(
        i18n.language,
        t('auth.guest'),
        ...(isByInvitation ? [t('auth.guestByInvitation')] : []),
      )
    : undefined
  if (needsSetupLink)
    return (
      <AccountCard title={t('auth.setupLinkTitle')} text={t('auth.setupLinkText')}>
        {ssoName !== undefined && <SsoLink name={ssoName} />}
      </AccountCard>
    )
  if (!isRegistering && ssoName !== undefined && !usesPassword)
    return (
      <AccountCard title={t('auth.loginTitle')} text={purpose} error={refusal}>
        <SsoLink name={ssoName} primary />
        <Button tone="quiet" onClick={() => setUsesPassword(true)}>
          {t('auth.withPassword')}
        </Button>
      </AccountCard>
    )
  if (isForgotten) return <ForgottenForm onBack={() => setIsForgotten(false)} />
  if (!isRegistering)
    return (
      <LoginForm
        text={purpose}
        refusal={refusal}
        hasPasskeys={hasPasskeys}
        onRegister={canRegister ? () => setIsRegistering(true) : undefined}
      >
        {hasMail && (
          <Button tone="quiet" onClick={() => setIsForgotten(true)}>
            {t('auth.forgot')}
          </Button>
        )}
        {ssoName !== undefined && <SsoLink name={ssoName} />}
      </LoginForm>
    )
  return (
    <RegisterForm
      title={t(first ? 'auth.firstTitle' : 'auth.registerTitle')}
      text={first ? t('auth.firstText') : purpose}
    >
      {!first && (
        <Button tone="quiet" onClick={() => setIsRegistering(false)}>
          {t('auth.toLogin')}
        </Button>
      )}
    </RegisterForm>
  )
}

/** Why the single sign-on that returned to this page was refused. */
function useSsoRefusal(): string | undefined {
  const refusalText = useRefusalText()
  const [reason] = useState(() => REFUSED.exec(location.hash)?.[1])
  // Removes it from the URL, so that a reload does not show it again.
  useEffect(() => {
    if (reason !== undefined) history.replaceState(history.state, '', location.pathname)
  }, [reason])
  const known = useQuery({
    queryKey: ['refusal', reason],
    // Loaded on demand: only refused sign-ins need these texts.
    queryFn: async () => {
      const { ACCESS_FAILURES } = await import('../../../../server/protocol/failures/access.ts')
      const texts: Record<string, readonly [string, string]> = ACCESS_FAILURES
      return texts[reason ?? '']?.[1] ?? ACCESS_FAILURES.oidc_response_invalid[1]
    },
    enabled: reason !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  })
  return known.data === undefined ? undefined : refusalText({ reason, message: known.data })
}

/** A link, not a button, because the browser leaves the page. */
function SsoLink({ name, primary = false }: { name: string; primary?: boolean }) {
  const { t } = useTranslation()
  const from = pagePath() + location.search
  return (
    <a
      href={fromHost(`/api/auth/oidc/start?return_to=${encodeURIComponent(from)}`)}
      className={classNames(linkButtonClass, 'h-10', primary && 'font-semibold')}
    >
      <KeyRound size={16} aria-hidden />
      <span className="truncate">{t('auth.withSso', { name })}</span>
    </a>
  )
}

function LoginForm({
  text,
  refusal,
  hasPasskeys,
  onRegister,
  children,
}: {
  /** What the account is needed for. */
  text: string | undefined
  /** Why an earlier sign-in by another way was refused. */
  refusal: string | undefined
  hasPasskeys: boolean
  onRegister: (() => void) | undefined
  /** Other ways to sign in. */
  children: ReactNode
}) {
  const { t } = useTranslation()
  const login = useSignIn('login')
  const [username, setUsername] = useState('')
  const [password, setPassword] = useState('')
  const passkey = useSignIn('passkeys/sign-in')
  const [isCancelled, setIsCancelled] = useState(false)
  const second = secondFactorOf(login.error)
  if (second !== null) return <SecondFactorForm details={second} onBack={() => login.reset()} />
  const signInWithPasskey = () => {
    setIsCancelled(false)
    login.reset()
    askForPasskey()
      .then((given) => passkey.mutateAsync(given))
      .catch((error: unknown) => setIsCancelled(!(error instanceof ApiError)))
  }
  const failed = [login, passkey].find(({ isError }) => isError)
  const refused = isCancelled ? t('auth.passkeyFailed') : refusal
  return (
    <AccountCard
      title={t('auth.loginTitle')}
      text={text}
      error={failed === undefined ? refused : errorText(failed.error)}
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
      {hasPasskeys && 'PublicKeyCredential' in window && (
        <Button icon={Fingerprint} className="h-10" onClick={signInWithPasskey}>
          {t('auth.withPasskey')}
        </Button>
      )}
      {children}
      {onRegister !== undefined && (
        <Button tone="quiet" onClick={onRegister}>
          {t('auth.toRegister')}
        </Button>
      )}
    </AccountCard>
  )
}
