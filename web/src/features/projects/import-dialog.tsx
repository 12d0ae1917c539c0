// Imports projects: says which files it takes, and shows what became of their parts.
import { ChevronRight } from 'lucide-react'
import { useRef, useState } from 'react'
import { useLocation } from 'wouter'
import type {
  ImportNote,
  ProjectImportReport,
} from '../../../../server/protocol/projects/project-import.ts'
import { useImportProject, useProject } from '../../lib/api/projects.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { paths } from '../../lib/paths.ts'
import { classNames } from '../../ui/class-names.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Dialog } from '../../ui/overlays/dialog.tsx'
import { ScrollRegion } from '../../ui/scroll-region.tsx'
import { errorText } from '../../ui/states/error-text.ts'
import { Failed, Loading } from '../../ui/states/feedback.tsx'
import { filesOfInput } from './api/upload.ts'
import { useDropTarget } from './use-drop-target.ts'

const KINDS = ['archive', 'librechat', 'openWebUi', 'cards'] as const
const OUTCOMES = ['changed', 'left_out', 'taken'] as const
const TONES = { taken: 'text-ok', changed: 'text-warn', left_out: 'text-muted' } as const

/** A dialog with two steps: choose a file, read the report. */
export function ImportDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation()
  const importing = useImportProject()
  const picker = useRef<HTMLInputElement>(null)
  const report = importing.data?.report
  const start = (file: File | undefined): void => {
    if (file !== undefined) importing.mutate(file)
  }
  const drop = useDropTarget((files) => start(files[0]?.file))
  if (report !== undefined) return <ReportDialog report={report} onClose={onClose} />
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={t('projects.import')}
      description={t('importing.text')}
      footer={
        <>
          <Button tone="quiet" onClick={onClose}>
            {t('common.cancel')}
          </Button>
          <Button
            tone="primary"
            disabled={importing.isPending}
            onClick={() => picker.current?.click()}
          >
            {t(importing.isPending ? 'projects.uploading' : 'importing.choose')}
          </Button>
        </>
      }
    >
      <input
        ref={picker}
        type="file"
        accept=".zip,.json,.png,.charx"
        hidden
        aria-label={t('importing.choose')}
        onChange={({ target }) => {
          const [chosen] = filesOfInput(target.files)
          // The same file can be chosen again after a refusal.
          target.value = ''
          start(chosen?.file)
        }}
      />
      <div
        className={classNames(
          'rounded-xl border border-dashed px-4 py-3 text-sm text-soft',
          drop.isOver ? 'border-accent bg-accent-soft' : 'border-line-strong',
        )}
        {...drop.handlers}
      >
        <ul className="flex list-disc flex-col gap-1 ps-4">
          {KINDS.map((kind) => (
            <li key={kind}>{t(`importing.${kind}`)}</li>
          ))}
        </ul>
      </div>
      {importing.isError && (
        <p role="alert" className="mt-3 rounded-lg bg-bad-soft px-3 py-2 text-sm text-bad">
          {errorText(importing.error)}
        </p>
      )}
    </Dialog>
  )
}

function ReportDialog({ report, onClose }: { report: ProjectImportReport; onClose: () => void }) {
  const { t } = useTranslation()
  const [, navigate] = useLocation()
  const [first] = report.projects
  const isAlone = report.projects.length === 1
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={t('importing.done')}
      footer={
        <>
          <Button tone="quiet" onClick={onClose}>
            {t('common.close')}
          </Button>
          {isAlone && first !== undefined && (
            <Button tone="primary" onClick={() => navigate(paths.project(first.id))}>
              <span className="max-w-64 truncate">{t('importing.open', { name: first.name })}</span>
            </Button>
          )}
        </>
      }
    >
      {report.skipped > 0 && (
        <p className="mb-3 text-sm text-muted">
          {t('importing.skipped', { number: report.skipped })}
        </p>
      )}
      <ul className="flex flex-col gap-3">
        {report.projects.map((project) => (
          <li key={project.id} className="rounded-xl border border-line p-3">
            <div className="flex items-center gap-2">
              <h3 className="min-w-0 flex-1 truncate font-medium">
                <bdi>{project.name}</bdi>
              </h3>
              {!isAlone && (
                <Button
                  size="small"
                  aria-label={t('importing.open', { name: project.name })}
                  onClick={() => navigate(paths.project(project.id))}
                >
                  {t('importing.openShort')}
                </Button>
              )}
            </div>
            <Notes notes={project.notes} />
            {project.notes.some(({ part }) => part === 'instructions') && (
              <Instructions id={project.id} />
            )}
          </li>
        ))}
      </ul>
    </Dialog>
  )
}

function Notes({ notes }: { notes: readonly ImportNote[] }) {
  const { t } = useTranslation()
  return OUTCOMES.map((outcome) => {
    const own = notes.filter((note) => note.outcome === outcome)
    if (own.length === 0) return null
    return (
      <section key={outcome} className="mt-2">
        <h4 className={`text-note font-medium ${TONES[outcome]}`}>
          {t(`importing.outcome.${outcome}`)}
        </h4>
        <ul className="mt-0.5 flex flex-col gap-0.5 text-sm">
          {own.map(({ part, reason, detail }) => (
            <li key={`${part} ${reason}`} className="[overflow-wrap:anywhere]">
              {t(`importing.part.${part}`)}
              {detail !== undefined && (
                <>
                  {' '}
                  <bdi className="font-mono text-code text-soft">{detail}</bdi>
                </>
              )}
              {reason !== undefined && (
                <span className="block text-note text-muted">
                  {t(`importing.reason.${reason}`)}
                </span>
              )}
            </li>
          ))}
        </ul>
      </section>
    )
  })
}

/** The instructions of a new project, which are read only when somebody asks. */
function Instructions({ id }: { id: string }) {
  const { t } = useTranslation()
  const [isOpen, setOpen] = useState(false)
  return (
    <div className="mt-3 border-t border-line pt-2">
      <p className="text-note text-muted">{t('importing.outside')}</p>
      <button
        type="button"
        aria-expanded={isOpen}
        className="touch-target mt-1 -ms-1 inline-flex h-8 items-center gap-1 rounded-md px-1 text-sm font-medium text-soft hover:text-ink"
        onClick={() => setOpen(!isOpen)}
      >
        <ChevronRight
          size={14}
          aria-hidden
          className={classNames('rtl:-scale-x-100', isOpen ? 'rotate-90' : '')}
        />
        {t('importing.read')}
      </button>
      {isOpen && <InstructionsText id={id} />}
    </div>
  )
}

function InstructionsText({ id }: { id: string }) {
  const { t } = useTranslation()
  const project = useProject(id)
  if (project.isPending) return <Loading />
  if (project.isError) return <Failed message={errorText(project.error)} />
  return (
    <ScrollRegion
      as="section"
      aria-label={t('project.instructions')}
      dir="auto"
      className="mt-1 max-h-64 overflow-y-auto rounded-lg bg-sunken p-3 font-sans text-sm whitespace-pre-wrap [overflow-wrap:anywhere]"
    >
      {project.data.instructions}
    </ScrollRegion>
  )
}
