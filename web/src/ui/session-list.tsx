// A list of sessions: device, last use, address, and a button that ends one.
import { LogOut, Monitor, Smartphone, SquareTerminal } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import type { Session } from '../../../server/protocol/accounts/user.ts'
import { deviceOf } from '../lib/browser/device.ts'
import { IconButton } from './controls/button.tsx'
import { moveFocusOnRemoval } from './controls/move-focus-on-removal.ts'
import { Facts } from './facts.tsx'

const ICONS = { phone: Smartphone, computer: Monitor, program: SquareTerminal } as const

/** Lists sessions and marks the current one, which has no button. `onEnd` receives the id of a session. */
export function SessionList({
  sessions,
  onEnd,
}: {
  sessions: readonly Session[]
  onEnd: (id: string) => void
}) {
  const { t, i18n } = useTranslation()
  const moment = (time: string): string =>
    new Date(time).toLocaleString(i18n.language, { dateStyle: 'medium', timeStyle: 'short' })
  return (
    <ul ref={moveFocusOnRemoval} className="-my-2 divide-y divide-line">
      {sessions.map((session) => {
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
                <Facts
                  of={[
                    session.current
                      ? t('sessions.current')
                      : t('sessions.lastUsed', { time: moment(session.last_used_at) }),
                    session.address,
                  ]}
                />
              </p>
            </div>
            {!session.current && (
              <IconButton
                icon={LogOut}
                label={t('sessions.end', { name })}
                size="small"
                onClick={() => onEnd(session.id)}
              />
            )}
          </li>
        )
      })}
    </ul>
  )
}
