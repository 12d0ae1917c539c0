// Where the user is signed in, and signing out there.
import { LogOut, Monitor, Smartphone, SquareTerminal } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { useEndSession, useSessions } from '../../lib/api/auth.ts'
import { deviceOf } from '../../lib/device.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { errorText } from '../../ui/error-text.ts'
import { Failed, Loading } from '../../ui/feedback.tsx'
import { Section } from './section.tsx'

const ICONS = { phone: Smartphone, computer: Monitor, program: SquareTerminal } as const

export function SessionsSection() {
  const { t, i18n } = useTranslation()
  const sessions = useSessions()
  const end = useEndSession()
  const moment = (time: string): string =>
    new Date(time).toLocaleString(i18n.language, { dateStyle: 'medium', timeStyle: 'short' })
  const others = sessions.data?.filter(({ current }) => !current) ?? []
  return (
    <Section
      title={t('sessions.title')}
      text={t('sessions.text')}
      action={
        others.length > 0 && (
          <Button size="small" disabled={end.isPending} onClick={() => end.mutate('others')}>
            {t('sessions.endOthers')}
          </Button>
        )
      }
    >
      {sessions.isPending && <Loading />}
      {sessions.isError && (
        <Failed message={errorText(sessions.error)} onRetry={() => void sessions.refetch()} />
      )}
      <ul className="-my-2 divide-y divide-line">
        {sessions.data?.map((session) => {
          const device = deviceOf(session.user_agent)
          const Icon = ICONS[device.kind]
          const name = [device.program ?? t('sessions.program'), device.system]
            .filter((part) => part !== undefined)
            .join(' · ')
          return (
            <li key={session.id} className="flex items-center gap-3 py-3">
              <Icon size={18} aria-hidden className="shrink-0 text-muted" />
              <div className="min-w-0 flex-1">
                <p className="truncate font-medium">{name}</p>
                <p className="text-[13px] wrap-anywhere text-muted">
                  {session.current
                    ? t('sessions.current')
                    : t('sessions.lastUsed', { time: moment(session.last_used_at) })}
                  {' · '}
                  {session.address}
                </p>
              </div>
              {!session.current && (
                <IconButton
                  icon={LogOut}
                  label={t('sessions.end', { name })}
                  size="small"
                  onClick={() => end.mutate(session.id)}
                />
              )}
            </li>
          )
        })}
      </ul>
    </Section>
  )
}
