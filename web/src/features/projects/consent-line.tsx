// A line beside a conversation: instructions for the agent in its project wait for the person to read them.
import { ShieldQuestion } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useConsent } from '../../lib/api/skills.ts'
import { focusMessageField } from '../../lib/browser/focus-message-field.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { classNames } from '../../ui/class-names.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Dialog } from '../../ui/overlays/dialog.tsx'
import { ConsentList } from './consent-cards.tsx'

/** Nothing when nothing waits. Without this line, a conversation would go on without what the project tells the agent. */
export function ConsentLine({
  projectId,
  isBox = false,
}: {
  projectId: string
  /** Whether it stands among other things, instead of below a header. */
  isBox?: boolean
}) {
  const { t } = useTranslation()
  const { data = [] } = useConsent(projectId)
  /** The versions that waited when the person pressed `Read`; null while the dialog is closed. */
  const [reading, setReading] = useState<readonly string[] | null>(null)
  const [first] = data
  const isDone = reading !== null && first === undefined
  useEffect(() => {
    if (!isDone) return
    // What comes next opens nothing by itself, and the button that opened the dialog has gone with the line.
    setReading(null)
    focusMessageField(document.activeElement)
  }, [isDone])
  return (
    <>
      {first !== undefined && (
        <aside
          aria-label={t('consent.title')}
          className={classNames(
            'shrink-0 border-warn/40 bg-warn-soft py-1.5 text-note text-warn',
            isBox ? 'mt-3 rounded-2xl border' : 'border-b',
          )}
        >
          <div className="mx-auto flex max-w-3xl items-center gap-2 px-5 max-sm:px-4">
            <ShieldQuestion size={15} aria-hidden className="shrink-0" />
            <p className="min-w-0 flex-1 wrap-anywhere">
              {data.length > 1
                ? t('consent.title')
                : t(first.accepted_sha256 === null ? 'consent.new' : 'consent.changed', {
                    name: first.name ?? first.path,
                  })}
            </p>
            <Button size="small" onClick={() => setReading(data.map(({ sha256 }) => sha256))}>
              {t('consent.read')}
            </Button>
          </div>
        </aside>
      )}
      <Dialog
        open={reading !== null && !isDone}
        onOpenChange={() => setReading(null)}
        title={t('consent.title')}
        width="wide"
      >
        <ConsentList
          projectId={projectId}
          items={data}
          openAtFirst={reading?.length === 1 ? reading[0] : undefined}
        />
      </Dialog>
    </>
  )
}
