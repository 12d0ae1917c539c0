// Asking for a link for a new password by email.
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useForgottenPassword } from '../../lib/api/auth.ts'
import { Button } from '../../ui/controls/button.tsx'
import { TextField } from '../../ui/controls/field.tsx'
import { errorText } from '../../ui/states/error-text.ts'
import { AccountCard } from './account-card.tsx'

/** In place of the sign-in form. The text is the same whether or not an account has the address. */
export function ForgottenForm({ onBack }: { onBack: () => void }) {
  const { t } = useTranslation()
  const ask = useForgottenPassword()
  const [email, setEmail] = useState('')
  return (
    <AccountCard
      title={t('auth.forgot')}
      text={t(ask.isSuccess ? 'auth.linkSent' : 'auth.forgotText')}
      error={ask.isError ? errorText(ask.error) : undefined}
      onSubmit={() => ask.mutate(email)}
    >
      {!ask.isSuccess && (
        <>
          <TextField
            label={t('auth.email')}
            type="email"
            autoComplete="email"
            required
            maxLength={255}
            value={email}
            onChange={(event) => setEmail(event.target.value)}
          />
          <Button tone="primary" type="submit" className="h-10" disabled={ask.isPending}>
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
