// The report of an import: what was imported, and what was left out and why.

import type { ImportJob, ImportReport } from '../../../../server/protocol/conversations/transfer.ts'
import { refusalText } from '../../lib/http/refusal-text.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { keyed } from '../../lib/list-keys.ts'

const COUNTED = ['conversations', 'messages', 'files', 'projects', 'documents', 'skills'] as const
/** Further entries are only counted. */
const MAX_LISTED = 100

/** `report` is that of the finished `job`. */
export function ImportReportView({ job, report }: { job: ImportJob; report: ImportReport }) {
  const { t, i18n } = useTranslation()
  /** The number that selects the plural form, and its formatted text. */
  const counted = (count: number) => ({
    count,
    replace: { count: count.toLocaleString(i18n.language) },
  })
  const imported = COUNTED.flatMap((what) => {
    const count = report[what] ?? 0
    return count > 0 ? [t(`data.counts.${what}`, counted(count))] : []
  })
  const hidden = report.skipped_total - Math.min(report.skipped.length, MAX_LISTED)
  return (
    <div role="status" className="flex flex-col gap-2 text-sm">
      {(imported.length > 0 || job.status !== 'failed') && (
        <p dir="auto" className="[overflow-wrap:anywhere]">
          {t(imported.length === 0 ? 'data.nothingNew' : 'data.imported', {
            name: job.name,
            what: imported.join(t('data.separator')),
          })}
        </p>
      )}
      {report.skipped_total > 0 && (
        <details>
          <summary className="cursor-pointer text-soft">
            {t('data.skipped', counted(report.skipped_total))}
          </summary>
          <ul className="mt-2 max-h-72 divide-y divide-line overflow-y-auto text-note">
            {keyed(report.skipped.slice(0, MAX_LISTED), ({ what }) => what).map(
              ({ key, item: { what, why, reason, params } }) => (
                <li key={key} className="flex flex-col py-1.5">
                  <span dir="auto" className="font-medium [overflow-wrap:anywhere]">
                    {what}
                  </span>
                  <span className="text-muted">
                    {refusalText({
                      reason,
                      message: why,
                      ...(params === undefined ? {} : { params }),
                    })}
                  </span>
                </li>
              ),
            )}
            {hidden > 0 && <li className="py-1.5 text-muted">{t('data.more', counted(hidden))}</li>}
          </ul>
        </details>
      )}
    </div>
  )
}
