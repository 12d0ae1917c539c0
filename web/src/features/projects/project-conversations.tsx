// The conversations of a project, newest activity first.
import { MessageSquare } from 'lucide-react'
import { Link } from 'wouter'
import type { Conversation } from '../../../../server/protocol/conversations/conversation.ts'
import { inProject, listKeys } from '../../lib/api/conversation-lists.ts'
import { useProjectConversations } from '../../lib/api/conversations.ts'
import { shortTime } from '../../lib/format.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { paths } from '../../lib/paths.ts'
import { ShowMore } from '../../ui/controls/show-more.tsx'
import { errorText } from '../../ui/states/error-text.ts'
import { Empty, Failed, Loading } from '../../ui/states/feedback.tsx'

type ListedConversation = Pick<
  Conversation,
  'id' | 'title' | 'updated_at' | 'active_run_id' | 'active_run_status'
>

/** What the active run of a conversation does: it waits for a person, or answers. */
const activityOf = (status: string | null) =>
  status === 'awaiting_approval'
    ? 'conversation.waits'
    : status === 'awaiting_input'
      ? 'conversation.waitsInput'
      : 'conversation.runs'

/** A tab of the project's page. */
export function ProjectConversations({ projectId }: { projectId: string }) {
  const { t } = useTranslation()
  const list = useProjectConversations(projectId)
  if (list.isPending) return <Loading />
  if (list.isLoadingError)
    return <Failed message={errorText(list.error)} onRetry={() => void list.refetch()} />
  const conversations = list.data.pages.flatMap(({ items }) => items)
  if (conversations.length === 0)
    return (
      <Empty
        icon={MessageSquare}
        title={t('project.noConversations')}
        text={t('project.noConversationsText')}
      />
    )
  return (
    <div className="mx-auto flex w-full max-w-3xl flex-col gap-3 p-4">
      <ConversationLinks conversations={conversations} />
      <ShowMore list={list} queryKey={listKeys.one(inProject(projectId))} tone="quiet" />
    </div>
  )
}

/** The look of a row that leads somewhere. */
export const rowClass =
  'touch-target flex items-center gap-3 rounded-lg px-3 py-2 text-sm hover:bg-hover/60'

/** Links to conversations, each with what it does and when it changed. */
export function ConversationLinks({
  conversations,
}: {
  conversations: readonly ListedConversation[]
}) {
  const { t, i18n } = useTranslation()
  return (
    <ul className="flex flex-col gap-1">
      {conversations.map((conversation) => (
        <li key={conversation.id}>
          <Link href={paths.conversation(conversation.id)} className={rowClass}>
            <MessageSquare size={15} aria-hidden className="shrink-0 text-muted" />
            <span dir="auto" className="min-w-0 flex-1 truncate">
              {conversation.title === '' ? t('conversation.untitled') : conversation.title}
            </span>
            {conversation.active_run_id !== null && (
              <span className="text-xs text-accent">
                {t(activityOf(conversation.active_run_status))}
              </span>
            )}
            <span className="text-xs text-muted tabular-nums">
              {shortTime(conversation.updated_at, i18n.language)}
            </span>
          </Link>
        </li>
      ))}
    </ul>
  )
}
