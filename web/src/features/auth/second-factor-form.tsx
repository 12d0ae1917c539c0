// The second step of signing in: a code or a passkey.
import { Fingerprint } from 'lucide-react'
import { useState } from 'react'
import type { SecondFactorDetails } from '../../../../server/protocol/accounts/second-factor.ts'
import { useSignIn } from '../../lib/api/auth.ts'
import { askForPasskey } from '../../lib/api/second-factors.ts'
import { ApiError } from '../../lib/http/api-client.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { Button } from '../../ui/controls/button.tsx'
import { TextField } from '../../ui/controls/field.tsx'
import { errorText } from '../../ui/states/error-text.ts'
import { AccountCard } from './account-card.tsx'

/** The second factors that the refused sign-in asks for; null for other errors. */
export function secondFactorOf(error: unknown): SecondFactorDetails | null {
  if (!(error instanceof ApiError) || error.reason !== 'second_factor_required') return null
  return error.details as SecondFactorDetails // the server checked it against this schema
}

/** `details` came with the refusal of the password; `onDone` is called once the user is signed in. */
export function SecondFactorForm({
  details: { challenge, methods },
  onBack,
  onDone = () => undefined,
}: {
  details: SecondFactorDetails
  onBack: () => void
  onDone?: () => void
}) {
  const { t } = useTranslation()
  const signIn = useSignIn('login/second-factor')
  const [code, setCode] = useState('')
  const [isRefused, setIsRefused] = useState(false)
  const takesCode = methods.some((method) => method !== 'passkey')
  const usePasskey = () => {
    setIsRefused(false)
    askForPasskey(challenge)
      .then((passkey) => signIn.mutateAsync({ challenge, passkey }))
      .then(onDone, (error: unknown) => setIsRefused(!(error instanceof ApiError)))
  }
  const error = signIn.isError
    ? errorText(signIn.error)
    : isRefused
      ? t('auth.passkeyFailed')
      : undefined
  return (
    <AccountCard
      title={t('auth.secondTitle')}
      text={t(methods.includes('totp') ? 'auth.secondText' : 'auth.secondTextPasskey')}
      error={error}
      onSubmit={() => {
        // Signing in unmounts this form, which drops callbacks of `mutate`. An error is shown above.
        if (takesCode) signIn.mutateAsync({ challenge, code }).then(onDone, () => undefined)
      }}
    >
      {methods.includes('passkey') && (
        <Button icon={Fingerprint} className="h-10" onClick={usePasskey}>
          {t('auth.usePasskey')}
        </Button>
      )}
      {takesCode && (
        <>
          <TextField
            label={t(methods.includes('totp') ? 'auth.code' : 'auth.recoveryCode')}
            hint={t('auth.codeHint')}
            autoComplete="one-time-code"
            inputMode="text"
            autoFocus={!methods.includes('passkey')}
            required
            minLength={6}
            maxLength={40}
            value={code}
            onChange={(event) => setCode(event.target.value)}
          />
          <Button tone="primary" type="submit" className="mt-1 h-10" disabled={signIn.isPending}>
            {t('auth.login')}
          </Button>
        </>
      )}
      <Button tone="quiet" onClick={onBack}>
        {t('auth.toSignIn')}
      </Button>
    </AccountCard>
  )
}
