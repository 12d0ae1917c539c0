// What the user stores, by kind, and where each can be deleted.
import { Link } from 'wouter'
import type { StorageUse } from '../../../../server/protocol/accounts/quota.ts'
import { useStorageUse } from '../../lib/api/quota.ts'
import { fileSize, wholeNumber } from '../../lib/format.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { paths } from '../../lib/paths.ts'
import { Facts } from '../../ui/facts.tsx'
import { errorText } from '../../ui/states/error-text.ts'
import { Failed, Loading } from '../../ui/states/feedback.tsx'
import { ProgressBar } from '../../ui/states/progress-bar.tsx'
import { Section } from './section.tsx'

type Item = StorageUse['items'][number]

/** The pages where a kind can be deleted; the others are in the list of conversations, or need no deletion. */
const PLACES: Partial<Record<Item['kind'], string>> = {
  projects: paths.projects,
  documents: paths.projects,
  shares: paths.settingsTab('shares'),
}

/** A section of the data tab, largest kind first. */
export function StorageSection() {
  const { t, i18n } = useTranslation()
  const storage = useStorageUse()
  const title = t('quota.kind.storage')
  const size = (bytes: number): string => fileSize(bytes, i18n.language)
  if (storage.data === undefined)
    return (
      <Section id="storage" title={title}>
        {storage.isPending ? (
          <Loading />
        ) : (
          <Failed message={errorText(storage.error)} onRetry={() => void storage.refetch()} />
        )}
      </Section>
    )
  const { limit, used, used_with_texts: total, items } = storage.data
  return (
    <Section id="storage" title={title} text={t('data.storageText', { total: size(total) })}>
      <p className="mb-2 font-medium tabular-nums">
        {t('quota.usedOf', { used: size(used), limit: size(limit) })}
      </p>
      <ProgressBar label={title} part={limit === 0 ? 1 : Math.min(1, used / limit)} />
      <ul className="mt-2 -mb-3 divide-y divide-line">
        {items
          .toSorted((one, other) => other.bytes - one.bytes)
          .map((item) => (
            <Row key={item.kind} item={item} size={size(item.bytes)} />
          ))}
      </ul>
    </Section>
  )
}

function Row({ item: { kind, count }, size }: { item: Item; size: string }) {
  const { t, i18n } = useTranslation()
  const place = PLACES[kind]
  const name = useKindName(kind)
  return (
    <li className="py-3">
      <p className="flex flex-wrap items-baseline justify-between gap-x-3">
        {place === undefined ? (
          <span className="font-medium">{name}</span>
        ) : (
          <Link href={place} className="font-medium underline-offset-4 hover:underline">
            {name}
          </Link>
        )}
        <span className="text-note tabular-nums text-soft">
          <Facts of={[...(count === null ? [] : [wholeNumber(count, i18n.language)]), size]} />
        </span>
      </p>
      <p className="text-note text-muted">{t(`data.stored.${kind}`)}</p>
    </li>
  )
}

function useKindName(kind: Item['kind']): string {
  const { t } = useTranslation()
  if (kind === 'conversations') return t('conversations.views.current')
  if (kind === 'shares') return t('settings.tab.shares')
  return t(`admin.server.stored.${kind}`)
}
