// The form that creates an account, in open registration or with a link.
import { type ReactNode, useState } from 'react'
import { useSignIn } from '../../lib/api/auth.ts'
import { useChangeServerSettings } from '../../lib/api/server.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { EmailField } from '../../ui/controls/address-field.tsx'
import { Button } from '../../ui/controls/button.tsx'
import { SelectField, TextField } from '../../ui/controls/field.tsx'
import { FieldFaults, useRemainingError } from '../../ui/states/field-faults.tsx'
import { AccountCard } from './account-card.tsx'
import { NewPasswordField } from './new-password-field.tsx'

const CHOICES = ['invite', 'open', 'closed'] as const
type WhoRegisters = (typeof CHOICES)[number]

/**
 * `link` is the token of an invitation or setup link; without one, registration must be open. `onDone` is called once the
 * account exists and is signed in.
 */
export function RegisterForm(props: RegisterFormProps) {
  const register = useSignIn('register')
  return (
    <FieldFaults error={register.error}>
      <RegisterFields {...props} register={register} />
    </FieldFaults>
  )
}

type RegisterFormProps = {
  title: string
  text?: string | undefined
  /** The token of a setup or invitation link. */
  link?: string
  /** Whether the account is the administrator's, who has not decided yet who else may register. */
  asksWhoRegisters?: boolean
  onDone?: () => void
  /** Content below the button. */
  children?: ReactNode
}

function RegisterFields({
  title,
  text,
  link,
  asksWhoRegisters = false,
  onDone,
  children,
  register,
}: RegisterFormProps & { register: ReturnType<typeof useSignIn<'register'>> }) {
  const { t } = useTranslation()
  const settings = useChangeServerSettings()
  const error = useRemainingError(register.error)
  const [username, setUsername] = useState('')
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [whoRegisters, setWhoRegisters] = useState<WhoRegisters>('invite')
  return (
    <AccountCard
      title={title}
      text={text}
      error={error}
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
        field="username"
        hint={t('auth.usernameHint')}
        pattern="[\p{L}\p{N}_.@\-]+"
        title={t('auth.usernameHint')}
        autoComplete="username"
        required
        minLength={2}
        maxLength={50}
        value={username}
        onChange={(event) => setUsername(event.target.value)}
      />
      <EmailField
        label={t('auth.email')}
        field="email"
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
