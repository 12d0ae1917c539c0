// Storage used by all accounts together and by each account, largest first.

import type { StoredBytes } from '../../../../server/protocol/admin/server.ts'
import { storageKey, useStorage } from '../../lib/api/server.ts'
import { fileSize } from '../../lib/format.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { ShowMore } from '../../ui/controls/show-more.tsx'
import { Facts } from '../../ui/facts.tsx'
import { errorText } from '../../ui/states/error-text.ts'
import { Failed, Loading } from '../../ui/states/feedback.tsx'

const KINDS = ['projects', 'history', 'files', 'documents'] as const

/** A part of the server tab. Accounts without stored data are left out. */
export function Storage() {
  const { t, i18n } = useTranslation()
  const storage = useStorage()
  if (storage.isPending) return <Loading />
  if (storage.isLoadingError)
    return <Failed message={errorText(storage.error)} onRetry={() => void storage.refetch()} />
  const all = storage.data.pages[0]?.all
  if (all === undefined || all.total === 0)
    return <p className="text-sm text-muted">{t('admin.server.nothingStored')}</p>
  return (
    <>
      <ul className="divide-y divide-line rounded-2xl border border-line bg-surface px-4">
        <Row
          name={t('admin.server.allAccounts')}
          stored={all}
          used={fileSize(all.total, i18n.language)}
        />
        {storage.data.pages
          .flatMap(({ items }) => items)
          .map((account) => (
            <Row
              key={account.user_id}
              name={account.username}
              stored={account}
              used={t('admin.server.usedOf', {
                used: fileSize(account.total - account.history, i18n.language),
                limit: fileSize(account.limit, i18n.language),
              })}
            />
          ))}
      </ul>
      <ShowMore list={storage} queryKey={storageKey} />
    </>
  )
}

/** One row; kinds without stored data are left out. */
function Row({ name, stored, used }: { name: string; stored: StoredBytes; used: string }) {
  const { t, i18n } = useTranslation()
  return (
    <li className="py-3">
      <p className="flex flex-wrap items-baseline justify-between gap-x-3">
        <span className="min-w-0 font-medium wrap-anywhere">{name}</span>
        <bdi className="text-note tabular-nums text-soft">{used}</bdi>
      </p>
      <p className="text-note wrap-anywhere text-muted">
        <Facts
          of={KINDS.filter((kind) => stored[kind] > 0).map(
            (kind) =>
              `${t(`admin.server.stored.${kind}`)} ${fileSize(stored[kind], i18n.language)}`,
          )}
        />
      </p>
    </li>
  )
}
