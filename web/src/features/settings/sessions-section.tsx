// The user's sessions on all devices, and ending them.

import { useEndSession, useSessions } from '../../lib/api/auth.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { Button } from '../../ui/controls/button.tsx'
import { SessionList } from '../../ui/session-list.tsx'
import { errorText } from '../../ui/states/error-text.ts'
import { Failed, Loading } from '../../ui/states/feedback.tsx'
import { Section } from './section.tsx'

/** A part of the account tab. */
export function SessionsSection() {
  const { t } = useTranslation()
  const sessions = useSessions()
  const end = useEndSession()
  const others = sessions.data?.filter(({ current }) => !current) ?? []
  return (
    <Section
      id="sessions"
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
      <SessionList sessions={sessions.data ?? []} onEnd={(id) => end.mutate(id)} />
    </Section>
  )
}
