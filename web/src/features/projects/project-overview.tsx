// Below the new chat of a project: its latest conversations, and the ways to its files and settings.
import { ChevronRight, FolderOpen, MessageSquare } from 'lucide-react'
import { Link } from 'wouter'
import { useProjectConversations } from '../../lib/api/conversations.ts'
import { shortTime } from '../../lib/format.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { paths } from '../../lib/paths.ts'

const SHOWN = 5

const rowClass =
  'touch-target flex items-center gap-3 rounded-lg px-3 py-2 text-sm hover:bg-hover/60'

/** Shows nothing of the conversations while they load or if they cannot be loaded: the page of the project says why. */
export function ProjectOverview({ projectId }: { projectId: string }) {
  const { t, i18n } = useTranslation()
  const { data } = useProjectConversations(projectId)
  const conversations = data?.pages.flatMap(({ items }) => items).slice(0, SHOWN) ?? []
  return (
    <section aria-label={t('project.overview')} className="mt-8 flex flex-col gap-1">
      {conversations.length > 0 && (
        <ul className="flex flex-col gap-1">
          {conversations.map(({ id, title, updated_at: updatedAt, active_run_id: runId }) => (
            <li key={id}>
              <Link href={paths.conversation(id)} className={rowClass}>
                <MessageSquare size={15} aria-hidden className="shrink-0 text-muted" />
                <span className="min-w-0 flex-1 truncate">
                  <bdi>{title}</bdi>
                </span>
                {runId !== null && (
                  <span className="text-xs text-accent">{t('conversation.runs')}</span>
                )}
                <span className="text-xs text-muted tabular-nums">
                  {shortTime(updatedAt, i18n.language)}
                </span>
              </Link>
            </li>
          ))}
        </ul>
      )}
      <Link href={paths.project(projectId)} className={rowClass}>
        <FolderOpen size={15} aria-hidden className="shrink-0 text-muted" />
        <span className="min-w-0 flex-1">{t('project.toFiles')}</span>
        <ChevronRight size={15} aria-hidden className="shrink-0 text-muted rtl:-scale-x-100" />
      </Link>
    </section>
  )
}
