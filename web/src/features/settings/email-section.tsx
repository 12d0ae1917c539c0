// The email address of the user's account: add, change, remove and confirm it.
import { useRef, useState } from 'react'
import type { User } from '../../../../server/protocol/accounts/user.ts'
import { useAuthMode, useConfirmation, usePatchProfile } from '../../lib/api/auth.ts'
import { ApiError } from '../../lib/http/api-client.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { EmailField } from '../../ui/controls/address-field.tsx'
import { Button } from '../../ui/controls/button.tsx'
import { TextField } from '../../ui/controls/field.tsx'
import { notify } from '../../ui/overlays/toasts.ts'
import { Section } from './section.tsx'

/** Refusals that the right current password resolves. */
const PASSWORD_REASONS: readonly unknown[] = ['email_needs_password', 'current_password_wrong']

/** A part of the account tab. Confirmation is available only if the server sends email. */
export function EmailSection({ user }: { user: User }) {
  const { t } = useTranslation()
  const mode = useAuthMode()
  const patch = usePatchProfile()
  /** Null while it equals the stored address. */
  const [draft, setDraft] = useState<string | null>(null)
  const [password, setPassword] = useState('')
  const passwordField = useRef<HTMLInputElement>(null)
  const sendsMail = mode.data?.mail === true
  const { state, request } = useConfirmation(sendsMail && user.email !== null)
  const email = draft ?? user.email ?? ''
  const newEmail = email.trim() === '' ? null : email.trim()
  const isChanged = newEmail !== user.email
  const isUnconfirmed = user.email !== null && state.data?.is_confirmed === false

  const askToConfirm = (address: string) =>
    request.mutate(undefined, {
      onSuccess: ({ is_confirmed: isConfirmed }) =>
        isConfirmed
          ? notify(t('settings.emailSaved'), 'success')
          : notify(t('settings.confirmSent', { address }), 'success'),
    })
  const save = () =>
    patch.mutate(
      { email: newEmail, ...(password === '' ? {} : { current_password: password }) },
      {
        onSuccess: () => {
          setDraft(null)
          setPassword('')
          if (sendsMail && newEmail !== null) askToConfirm(newEmail)
          else notify(t('settings.emailSaved'), 'success')
        },
        onError: (error) => {
          if (error instanceof ApiError && PASSWORD_REASONS.includes(error.reason))
            passwordField.current?.focus()
        },
      },
    )
  return (
    <Section
      id="email"
      title={t('settings.email')}
      text={t(sendsMail ? 'settings.emailText' : 'settings.emailTextNoMail')}
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          save()
        }}
      >
        <EmailField
          label={t('auth.email')}
          autoComplete="email"
          maxLength={255}
          value={email}
          onChange={(event) => setDraft(event.target.value)}
        />
        {isChanged && sendsMail && (
          // Not required, because accounts of single sign-on may have none.
          <TextField
            ref={passwordField}
            label={t('settings.currentPassword')}
            type="password"
            autoComplete="current-password"
            value={password}
            onChange={(event) => setPassword(event.target.value)}
          />
        )}
        <div className="flex flex-wrap justify-end gap-2">
          {isUnconfirmed && !isChanged && (
            <Button disabled={request.isPending} onClick={() => askToConfirm(email)}>
              {t('settings.confirmEmail')}
            </Button>
          )}
          <Button tone="primary" type="submit" disabled={!isChanged || patch.isPending}>
            {t('common.save')}
          </Button>
        </div>
      </form>
    </Section>
  )
}
