// The user's shares: links, number of views, stop sharing.
import { Link2, Trash2 } from 'lucide-react'
import { useRevokeShare, useShares } from '../../lib/api/sharing.ts'
import { fullDay } from '../../lib/format.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { IconButton } from '../../ui/controls/button.tsx'
import { moveFocusOnRemoval } from '../../ui/controls/move-focus-on-removal.ts'
import { Facts } from '../../ui/facts.tsx'
import { errorText } from '../../ui/states/error-text.ts'
import { Empty, Failed, Loading } from '../../ui/states/feedback.tsx'
import { Section } from './section.tsx'

/** A tab of the settings. */
export function SharesSection() {
  const { t, i18n } = useTranslation()
  const shares = useShares()
  const revoke = useRevokeShare()
  const day = (time: string): string => fullDay(time, i18n.language)
  return (
    <Section title={t('share.list')} text={t('share.listText')}>
      {shares.isPending && <Loading />}
      {shares.isError && (
        <Failed message={errorText(shares.error)} onRetry={() => void shares.refetch()} />
      )}
      {shares.data?.length === 0 && <Empty icon={Link2} title={t('share.none')} />}
      <ul ref={moveFocusOnRemoval} className="-my-2 divide-y divide-line empty:hidden">
        {shares.data?.map((share) => (
          <li key={share.conversation_id} className="flex items-center gap-3 py-3">
            <div className="min-w-0 flex-1">
              {share.url === null ? (
                <>
                  <p dir="auto" className="truncate font-medium">
                    {share.title}
                  </p>
                  <p className="text-note text-bad">{t('share.unreadable')}</p>
                </>
              ) : (
                <a
                  href={share.url}
                  target="_blank"
                  rel="noreferrer"
                  dir="auto"
                  className="block truncate font-medium hover:underline"
                >
                  {share.title}
                </a>
              )}
              <p className="truncate text-note text-muted">
                <Facts
                  of={[
                    t('share.views', { count: share.views }),
                    ...(share.has_password ? [t('share.password')] : []),
                    ...(share.expires_at === null
                      ? []
                      : [t('share.until', { day: day(share.expires_at) })]),
                  ]}
                />
              </p>
            </div>
            <IconButton
              icon={Trash2}
              label={t('share.revokeOf', { title: share.title })}
              size="small"
              onClick={() => revoke.mutate(share.conversation_id)}
            />
          </li>
        ))}
      </ul>
    </Section>
  )
}
