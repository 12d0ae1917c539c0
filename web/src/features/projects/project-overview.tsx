// Below the new chat of a project: its latest conversations, and the ways to its files and settings.
import { ChevronRight, FolderOpen } from 'lucide-react'
import { Link } from 'wouter'
import { useProjectConversations } from '../../lib/api/conversations.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { paths } from '../../lib/paths.ts'
import { ConversationLinks, rowClass } from './project-conversations.tsx'

const SHOWN = 5

/** Shows nothing of the conversations while they load or if they cannot be loaded: the page of the project says why. */
export function ProjectOverview({ projectId }: { projectId: string }) {
  const { t } = useTranslation()
  const { data } = useProjectConversations(projectId)
  const conversations = data?.pages.flatMap(({ items }) => items).slice(0, SHOWN) ?? []
  return (
    <section aria-label={t('project.overview')} className="mt-8 flex flex-col gap-1">
      {conversations.length > 0 && <ConversationLinks conversations={conversations} />}
      <Link href={paths.project(projectId)} className={rowClass}>
        <FolderOpen size={15} aria-hidden className="shrink-0 text-muted" />
        <span className="min-w-0 flex-1">{t('project.toFiles')}</span>
        <ChevronRight size={15} aria-hidden className="shrink-0 text-muted rtl:-scale-x-100" />
      </Link>
    </section>
  )
}
