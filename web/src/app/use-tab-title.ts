// The title of the browser tab: the open page or conversation, the state of its run, and the number of others with news or waiting.
import { useEffect, useMemo } from 'react'
import { useLocation, useRoute } from 'wouter'
import { mainRunIn, useLiveRuns } from '../features/chat/runs/live-runs.ts'
import { useConversations } from '../lib/api/conversations.ts'
import { conversationTitle } from '../lib/conversation-title.ts'
import { useTranslation } from '../lib/i18n/use-translation.tsx'
import { isUnread, useSeen } from '../lib/preferences/seen-conversations.ts'

const APP_NAME = 'NanoClaw'
/** The pages that the sidebar leads to, by the first part of their URL. */
const PAGES = ['projects', 'memory', 'stats', 'settings'] as const
const WAITING_STATUSES = new Set<string | null>(['awaiting_approval', 'awaiting_input'])

/** Keeps the title up to date from the URL and the cache. Use it once. */
export function useTabTitle(): void {
  const { t } = useTranslation()
  const [, params] = useRoute('/c/:id')
  const openId = params?.id
  const [pathname] = useLocation()
  const pageName = PAGES.find((name) => name === pathname.split('/')[1])
  const seen = useSeen()
  const { data } = useConversations({
    q: '',
    view: 'current',
    tag: null,
    pinned: false,
    projectId: null,
  })
  const items = useMemo(() => data?.pages.flatMap((page) => page.items) ?? [], [data])
  const open = items.find(({ id }) => id === openId)
  const live = useLiveRuns((runs) => {
    const run = openId === undefined ? undefined : mainRunIn(runs, openId)
    if (run === undefined || run.state !== 'running') return null
    return run.approvals.length > 0 || run.inputs.length > 0 ? 'waiting' : 'answering'
  })
  const newsCount = items.filter(
    (item) =>
      item.id !== openId && (WAITING_STATUSES.has(item.active_run_status) || isUnread(seen, item)),
  ).length
  const title = [
    live === null ? '' : t(`tab.${live}`),
    pageName === undefined ? '' : t(`shell.${pageName}`),
    open === undefined ? '' : conversationTitle(open.title, t),
    APP_NAME,
  ]
    .filter((part) => part !== '')
    .join(' · ')
  useEffect(() => {
    document.title = newsCount === 0 ? title : `(${newsCount}) ${title}`
  }, [newsCount, title])
}
