// The layout of the page: the sidebar (a drawer on a phone), the page beside it, the keyboard shortcuts.
import { useQuery } from '@tanstack/react-query'
import { type ComponentProps, useCallback, useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useLocation, useRoute } from 'wouter'
import { useRunNotifications } from '../features/chat/runs/use-run-notifications.ts'
import { closeDialog, useShownDialog } from '../features/conversations/shown-dialog.ts'
import { useProfile } from '../lib/api/auth.ts'
import { conversationQuery } from '../lib/api/conversations.ts'
import { firstScreen } from '../lib/browser/first-screen.tsx'
import { useMedia } from '../lib/browser/use-media.ts'
import { paths } from '../lib/paths.ts'
import { lastPart, late, lazyView } from '../ui/states/late.tsx'
import { PartBoundary } from '../ui/states/part-boundary.tsx'
import { OfflineNotice } from './offline-notice.tsx'
import { Pages } from './pages.tsx'
import { Sidebar } from './sidebar.tsx'
import { useShellCommands } from './use-shell-commands.ts'
import { useShortcuts } from './use-shortcuts.ts'
import { useSidebar } from './use-sidebar.ts'
import { useTabTitle } from './use-tab-title.ts'

const ShortcutHelp = lazyView(() =>
  import('./shortcut-help.tsx').then((module) => module.ShortcutHelp),
)

const SearchDialog = lazyView(() =>
  import('../features/search/search-dialog.tsx').then((module) => module.SearchDialog),
)

const ConversationDialogs = lazyView(() =>
  import('../features/conversations/conversation-dialogs.tsx').then(
    (module) => module.ConversationDialogs,
  ),
)

const QueueSenders = lastPart(() =>
  import('../features/chat/queue/queue-sender.tsx').then((module) => module.QueueSenders),
)

const FollowChanges = lastPart(() =>
  import('./follow-changes.ts').then((module) => module.FollowChanges),
)

const Drawer = late(() => import('./drawer.tsx').then((module) => module.Drawer))

/** `multi`: there are accounts, so the sidebar shows who is signed in. */
export function Shell({ multi }: { multi: boolean }) {
  const { t } = useTranslation()
  const [location, navigate] = useLocation()
  const { data: user } = useProfile()
  const openConversation = useCallback((id: string) => navigate(paths.conversation(id)), [navigate])
  useRunNotifications(openConversation)
  useTabTitle()
  const wide = useMedia('(min-width: 56rem)')
  const [pinned, setPinned] = useSidebar()
  const { drawer, setDrawer, drawerWanted } = useDrawer(location)
  const [help, setHelp] = useState(false)
  const [searching, setSearching] = useState(false)
  const { shown } = useShownDialog()
  // Whoever signs in next does not find it open.
  useEffect(() => closeDialog, [])
  const showSidebar = useCallback(
    () => (wide ? setPinned(!pinned) : setDrawer((shown) => !shown)),
    [wide, pinned, setPinned, setDrawer],
  )
  const shortcuts = useShellShortcuts({
    onSearch: useCallback(() => setSearching(true), []),
    onSidebar: showSidebar,
    onHelp: useCallback(() => setHelp(true), []),
  })
  useShortcuts(shortcuts)
  useShellCommands(shortcuts)
  const sidebarShown = wide && pinned
  return (
    <div className="flex h-full">
      <SkipLink location={location} />
      {sidebarShown && (
        <aside
          aria-label={t('shell.sidebar')}
          className="w-68 shrink-0 border-e border-line bg-sunken"
        >
          <PartBoundary>
            <Sidebar
              user={user}
              multi={multi}
              onCollapse={showSidebar}
              onOpened={() => undefined}
              onHelp={() => setHelp(true)}
              onSearch={() => setSearching(true)}
            />
          </PartBoundary>
        </aside>
      )}
      {!wide && (
        <PartBoundary fallback={null} isOver subject={drawer} onClose={() => setDrawer(false)}>
          {drawerWanted && (
            <SidebarDrawer
              open={drawer}
              onOpenChange={setDrawer}
              user={user}
              multi={multi}
              onHelp={() => setHelp(true)}
              onSearch={() => setSearching(true)}
            />
          )}
        </PartBoundary>
      )}
      <main id="main" tabIndex={-1} className="flex min-w-0 flex-1 flex-col outline-none">
        <OfflineNotice />
        <PartBoundary subject={location}>
          <Pages user={user} multi={multi} onMenu={sidebarShown ? null : showSidebar} />
        </PartBoundary>
      </main>
      <PartBoundary fallback={null} isOver>
        <QueueSenders />
        <FollowChanges />
      </PartBoundary>
      {searching && (
        <PartBoundary fallback={null} isOver onClose={() => setSearching(false)}>
          <SearchDialog open={searching} onOpenChange={setSearching} />
        </PartBoundary>
      )}
      {shown !== null && (
        <PartBoundary fallback={null} isOver subject={shown} onClose={closeDialog}>
          <ConversationDialogs shown={shown} />
        </PartBoundary>
      )}
      {help && (
        <PartBoundary fallback={null} isOver onClose={() => setHelp(false)}>
          <ShortcutHelp open={help} onOpenChange={setHelp} />
        </PartBoundary>
      )}
    </div>
  )
}

