// The routes of the page. Pages except home load when they are first opened; the chat is prefetched.

import { useQueryClient } from '@tanstack/react-query'
import { CircleHelp, PanelLeft } from 'lucide-react'
import { type ReactNode, useEffect } from 'react'
import { Link, Redirect, Route, Switch, useLocation } from 'wouter'
import type { User } from '../../../server/protocol/accounts/user.ts'
import { loadMarkdown } from '../features/chat/steps/text-step.tsx'
import { conversationQuery } from '../lib/api/conversations.ts'
import { messagesQuery } from '../lib/api/messages.ts'
import { pagePath } from '../lib/base-path.ts'
import { FirstScreenReady } from '../lib/browser/first-screen.tsx'
import { useTranslation } from '../lib/i18n/use-translation.tsx'
import { paths } from '../lib/paths.ts'
import { classNames } from '../ui/class-names.ts'
import { IconButton, linkButtonClass } from '../ui/controls/button.tsx'
import { Empty, Loading } from '../ui/states/feedback.tsx'
import { lazyView, prefetch } from '../ui/states/late.tsx'
import { PartBoundary } from '../ui/states/part-boundary.tsx'
import { ChatSkeleton } from './chat-skeleton.tsx'
import { HomePage } from './home-page.tsx'

/** Loads the chat together with the Markdown renderer, so that raw Markdown never shows. */
const loadChat = () =>
  Promise.all([import('./chat-page.tsx'), loadMarkdown()]).then(([{ ChatPage: page }]) => page)
const isAtConversation = pagePath().startsWith('/c/')
// Starts at once: on a slow connection, requests that wait for each other add up.
if (isAtConversation) void loadChat().catch(() => undefined) // rendering it tries again
const ChatPage = lazyView(loadChat)
/** After this time, the sidebar does not wait any longer for the code of the page beside it. */
const FIRST_PAGE_MS = 2_000
/** Loads the code of the page that the document has requested already, so that it is rendered without a fallback. */
export async function loadFirstPage(): Promise<void> {
  if (!isAtConversation) return
  await Promise.race([
    ChatPage.preload(),
    new Promise((resolve) => setTimeout(resolve, FIRST_PAGE_MS)),
  ])
}
const ContinuePage = lazyView(() =>
  import('../features/conversations/continue-page.tsx').then((module) => module.ContinuePage),
)
const AdminPage = lazyView(() =>
  import('../features/admin/admin-page.tsx').then((module) => module.AdminPage),
)
const MemoryPage = lazyView(() =>
  import('../features/memory/memory-page.tsx').then((module) => module.MemoryPage),
)
const ProjectsPage = lazyView(() =>
  import('../features/projects/projects-page.tsx').then((module) => module.ProjectsPage),
)
const ProjectPage = lazyView(() =>
  import('../features/projects/project-page.tsx').then((module) => module.ProjectPage),
)
const SettingsPage = lazyView(() =>
  import('../features/settings/settings-page.tsx').then((module) => module.SettingsPage),
)
const SetupPage = lazyView(() =>
  import('../features/setup/setup-page.tsx').then((module) => module.SetupPage),
)
const WaitingPage = lazyView(() =>
  import('../features/chat/waiting/waiting-page.tsx').then((module) => module.WaitingPage),
)
const SchedulesPage = lazyView(() =>
  import('../features/schedules/schedules-page.tsx').then((module) => module.SchedulesPage),
)
const UsagePage = lazyView(() => import('./usage-page.tsx').then((module) => module.UsagePage))

/**
 * Fetches a conversation while the code of its page loads. Not with `usePrefetchQuery`, which skips queries that something
 * already observes, as the skip link does.
 */
function PrefetchConversation({ id }: { id: string }) {
  const client = useQueryClient()
  useEffect(() => {
    void client.prefetchQuery(conversationQuery(id))
    void client.prefetchInfiniteQuery(messagesQuery(id))
  }, [client, id])
  return null
}

/** A page that scrolls as a whole, with the button that shows the sidebar above it. */
function Scrolling({ onMenu, children }: { onMenu: (() => void) | null; children: ReactNode }) {
  const [location] = useLocation()
  return (
    <div className="min-h-0 flex-1 overflow-y-auto">
      {/* The bar takes up a part of the space that these pages leave above their titles. */}
      <MenuBar onMenu={onMenu} className="-mb-6" />
      <PartBoundary fallback={<Loading />} subject={location}>
        {children}
        <FirstScreenReady />
      </PartBoundary>
    </div>
  )
}

