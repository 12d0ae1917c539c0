// Fields for the limits of a quota; an empty field means no limit.

import type { Quota, QuotaKind } from '../../../../server/protocol/accounts/quota.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { TextField } from '../../ui/controls/field.tsx'

/** Storage is displayed in megabytes but stored in bytes. */
const BYTES_PER_MEGABYTE = 1024 * 1024
const unitOf = (kind: QuotaKind): number => (kind === 'storage' ? BYTES_PER_MEGABYTE : 1)
const isFraction = (kind: QuotaKind): boolean => kind.startsWith('cost')

/** `value` has a limit for each kind to show. */
export function QuotaFields<Kind extends QuotaKind>({
  kinds,
  value,
  onChange,
}: {
  kinds: readonly Kind[]
  value: Pick<Quota, Kind>
  onChange: (kind: Kind, limit: number | null) => void
}) {
  const { t } = useTranslation()
  return (
    <div className="mb-5 grid gap-3 sm:grid-cols-2">
      {kinds.map((kind) => {
        const limit = value[kind]
        const name: QuotaKind = kind
        return (
          <TextField
            key={kind}
            label={t(name === 'storage' ? 'quota.storageMegabytes' : `quota.kind.${name}`)}
            type="number"
            min={kind === 'requests_per_minute' ? 1 : 0}
            step={isFraction(kind) ? 'any' : 1}
            placeholder={t('quota.noLimit')}
            value={limit === null ? '' : limit / unitOf(kind)}
            onChange={({ target }) => {
              const number = target.value === '' ? null : Number(target.value) * unitOf(kind)
              onChange(kind, number === null || isFraction(kind) ? number : Math.round(number))
            }}
          />
        )
      })}
    </div>
  )
}