/** What the keyboard shortcuts and the commands of the shell do. */
function useShellShortcuts({
  onSearch,
  onSidebar,
  onHelp,
}: {
  onSearch: () => void
  onSidebar: () => void
  onHelp: () => void
}) {
  const [, navigate] = useLocation()
  return useCallback(
    (name: 'newChat' | 'search' | 'sidebar' | 'focus' | 'help') => {
      switch (name) {
        case 'newChat':
          navigate(paths.home)
          break
        case 'search':
          onSearch()
          break
        case 'sidebar':
          onSidebar()
          break
        case 'focus':
          document.getElementById('composer')?.focus()
          break
        case 'help':
          onHelp()
      }
    },
    [navigate, onSearch, onSidebar, onHelp],
  )
}

/** Leads past the sidebar: to the field for a message, where there is one. */
function SkipLink({ location }: { location: string }) {
  const { t } = useTranslation()
  const [isChat, params] = useRoute('/c/:id')
  // Only observed here. Where there is no conversation, there is no field either.
  const query = conversationQuery(params?.id ?? '')
  const { isLoadingError } = useQuery({ ...query, enabled: false })
  const writing = location === paths.home || (isChat && !isLoadingError)
  return (
    <a
      href={writing ? '#composer' : '#main'}
      className="sr-only z-60 rounded-lg bg-accent px-3 py-2 text-on-accent focus:not-sr-only focus:fixed focus:top-2 focus:start-2"
    >
      {t(writing ? 'shell.skipToMessage' : 'shell.skip')}
    </a>
  )
}

/** Every navigation closes the drawer, the browser's own back and forward included. */
function useDrawer(location: string) {
  const [drawer, setDrawer] = useState(false)
  const [drawnAt, setDrawnAt] = useState(location)
  if (drawnAt !== location) {
    setDrawnAt(location)
    setDrawer(false)
  }
  const [drawerWanted, setDrawerWanted] = useState(false)
  if (drawer && !drawerWanted) setDrawerWanted(true)
  // It is there while closed, too, because a swipe opens it.
  useEffect(() => void firstScreen.then(() => setDrawerWanted(true)), [])
  return { drawer, setDrawer, drawerWanted }
}

/** The sidebar of a narrow window: whatever is chosen in it closes it. */
function SidebarDrawer({
  open,
  onOpenChange,
  user,
  multi,
  onHelp,
  onSearch,
}: {
  open: boolean
  onOpenChange: (open: boolean) => void
} & Pick<ComponentProps<typeof Sidebar>, 'user' | 'multi' | 'onHelp' | 'onSearch'>) {
  const closed = (then: () => void) => () => {
    onOpenChange(false)
    then()
  }
  const close = (): void => onOpenChange(false)
  return (
    <Drawer open={open} onOpenChange={onOpenChange}>
      <Sidebar
        user={user}
        multi={multi}
        onCollapse={close}
        onOpened={close}
        onHelp={closed(onHelp)}
        onSearch={closed(onSearch)}
      />
    </Drawer>
  )
}
