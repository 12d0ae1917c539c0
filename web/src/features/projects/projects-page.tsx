// All projects: create, upload a folder, import, open, rename, copy, save as an archive, delete.
import {
  Copy,
  Download,
  Ellipsis,
  FileArchive,
  Folder,
  FolderUp,
  PencilLine,
  Plus,
  Trash2,
} from 'lucide-react'
import { useState } from 'react'
import { Link, useLocation, useSearchParams } from 'wouter'
import type { Project } from '../../../../server/protocol/projects/project.ts'
import { useProfile } from '../../lib/api/auth.ts'
import {
  downloadProject,
  useCopyProject,
  useDeleteProject,
  useProjects,
  useUpdateProject,
} from '../../lib/api/projects.ts'
import { shortTime } from '../../lib/format.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { paths } from '../../lib/paths.ts'
import { Button, IconButton } from '../../ui/controls/button.tsx'
import { moveFocusOnRemoval } from '../../ui/controls/move-focus-on-removal.ts'
import { ConfirmDialog } from '../../ui/overlays/dialog.tsx'
import { Menu, MenuItem, MenuSeparator } from '../../ui/overlays/menu.tsx'
import { PromptDialog } from '../../ui/overlays/prompt-dialog.tsx'
import { errorText, reportError } from '../../ui/states/error-text.ts'
import { Empty, Failed, Loading } from '../../ui/states/feedback.tsx'
import { ImportDialog } from './import-dialog.tsx'
import { NewProjectDialog } from './new-project-dialog.tsx'
import { nameWithIcon } from './project-icon.tsx'

/** The page at `/projects`. */
export function ProjectsPage() {
  const { t } = useTranslation()
  const projects = useProjects()
  const [importing, setImporting] = useState(false)
  const [chosen, setChosen] = useState<'empty' | 'upload' | null>(null)
  const [, navigate] = useLocation()
  const [search] = useSearchParams()
  const isAsked = search.has('new')
  const making = isAsked ? 'empty' : chosen
  const close = (): void => {
    if (isAsked) navigate(paths.projects, { replace: true })
    setChosen(null)
  }
  return (
    <div className="mx-auto flex w-full max-w-4xl flex-col gap-6 px-5 py-8">
      <header className="flex flex-wrap items-end justify-between gap-3">
        <div>
          <h1 className="font-display text-3xl tracking-tight">{t('projects.title')}</h1>
          <p className="mt-1.5 text-sm text-muted">{t('projects.text')}</p>
        </div>
        <div className="flex flex-wrap gap-2">
          <Button icon={FileArchive} onClick={() => setImporting(true)}>
            {t('projects.import')}
          </Button>
          <Button icon={FolderUp} onClick={() => setChosen('upload')}>
            {t('projects.upload')}
          </Button>
          <Button tone="primary" icon={Plus} onClick={() => setChosen('empty')}>
            {t('projects.new')}
          </Button>
        </div>
      </header>
      {projects.isPending && <Loading />}
      {projects.isError && (
        <Failed message={errorText(projects.error)} onRetry={() => void projects.refetch()} />
      )}
      {projects.data?.length === 0 && (
        <Empty icon={Folder} title={t('projects.empty')} text={t('projects.emptyText')} />
      )}
      <ul ref={moveFocusOnRemoval} className="grid grid-cols-1 gap-3 sm:grid-cols-2">
        {projects.data?.map((project) => (
          <ProjectCard key={project.id} project={project} />
        ))}
      </ul>
      {importing && <ImportDialog onClose={() => setImporting(false)} />}
      {making !== null && <NewProjectDialog upload={making === 'upload'} onClose={close} />}
    </div>
  )
}

function ProjectCard({ project }: { project: Project }) {
  const { t, i18n } = useTranslation()
  const update = useUpdateProject()
  const remove = useDeleteProject()
  const copy = useCopyProject()
  const [renaming, setRenaming] = useState(false)
  const [copying, setCopying] = useState(false)
  const [deleting, setDeleting] = useState(false)
  const me = useProfile().data?.id
  const isOthers = me !== undefined && project.owner.id !== me
  const { role } = project
  return (
    <li className="group relative">
      <Link
        href={paths.project(project.id)}
        className="flex h-full flex-col gap-1 rounded-2xl border border-line bg-surface p-4 pe-12 transition-[border-color,box-shadow] hover:border-line-strong hover:shadow-low"
      >
        <span className="truncate font-medium">{nameWithIcon(project)}</span>
        {project.description !== null && project.description !== '' && (
          <span className="line-clamp-2 text-sm text-muted">{project.description}</span>
        )}
        <span className="mt-auto pt-1 text-xs text-muted">
          {t('projects.changed', { when: shortTime(project.updated_at, i18n.language) })}
          {isOthers && <> · {t('project.sharedBy', { name: project.owner.name })}</>}
        </span>
      </Link>
      <span className="absolute top-3 end-3">
        <Menu
          align="end"
          trigger={
            <IconButton
              icon={Ellipsis}
              label={t('projects.actions', { name: project.name })}
              size="small"
            />
          }
        >
          {role !== 'use' && (
            <MenuItem icon={PencilLine} onSelect={() => setRenaming(true)}>
              {t('conversation.rename')}
            </MenuItem>
          )}
          <MenuItem icon={Copy} onSelect={() => setCopying(true)}>
            {t('projects.copy')}
          </MenuItem>
          {role === 'own' && (
            <>
              <MenuItem
                icon={Download}
                onSelect={() => void downloadProject(project).catch(reportError)}
              >
                {t('projects.saveArchive')}
              </MenuItem>
              <MenuSeparator />
              <MenuItem icon={Trash2} danger onSelect={() => setDeleting(true)}>
                {t('common.delete')}
              </MenuItem>
            </>
          )}
        </Menu>
      </span>
      {renaming && (
        <PromptDialog
          title={t('conversation.rename')}
          label={t('projects.name')}
          initial={project.name}
          saving={update.isPending}
          onClose={() => setRenaming(false)}
          onSubmit={(name) =>
            update.mutate({ id: project.id, name }, { onSuccess: () => setRenaming(false) })
          }
        />
      )}
      {copying && (
        <PromptDialog
          title={t('projects.copyTitle', { name: project.name })}
          label={t('projects.name')}
          initial={t('projects.copyName', { name: project.name })}
          saving={copy.isPending}
          onClose={() => setCopying(false)}
          onSubmit={(name) =>
            copy.mutate({ id: project.id, name }, { onSuccess: () => setCopying(false) })
          }
        />
      )}
      <ConfirmDialog
        open={deleting}
        onOpenChange={setDeleting}
        title={t('projects.deleteTitle', { name: project.name })}
        text={t('projects.deleteText')}
        confirm={t('common.delete')}
        onConfirm={() => remove.mutate(project.id)}
      />
    </li>
  )
}
