// The notice on the home page that only the demo model is available.
import { CircleDashed } from 'lucide-react'
import { Link } from 'wouter'
import { gapAfter } from '../../lib/format.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { paths } from '../../lib/paths.ts'

/** Shown if only the demo model is available, with a link for administrators (`canAdd`) to add a real one. */
export function DemoNotice({ canAdd }: { canAdd: boolean }) {
  const { t } = useTranslation()
  return (
    <p className="mt-8 text-center text-compact text-balance text-muted">
      <CircleDashed size={14} aria-hidden className="me-2 inline-block align-[-2px]" />
      {t('home.demo')}
      {gapAfter(t('home.demo'))}
      {canAdd && (
        <Link
          href={paths.setup}
          className="inline-block font-medium text-accent underline underline-offset-3"
        >
          {t('home.demoAdd')}
        </Link>
      )}
    </p>
  )
}
