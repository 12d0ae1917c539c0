// The page of a conversation: the chat, combined with parts of other features.
import { ChevronDown, FolderTree, SquarePen } from 'lucide-react'
import { type ComponentProps, type ReactNode, useEffect, useState } from 'react'
import { useLocation } from 'wouter'
import type { Conversation } from '../../../server/protocol/conversations/conversation.ts'
import { ChatHeader } from '../features/chat/chat-header.tsx'
import { ChatView } from '../features/chat/chat-view.tsx'
import { ProjectPicker } from '../features/projects/project-picker.tsx'
import { filesOf, usePatchConversation } from '../lib/api/conversations.ts'
import { coverComposer } from '../lib/browser/composer-cover.ts'
import { receiveFilesBeside } from '../lib/browser/open-beside.ts'
import { useMedia } from '../lib/browser/use-media.ts'
import { useTranslation } from '../lib/i18n/use-translation.tsx'
import { paths } from '../lib/paths.ts'
import { IconButton } from '../ui/controls/button.tsx'
import { Loading } from '../ui/states/feedback.tsx'
import { lazyPart } from '../ui/states/late.tsx'
import { PartBoundary } from '../ui/states/part-boundary.tsx'
import { ChatSkeleton } from './chat-skeleton.tsx'
import { useConversationCommands } from './use-conversation-commands.ts'

const ProjectPanel = lazyPart(() =>
  import('../features/projects/project-panel.tsx').then((module) => module.ProjectPanel),
)

const KeepFiles = lazyPart(() =>
  import('../features/projects/keep-files.tsx').then((module) => module.KeepFiles),
)

const ConsentLine = lazyPart(() =>
  import('../features/projects/consent-line.tsx').then((module) => module.ConsentLine),
)

const PanelDialog = lazyPart(() =>
  import('./panel-dialog.tsx').then((module) => module.PanelDialog),
)
const ConversationMenu = lazyPart(() =>
  import('./conversation-menu.tsx').then((module) => module.ConversationMenu),
)

/** Keeps the place of the menu while it loads: otherwise the button beside it would be where a finger expects the menu. */
const MenuPlace = () => <span className="size-9 shrink-0 pointer-coarse:size-11" />

/** The page at `/c/:id`. `menu` is the button that shows the sidebar; null while the sidebar is visible. */
export function ChatPage({ id, menu }: { id: string; menu: ReactNode }) {
  const { t } = useTranslation()
  const patch = usePatchConversation()
  const [panel, setPanel] = useState(false)
  /** The file that was opened from the conversation last; counted, because the same one can be opened again. */
  const [opened, setOpened] = useState<{ path: string; count: number } | null>(null)
  useEffect(
    () =>
      receiveFilesBeside((path) => {
        setOpened((before) => ({ path, count: (before?.count ?? 0) + 1 }))
        setPanel(true)
      }),
    [],
  )
  // The chat keeps 35 rem beside the panel and the sidebar.
  const wide = useMedia(menu === null ? '(min-width: 72rem)' : '(min-width: 64rem)')
  useEffect(
    () => (panel && !wide ? coverComposer(() => setPanel(false)) : undefined),
    [panel, wide],
  )
  const isPhone = !useMedia('(min-width: 40rem)')
  const [, navigate] = useLocation()
  const chatHeader = (conversation: Conversation) =>
    isPhone ? (
      <ChatHeader conversation={conversation} leading={menu} isWide={false}>
        <IconButton
          icon={SquarePen}
          label={t('shell.newChat')}
          onClick={() => navigate(paths.home)}
        />
        <PartBoundary fallback={<MenuPlace />} instead={null}>
          <ConversationMenu conversation={conversation} onFiles={() => setPanel(true)} />
        </PartBoundary>
      </ChatHeader>
    ) : (
      <ChatHeader
        conversation={conversation}
        leading={menu}
        isWide
        titleMenu={(title) => (
          <PartBoundary fallback={title} instead={title}>
            <ConversationMenu
              conversation={conversation}
              wide={{ trigger: <TitleButton title={title} /> }}
            />
          </PartBoundary>
        )}
      >
        <ProjectPicker
          projectId={conversation.project_id}
          projectName={conversation.project_name}
          side="bottom"
          onChoose={(project) => patch.mutate({ id, project_id: project })}
        />
        {filesOf(conversation) !== null && (
          <IconButton
            icon={FolderTree}
            label={t(conversation.project_id === null ? 'projects.ownFiles' : 'projects.panel')}
            pressed={panel}
            onClick={() => setPanel(!panel)}
          />
        )}
      </ChatHeader>
    )
  const header = (conversation: Conversation) => {
    const projectId = filesOf(conversation)
    return (
      <>
        {chatHeader(conversation)}
        {projectId !== null && (
          <PartBoundary fallback={null}>
            <ConsentLine key={projectId} projectId={projectId} />
          </PartBoundary>
        )}
      </>
    )
  }
  const aside = (conversation: Conversation) => {
    const projectId = filesOf(conversation)
    if (!panel || projectId === null) return null
    const isOwn = conversation.project_id === null
    const label = t(isOwn ? 'projects.ownFiles' : 'projects.panel')
    const content = (
      <PartBoundary fallback={<Loading />}>
        {isOwn && <KeepFiles projectId={projectId} name={conversation.title} />}
        <ProjectPanel
          key={`${projectId} ${opened?.count ?? 0}`}
          projectId={projectId}
          wide={false}
          isOwn={isOwn}
          initial={opened}
        />
      </PartBoundary>
    )
    if (wide)
      return (
        <aside
          aria-label={label}
          className="flex w-[min(30rem,38vw,calc(100%-35rem))] shrink-0 flex-col border-s border-line bg-paper"
        >
          {content}
        </aside>
      )
    return (
      <PartBoundary fallback={null} isOver onClose={() => setPanel(false)}>
        <PanelDialog title={label} onClose={() => setPanel(false)}>
          {content}
        </PanelDialog>
      </PartBoundary>
    )
  }
  useConversationCommands(id)
  return (
    <ChatView
      id={id}
      menu={menu}
      loading={<ChatSkeleton menu={menu} />}
      header={header}
      aside={aside}
    />
  )
}

/** The title of a conversation as the button of its menu. */
function TitleButton({ title, ...rest }: ComponentProps<'button'> & { title: string }) {
  return (
    <button
      type="button"
      {...rest}
      className="-ms-1.5 inline-flex max-w-full items-center gap-1 rounded-lg px-1.5 py-1 text-start hover:bg-hover data-[state=open]:bg-hover"
    >
      {/* The heading around it takes its direction from this text, so it has none of its own. */}
      <span className="min-w-0 truncate">{title}</span>
      <ChevronDown size={14} aria-hidden className="shrink-0 text-muted" />
    </button>
  )
}
