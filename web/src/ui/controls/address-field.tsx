// Text fields for email addresses and URLs. The browser checks them before it submits the form, in its own language.
import type { ComponentProps } from 'react'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { TextField } from './field.tsx'

/** `type="email"` alone also accepts `name@host`, which the server refuses. */
const EMAIL_PATTERN = '[^@\\s]+@[^@\\s]+\\.[A-Za-z]{2,}'
/** `type="url"` alone accepts every scheme. */
const URL_PATTERN = '[Hh][Tt][Tt][Pp][Ss]?://.+'

type AddressFieldProps = Omit<ComponentProps<typeof TextField>, 'type' | 'pattern' | 'title'>

/** A field for an email address; with `multiple`, for several addresses separated by commas. */
export function EmailField(props: AddressFieldProps) {
  const { t } = useTranslation()
  return <TextField type="email" pattern={EMAIL_PATTERN} title={t('common.emailRule')} {...props} />
}

/** A field for an `http:` or `https:` URL. */
export function UrlField(props: AddressFieldProps) {
  const { t } = useTranslation()
  return (
    <TextField
      type="url"
      pattern={URL_PATTERN}
      title={t('common.urlRule')}
      placeholder="https://"
      {...props}
    />
  )
}
