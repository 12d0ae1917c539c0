// The menu of the open conversation in its header: what the list of conversations offers and, on a narrow screen, everything for
// which the header of a wide one has buttons.
import { Ellipsis, FolderOpen, FolderTree, SlidersHorizontal } from 'lucide-react'
import { type ReactElement, useState } from 'react'
import type { Conversation } from '../../../server/protocol/conversations/conversation.ts'
import type { ProjectId } from '../../../server/protocol/ids.ts'
import { ConversationActions } from '../features/conversations/conversation-actions.tsx'
import { filesOf, usePatchConversation } from '../lib/api/conversations.ts'
import { useProjects } from '../lib/api/projects.ts'
import { useCommands } from '../lib/commands.ts'
import { conversationTitle } from '../lib/conversation-title.ts'
import { useTranslation } from '../lib/i18n/use-translation.tsx'
import { classNames } from '../ui/class-names.ts'
import { IconButton } from '../ui/controls/button.tsx'
import { Dialog } from '../ui/overlays/dialog.tsx'
import { Menu, MenuItem, MenuSeparator } from '../ui/overlays/menu.tsx'
import { PromptDialog } from '../ui/overlays/prompt-dialog.tsx'

/** `wide` is for a header with buttons of its own; its trigger is the button that opens the menu. */
export function ConversationMenu({
  conversation,
  wide,
  onFiles,
}: {
  conversation: Conversation
  wide?: { trigger: ReactElement }
  /** Opens the files of the conversation's project. */
  onFiles?: () => void
}) {
  const { t } = useTranslation()
  const patch = usePatchConversation()
  const openSettings = useCommands(({ actions }) => actions.conversationSettings)
  const [dialog, setDialog] = useState<'rename' | 'project' | null>(null)
  const { id, project_id: projectId, project_name: projectName } = conversation
  const title = conversationTitle(conversation.title, t)
  const label = t('conversation.actions', { title })
  const close = (): void => setDialog(null)
  return (
    <>
      <Menu
        align={wide === undefined ? 'end' : 'start'}
        label={label}
        trigger={wide?.trigger ?? <IconButton icon={Ellipsis} label={label} />}
      >
        <ConversationActions
          conversation={conversation}
          active
          onRename={() => setDialog('rename')}
          leading={
            wide === undefined && (
              <>
                <MenuItem icon={FolderOpen} onSelect={() => setDialog('project')}>
                  {t('projects.pickerIs', { name: projectName ?? t('projects.none') })}
                </MenuItem>
                {filesOf(conversation) !== null && onFiles !== undefined && (
                  <MenuItem icon={FolderTree} onSelect={onFiles}>
                    {t(projectId === null ? 'projects.ownFiles' : 'projects.panel')}
                  </MenuItem>
                )}
                <MenuItem icon={SlidersHorizontal} onSelect={() => openSettings?.()}>
                  {t('chatSettings.title')}
                </MenuItem>
                <MenuSeparator />
              </>
            )
          }
        />
      </Menu>
      {dialog === 'rename' && (
        <PromptDialog
          title={t('conversation.rename')}
          label={t('conversation.rename')}
          initial={conversation.title}
          saving={patch.isPending}
          onClose={close}
          onSubmit={(name) => patch.mutate({ id, title: name }, { onSuccess: close })}
        />
      )}
      <Dialog
        open={dialog === 'project'}
        onOpenChange={close}
        title={t('projects.picker')}
        width="narrow"
      >
        <Projects
          current={projectId}
          onChoose={(chosen) => {
            patch.mutate({ id, project_id: chosen })
            close()
          }}
        />
      </Dialog>
    </>
  )
}

function Projects({
  current,
  onChoose,
}: {
  current: ProjectId | null
  onChoose: (id: ProjectId | null) => void
}) {
  const { t } = useTranslation()
  const { data: projects = [] } = useProjects()
  return (
    <ul className="flex flex-col gap-1">
      {[{ id: null, name: t('projects.none') }, ...projects].map(({ id, name }) => (
        <li key={id ?? ''}>
          <button
            type="button"
            aria-pressed={id === current}
            className={classNames(
              'min-h-11 w-full truncate rounded-lg px-3 text-start text-sm hover:bg-hover',
              id === current && 'bg-hover font-medium',
            )}
            onClick={() => onChoose(id)}
          >
            {name}
          </button>
        </li>
      ))}
    </ul>
  )
}
