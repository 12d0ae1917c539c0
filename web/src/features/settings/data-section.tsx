// The user's data: what is stored, export everything as an archive, and import conversations.
import type { UseQueryResult } from '@tanstack/react-query'
import { Download, PackageOpen, Upload } from 'lucide-react'
import { useRef } from 'react'
import type { ImportJob } from '../../../../server/protocol/conversations/transfer.ts'
import {
  isActive,
  useExportJob,
  useImportJob,
  useSaveExport,
  useStartExport,
  useStartImport,
} from '../../lib/api/transfers.ts'
import { fileSize, fullTime, gapAfter } from '../../lib/format.ts'
import { refusalText } from '../../lib/http/refusal-text.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { Button } from '../../ui/controls/button.tsx'
import { errorText } from '../../ui/states/error-text.ts'
import { Failed } from '../../ui/states/feedback.tsx'
import { ProgressBar } from '../../ui/states/progress-bar.tsx'
import { ImportReportView } from './import-report.tsx'
import { Section } from './section.tsx'
import { StorageSection } from './storage-section.tsx'

/** A tab of the settings. Export and import are jobs of the server, which continue when the user leaves the page. */
export function DataSection() {
  return (
    <>
      <StorageSection />
      <ExportSection />
      <ImportSection />
    </>
  )
}

function ExportSection() {
  const { t, i18n } = useTranslation()
  const newest = useExportJob()
  const job = newest.data
  const start = useStartExport()
  const save = useSaveExport()
  const active = isActive(job ?? undefined)
  return (
    <Section id="export" title={t('data.export')} text={t('data.exportText')}>
      <div className="flex flex-col gap-3">
        <LoadFailure of={newest} />
        {active && job != null && (
          <Progress
            label={t('data.exporting')}
            done={job.progress.done}
            total={job.progress.total}
          />
        )}
        {job?.status === 'failed' && <JobFailure job={job} label={t('data.exportFailed')} />}
        {job?.status === 'completed' && (
          <p role="status" className="text-sm">
            {t('data.ready', {
              size: fileSize(job.size ?? 0, i18n.language),
              until: fullTime(job.expires_at ?? job.created_at, i18n.language),
            })}
          </p>
        )}
        <div className="flex flex-wrap gap-2">
          {job?.status === 'completed' && (
            <Button
              tone="primary"
              icon={Download}
              disabled={save.isPending}
              onClick={() => save.mutate(job)}
            >
              {t('data.save')}
            </Button>
          )}
          <Button
            icon={PackageOpen}
            disabled={active || start.isPending}
            onClick={() => start.mutate(null)}
          >
            {t('data.exportAll')}
          </Button>
        </div>
        <p className="text-note text-muted">{t('data.exportNote')}</p>
      </div>
    </Section>
  )
}

function ImportSection() {
  const { t } = useTranslation()
  const newest = useImportJob()
  const job = newest.data
  const start = useStartImport()
  const input = useRef<HTMLInputElement>(null)
  const active = isActive(job ?? undefined)
  return (
    <Section id="import" title={t('data.import')} text={t('data.importText')}>
      <div className="flex flex-col gap-3">
        <LoadFailure of={newest} />
        {active && job != null && (
          <Progress
            label={t('data.importing', { name: job.name })}
            done={job.progress.done}
            total={job.progress.total}
          />
        )}
        {start.isPending && (
          <p role="status" className="text-sm text-muted">
            {t('data.uploading')}
          </p>
        )}
        {job?.status === 'failed' && (
          <JobFailure job={job} label={t('data.importFailed', { name: job.name })} />
        )}
        {job?.report != null && !active && <ImportReportView job={job} report={job.report} />}
        <input
          ref={input}
          type="file"
          accept=".zip,.json,.db,.sqlite,.sqlite3"
          hidden
          onChange={(event) => {
            const [file] = event.target.files ?? []
            // Allows choosing the same file again.
            event.target.value = ''
            if (file !== undefined) start.mutate(file)
          }}
        />
        <div>
          <Button
            icon={Upload}
            disabled={active || start.isPending}
            onClick={() => input.current?.click()}
          >
            {t('data.choose')}
          </Button>
        </div>
        <p className="text-note text-muted">{t('data.importNote')}</p>
      </div>
    </Section>
  )
}

/** Without it, a section whose job cannot be loaded would look as if there was none. */
function LoadFailure({ of: { isLoadingError, error, refetch } }: { of: UseQueryResult }) {
  return isLoadingError && <Failed message={errorText(error)} onRetry={() => void refetch()} />
}

function Progress({ label, done, total }: { label: string; done: number; total: number }) {
  const part = total === 0 ? 0 : Math.min(1, done / total)
  return (
    <div className="flex flex-col gap-1.5">
      <p dir="auto" className="truncate text-sm">
        {label}
      </p>
      <ProgressBar label={label} part={part} />
    </div>
  )
}

function JobFailure({
  job,
  label,
}: {
  job: Pick<ImportJob, 'error' | 'reason' | 'params'>
  label: string
}) {
  return (
    <p role="alert" className="text-sm text-bad">
      {label}
      {gapAfter(label)}
      {refusalText({
        reason: job.reason ?? undefined,
        message: job.error ?? '',
        ...(job.params === undefined ? {} : { params: job.params }),
      })}
    </p>
  )
}
