// The field for choosing a new password.
import { PASSWORD_LENGTH } from '../../../../server/protocol/accounts/password-length.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { TextField } from '../../ui/controls/field.tsx'

/** A password field with the rules for new passwords. */
export function NewPasswordField({
  label,
  value,
  onChange,
}: {
  label: string
  value: string
  onChange: (value: string) => void
}) {
  const { t } = useTranslation()
  return (
    <TextField
      label={label}
      field="password"
      hint={t('auth.passwordHint')}
      type="password"
      autoComplete="new-password"
      required
      minLength={PASSWORD_LENGTH.min}
      maxLength={PASSWORD_LENGTH.max}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  )
}
