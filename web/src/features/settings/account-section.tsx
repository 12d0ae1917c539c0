// The user's account: name, email address, password, sign-out.

import { LogOut } from 'lucide-react'
import { useState } from 'react'
import { PASSWORD_LENGTH } from '../../../../server/protocol/accounts/password-length.ts'
import type { User } from '../../../../server/protocol/accounts/user.ts'
import { usePatchProfile, useSignOut } from '../../lib/api/auth.ts'
import { joinSentences } from '../../lib/i18n/sentences.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { Button } from '../../ui/controls/button.tsx'
import { TextField } from '../../ui/controls/field.tsx'
import { Switch } from '../../ui/controls/switch.tsx'
import { notify } from '../../ui/overlays/toasts.ts'
import { ApiKeysSection } from './api-keys-section.tsx'
import { EmailSection } from './email-section.tsx'
import { SecondFactorSection } from './second-factor-section.tsx'
import { Section } from './section.tsx'
import { SessionsSection } from './sessions-section.tsx'

/** A tab of the settings. `multi`: whether there are accounts; without them there is no password. */
export function AccountSection({ user, multi }: { user: User | undefined; multi: boolean }) {
  const { t, i18n } = useTranslation()
  const patch = usePatchProfile()
  const signOut = useSignOut()
  const [current, setCurrent] = useState('')
  const [password, setPassword] = useState('')
  const [revokeKeys, setRevokeKeys] = useState(false)
  return (
    <>
      <Section
        title={t('settings.tab.account')}
        action={
          multi && (
            <Button size="small" icon={LogOut} onClick={() => signOut.mutate()}>
              {t('auth.logout')}
            </Button>
          )
        }
      >
        <p className="font-medium">{user?.username}</p>
        <p className="mt-0.5 text-sm text-muted">
          {multi && user !== undefined
            ? t(user.role === 'admin' ? 'admin.roleAdmin' : 'admin.roleUser')
            : t('settings.single')}
        </p>
      </Section>
      {multi && user !== undefined && <EmailSection user={user} />}
      {multi && (
        <Section id="password" title={t('settings.password')} text={t('settings.passwordText')}>
          <form
            className="flex flex-col gap-4"
            onSubmit={(event) => {
              event.preventDefault()
              patch.mutate(
                { password, current_password: current, revoke_keys: revokeKeys },
                {
                  onSuccess: ({ api_keys: keys }) => {
                    const changed = t('settings.passwordChanged')
                    notify(
                      keys === 0
                        ? changed
                        : joinSentences(
                            i18n.language,
                            changed,
                            t('settings.keysKept', { count: keys }),
                          ),
                      'success',
                    )
                    setCurrent('')
                    setPassword('')
                    setRevokeKeys(false)
                  },
                },
              )
            }}
          >
            <TextField
              label={t('settings.currentPassword')}
              type="password"
              autoComplete="current-password"
              required
              value={current}
              onChange={(event) => setCurrent(event.target.value)}
            />
            <TextField
              label={t('settings.newPassword')}
              type="password"
              autoComplete="new-password"
              required
              minLength={PASSWORD_LENGTH.min}
              value={password}
              onChange={(event) => setPassword(event.target.value)}
            />
            <Switch
              label={t('settings.revokeKeys')}
              hint={t('settings.revokeKeysHint')}
              checked={revokeKeys}
              onChange={setRevokeKeys}
            />
            <div className="flex justify-end">
              <Button
                tone="primary"
                type="submit"
                disabled={current === '' || password === '' || patch.isPending}
              >
                {t('common.save')}
              </Button>
            </div>
          </form>
        </Section>
      )}
      {multi && <SecondFactorSection />}
      {multi && <SessionsSection />}
      {multi && <ApiKeysSection />}
    </>
  )
}
