// The page of a project: files, history, conversations, settings.
import { ArrowLeft, CircleHelp, MessageSquarePlus } from 'lucide-react'
import { Link, useSearchParams } from 'wouter'
import { useProject } from '../../lib/api/projects.ts'
import { fileSize } from '../../lib/format.ts'
import { ApiError } from '../../lib/http/api-client.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { paths } from '../../lib/paths.ts'
import { Button, IconButton, linkButtonClass } from '../../ui/controls/button.tsx'
import { errorText } from '../../ui/states/error-text.ts'
import { Empty, Failed, Loading } from '../../ui/states/feedback.tsx'
import { ConsentCards } from './consent-cards.tsx'
import { ProjectPanel } from './project-panel.tsx'

/** `file` and `line` in the URL open a file. `onChat` starts a conversation in the project. */
export function ProjectPage({ id, onChat }: { id: string; onChat: (projectId: string) => void }) {
  const { t, i18n } = useTranslation()
  const project = useProject(id)
  const [search] = useSearchParams()
  const path = search.get('file')
  const line = Number(search.get('line'))
  const initial =
    path === null || path === ''
      ? null
      : { path, ...(Number.isSafeInteger(line) && line > 0 ? { line } : {}) }
  const document = search.get('document')
  const passage = Number(search.get('passage'))
  if (project.isPending) return <Loading />
  if (project.isLoadingError) {
    const { error } = project
    if (error instanceof ApiError && error.status === 404) return <MissingProject />
    return <Failed message={errorText(error)} onRetry={() => void project.refetch()} />
  }
  const { name, role, stats } = project.data
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <header className="flex items-center gap-2 px-4 py-2.5">
        <Link href={paths.projects} asChild>
          <IconButton icon={ArrowLeft} label={t('projects.title')} />
        </Link>
        <div className="min-w-0 flex-1">
          <h1 title={name} className="truncate text-[1.0625rem] font-semibold tracking-tight">
            {name}
          </h1>
          <p className="text-xs text-muted">
            <bdi>
              {t('projects.stats', {
                count: stats.files,
                size: fileSize(stats.total_size, i18n.language),
              })}
            </bdi>
            {role === 'use' && <> · {t('project.roleUse')}</>}
          </p>
        </div>
        <Button icon={MessageSquarePlus} onClick={() => onChat(id)}>
          <span className="max-sm:sr-only">{t('projects.chat')}</span>
        </Button>
      </header>
      <ConsentCards projectId={id} />
      <ProjectPanel
        key={search.toString()}
        projectId={id}
        wide
        initial={initial}
        initialPassage={
          document === null
            ? null
            : {
                document,
                position: Number.isSafeInteger(passage) && passage > 0 ? passage : 0,
                marks: search.getAll('mark'),
              }
        }
      />
    </div>
  )
}

function MissingProject() {
  const { t } = useTranslation()
  return (
    <Empty isPage icon={CircleHelp} title={t('project.notFound')} text={t('project.notFoundText')}>
      <Link href={paths.projects} className={linkButtonClass}>
        {t('projects.manage')}
      </Link>
    </Empty>
  )
}