/** Shows the sidebar. */
function MenuButton({ onClick }: { onClick: () => void }) {
  const { t } = useTranslation()
  return (
    <IconButton
      icon={PanelLeft}
      label={t('shell.expand')}
      onClick={onClick}
      data-sidebar-button=""
    />
  )
}

function MenuBar({ onMenu, className }: { onMenu: (() => void) | null; className?: string }) {
  if (onMenu === null) return null
  return (
    <div
      className={classNames(
        'sticky top-0 z-10 flex h-13 items-center bg-paper/90 px-3 backdrop-blur-sm',
        className,
      )}
    >
      <MenuButton onClick={onMenu} />
    </div>
  )
}

/** The page next to the sidebar. `user` is undefined until the profile has loaded; `multi`: whether there are accounts. */
export function Pages({
  user,
  multi,
  onMenu,
}: {
  user: User | undefined
  multi: boolean
  /** Shows the sidebar; null while it is visible. */
  onMenu: (() => void) | null
}) {
  // Most visits open a conversation next, so its code loads right after the first screen.
  useEffect(() => prefetch(loadChat), [])
  const admin = user?.role === 'admin'
  const menu = onMenu === null ? null : <MenuButton onClick={onMenu} />
  return (
    <Switch>
      <Route path="/">
        <HomePage menu={menu} loadChat={ChatPage.preload} admin={admin} />
        <FirstScreenReady />
      </Route>
      <Route path="/c/:id">
        {({ id }) => (
          <>
            <PrefetchConversation id={id} />
            <PartBoundary fallback={<ChatSkeleton menu={menu} />} subject={id}>
              <ChatPage key={id} id={id} menu={menu} />
            </PartBoundary>
          </>
        )}
      </Route>
      <Route path="/projects">
        <Scrolling onMenu={onMenu}>
          <ProjectsPage />
        </Scrolling>
      </Route>
      <Route path="/projects/:id">
        {({ id }) => <OneProject key={id} id={id} onMenu={onMenu} />}
      </Route>
      <Route path="/memory">
        <Scrolling onMenu={onMenu}>
          <MemoryPage />
        </Scrolling>
      </Route>
      <Route path="/waiting">
        <Scrolling onMenu={onMenu}>
          <WaitingPage />
        </Scrolling>
      </Route>
      <Route path="/schedules">
        <Scrolling onMenu={onMenu}>
          <SchedulesPage />
        </Scrolling>
      </Route>
      <Route path="/stats">
        <Scrolling onMenu={onMenu}>
          <UsagePage />
        </Scrolling>
      </Route>
      <Route path="/settings/:tab?">
        {({ tab }) => (
          <Scrolling onMenu={onMenu}>
            <SettingsPage tab={tab} user={user} multi={multi} />
          </Scrolling>
        )}
      </Route>
      <Route path="/continue/:token">
        {({ token }) => (
          <Scrolling onMenu={onMenu}>
            <ContinuePage token={token} />
          </Scrolling>
        )}
      </Route>
      {admin && multi && (
        <Route path="/admin/:tab?">
          {({ tab }) => (
            <Scrolling onMenu={onMenu}>
              <AdminPage tab={tab} ownId={user?.id} />
            </Scrolling>
          )}
        </Route>
      )}
      <Route path="/setup">
        <Scrolling onMenu={onMenu}>
          <SetupPage user={user} />
        </Scrolling>
      </Route>
      {/* The user is already signed in. */}
      <Route path={paths.login}>
        <Redirect to={paths.home} replace />
      </Route>
      <Route>
        <Scrolling onMenu={onMenu}>
          <NotFound />
        </Scrolling>
      </Route>
    </Switch>
  )
}

function OneProject({ id, onMenu }: { id: string; onMenu: (() => void) | null }) {
  const [, navigate] = useLocation()
  return (
    <>
      <MenuBar onMenu={onMenu} />
      <PartBoundary fallback={<Loading />} subject={id}>
        <ProjectPage id={id} onChat={(projectId) => navigate(paths.homeIn(projectId))} />
        <FirstScreenReady />
      </PartBoundary>
    </>
  )
}

function NotFound() {
  const { t } = useTranslation()
  return (
    <Empty isPage icon={CircleHelp} title={t('errors.notFound')} text={t('errors.notFoundText')}>
      <Link href={paths.home} className={linkButtonClass}>
        {t('errors.home')}
      </Link>
    </Empty>
  )
}
