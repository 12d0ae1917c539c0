// The form that creates an account, in open registration or with a link.
import { type ReactNode, useState } from 'react'
import { useSignIn } from '../../lib/api/auth.ts'
import { useChangeServerSettings } from '../../lib/api/server.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { EmailField } from '../../ui/controls/address-field.tsx'
import { Button } from '../../ui/controls/button.tsx'
import { SelectField, TextField } from '../../ui/controls/field.tsx'
import { errorText } from '../../ui/states/error-text.ts'
import { AccountCard } from './account-card.tsx'
import { NewPasswordField } from './new-password-field.tsx'

const CHOICES = ['invite', 'open', 'closed'] as const
type WhoRegisters = (typeof CHOICES)[number]

/**
 * `link` is the token of an invitation or setup link; without one, registration must be open. `onDone` is called once the
 * account exists and is signed in.
 */
export function RegisterForm({
  title,
  text,
  link,
  asksWhoRegisters = false,
  onDone,
  children,
}: {
  title: string
  text?: string | undefined
  /** The token of a setup or invitation link. */
  link?: string
  /** Whether the account is the administrator's, who has not decided yet who else may register. */
  asksWhoRegisters?: boolean
  onDone?: () => void
  /** Content below the button. */
  children?: ReactNode
}) {
  const { t } = useTranslation()
  const register = useSignIn('register')
  const settings = useChangeServerSettings()
  const [username, setUsername] = useState('')
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [whoRegisters, setWhoRegisters] = useState<WhoRegisters>('invite')
  return (
    <AccountCard
      title={title}
      text={text}
      error={register.isError ? errorText(register.error) : undefined}
      onSubmit={() => {
        const account = { username, password, ...(email === '' ? {} : { email }) }
        // Signing in unmounts this form, which drops callbacks of `mutate`. An error is shown above.
        register.mutateAsync({ ...account, ...(link && { link }) }).then(
          () => {
            if (asksWhoRegisters) settings.mutate({ registration: whoRegisters })
            onDone?.()
          },
          () => undefined,
        )
      }}
    >
      <TextField
        label={t('auth.username')}
        autoComplete="username"
        required
        minLength={2}
        maxLength={50}
        value={username}
        onChange={(event) => setUsername(event.target.value)}
      />
      <EmailField
        label={t('auth.email')}
        hint={t('common.optional')}
        autoComplete="email"
        value={email}
        onChange={(event) => setEmail(event.target.value)}
      />
      <NewPasswordField label={t('auth.password')} value={password} onChange={setPassword} />
      {asksWhoRegisters && (
        <SelectField
          label={t('admin.server.registration')}
          value={whoRegisters}
          options={CHOICES.map((value) => ({ value, label: t(`admin.server.${value}`) }))}
          onChange={({ target: { value } }) =>
            setWhoRegisters(CHOICES.find((choice) => choice === value) ?? 'invite')
          }
        />
      )}
      <Button tone="primary" type="submit" className="mt-1 h-10" disabled={register.isPending}>
        {t('auth.register')}
      </Button>
      {children}
    </AccountCard>
  )
}
