// The page of a conversation: the chat, combined with parts of other features.
import { FolderTree, X } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import type { Conversation } from '../../../server/protocol/conversations/conversation.ts'
import { ChatHeader } from '../features/chat/chat-header.tsx'
import { ChatView } from '../features/chat/chat-view.tsx'
import { ProjectPicker } from '../features/projects/project-picker.tsx'
import { usePatchConversation } from '../lib/api/conversations.ts'
import { useMedia } from '../lib/browser/use-media.ts'
import { useTranslation } from '../lib/i18n/use-translation.tsx'
import { IconButton } from '../ui/controls/button.tsx'
import { Loading } from '../ui/states/feedback.tsx'
import { lazyPart } from '../ui/states/late.tsx'
import { PartBoundary } from '../ui/states/part-boundary.tsx'
import { ChatSkeleton } from './chat-skeleton.tsx'
import { useConversationCommands } from './use-conversation-commands.ts'

const ProjectPanel = lazyPart(() =>
  import('../features/projects/project-panel.tsx').then((module) => module.ProjectPanel),
)

/** The page at `/c/:id`. `menu` is the button that shows the sidebar; null while the sidebar is visible. */
export function ChatPage({ id, menu }: { id: string; menu: ReactNode }) {
  const { t } = useTranslation()
  const patch = usePatchConversation()
  const [panel, setPanel] = useState(false)
  const wide = useMedia('(min-width: 64rem)')
  const header = (conversation: Conversation) => (
    <ChatHeader conversation={conversation} leading={menu}>
      <ProjectPicker
        projectId={conversation.project_id}
        projectName={conversation.project_name}
        side="bottom"
        onChoose={(project) => patch.mutate({ id, project_id: project })}
      />
      {conversation.project_id !== null && (
        <IconButton
          icon={FolderTree}
          label={t('projects.panel')}
          pressed={panel}
          onClick={() => setPanel(!panel)}
        />
      )}
    </ChatHeader>
  )
  const aside = ({ project_id: projectId }: Conversation) =>
    panel && projectId !== null ? (
      <aside
        aria-label={t('projects.panel')}
        className={
          wide
            ? 'flex w-[min(30rem,38vw)] shrink-0 flex-col border-s border-line bg-paper'
            : 'fixed inset-0 z-30 flex flex-col bg-paper'
        }
      >
        {!wide && (
          <div className="flex justify-end px-2 pt-2">
            <IconButton icon={X} label={t('common.close')} onClick={() => setPanel(false)} />
          </div>
        )}
        <PartBoundary fallback={<Loading />}>
          <ProjectPanel key={projectId} projectId={projectId} wide={false} />
        </PartBoundary>
      </aside>
    ) : null
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
