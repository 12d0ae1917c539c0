// The form that requests a link for a new password by email.
import { useState } from 'react'
import { useForgottenPassword } from '../../lib/api/auth.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { EmailField } from '../../ui/controls/address-field.tsx'
import { Button } from '../../ui/controls/button.tsx'
import { errorText } from '../../ui/states/error-text.ts'
import { AccountCard } from './account-card.tsx'

/** Replaces the sign-in form. Its text is the same whether or not an account has the address. */
export function ForgottenForm({ onBack }: { onBack: () => void }) {
  const { t } = useTranslation()
  const requestLink = useForgottenPassword()
  const [email, setEmail] = useState('')
  return (
    <AccountCard
      title={t('auth.forgot')}
      text={t(requestLink.isSuccess ? 'auth.linkSent' : 'auth.forgotText')}
      error={requestLink.isError ? errorText(requestLink.error) : undefined}
      onSubmit={() => requestLink.mutate(email)}
    >
      {!requestLink.isSuccess && (
        <>
          <EmailField
            label={t('auth.email')}
            autoComplete="email"
            required
            maxLength={255}
            value={email}
            onChange={(event) => setEmail(event.target.value)}
          />
          <Button tone="primary" type="submit" className="h-10" disabled={requestLink.isPending}>
            {t('auth.sendLink')}
          </Button>
        </>
      )}
      <Button tone="quiet" onClick={onBack}>
        {t('auth.toSignIn')}
      </Button>
    </AccountCard>
  )
}
