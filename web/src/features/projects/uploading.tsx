// The progress of an upload to a project, with a button that cancels it.
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { Button } from '../../ui/controls/button.tsx'
import { ProgressBar } from '../../ui/states/progress-bar.tsx'

/** `part` is the uploaded share, from 0 to 1; at 1 the server stores the files. */
export function Uploading({ part, onAbort }: { part: number; onAbort: () => void }) {
  const { t } = useTranslation()
  return (
    <div className="rounded-lg bg-hover/60 px-2.5 py-2">
      <div className="mb-1.5 flex items-center gap-2 text-note text-soft">
        <span className="min-w-0 flex-1">
          {t(part < 1 ? 'projects.uploading' : 'projects.storing')}
        </span>
        <Button tone="quiet" size="small" onClick={onAbort}>
          {t('common.cancel')}
        </Button>
      </div>
      <ProgressBar label={t('projects.uploading')} part={part} />
    </div>
  )
}
