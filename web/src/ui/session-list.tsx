// A list of sessions: device, last use, address, and a button that ends one.
import { LogOut, Monitor, Smartphone, SquareTerminal } from 'lucide-react'
import type { Session } from '../../../server/protocol/accounts/user.ts'
import { deviceOf } from '../lib/browser/device.ts'
import { fullTime } from '../lib/format.ts'
import { useTranslation } from '../lib/i18n/use-translation.tsx'
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
  const moment = (time: string): string => fullTime(time, i18n.language)
  const described = sessions.map((session) => {
    const { kind, program = t('sessions.program'), system } = deviceOf(session.user_agent)
    return {
      session,
      kind,
      name: [program, system].filter((part) => part !== undefined).join(' · '),
    }
  })
  /** Several sessions can be in the same browser, and even their last use can be the same. */
  const endLabel = ({ session, name }: (typeof described)[number]): string => {
    const alike = described.filter((one) => one.name === name && !one.session.current)
    const at = alike.findIndex((one) => one.session.id === session.id) + 1
    return t('sessions.end', {
      name: alike.length < 2 ? name : `${name} (${at}), ${moment(session.last_used_at)}`,
    })
  }
  return (
    <ul ref={moveFocusOnRemoval} className="-my-2 divide-y divide-line">
      {described.map((one) => {
        const { session, kind, name } = one
        const Icon = ICONS[kind]
        return (
          <li key={session.id} className="flex items-center gap-3 py-3">
            <Icon size={18} aria-hidden className="shrink-0 text-muted" />
            <div className="min-w-0 flex-1">
              <p className="truncate font-medium">{name}</p>
              <p className="text-note wrap-anywhere text-muted">
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
                label={endLabel(one)}
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
