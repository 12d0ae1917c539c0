// A callout in Markdown: note, tip, important, warning or caution.
import {
  CircleAlert,
  Info,
  Lightbulb,
  type LucideIcon,
  MessageSquareWarning,
  TriangleAlert,
} from 'lucide-react'
import type { ReactNode } from 'react'
import type { AlertKind } from '../../../../server/protocol/markdown/page-syntax.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'

const ALERT_ICONS: Record<AlertKind, LucideIcon> = {
  note: Info,
  tip: Lightbulb,
  important: MessageSquareWarning,
  warning: TriangleAlert,
  caution: CircleAlert,
}

/** The callout for `> [!NOTE]` and the like. Its title is in the page's language; `children` is its text, with direction `dir`. */
export function Alert({
  kind,
  dir,
  children,
}: {
  kind: AlertKind
  dir: string | undefined
  children: ReactNode
}) {
  const { t } = useTranslation()
  const Icon = ALERT_ICONS[kind]
  return (
    <div role="note" dir={dir} className={`alert alert-${kind}`}>
      <p className="alert-title">
        <Icon size={15} aria-hidden />
        {t(`prose.alert.${kind}`)}
      </p>
      {children}
    </div>
  )
}
