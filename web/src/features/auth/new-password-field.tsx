// The field for choosing a new password.
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
      minLength={8}
      maxLength={200}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  )
}
