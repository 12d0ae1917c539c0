// The shell: the sidebar (a drawer on phones), the current page next to it, dialogs, and keyboard shortcuts.
import { useQuery } from '@tanstack/react-query'
import { type ComponentProps, useCallback, useEffect, useState } from 'react'
import { useLocation, useRoute } from 'wouter'
import { useRunNotifications } from '../features/chat/runs/use-run-notifications.ts'
import { closeDialog, useShownDialog } from '../features/conversations/shown-dialog.ts'
import { useProfile } from '../lib/api/auth.ts'
import { conversationQuery } from '../lib/api/conversations.ts'
import { firstScreen } from '../lib/browser/first-screen.tsx'
import { useMedia } from '../lib/browser/use-media.ts'
import { setOperator } from '../lib/http/refusal-text.ts'
import { useTranslation } from '../lib/i18n/use-translation.tsx'
import { paths } from '../lib/paths.ts'
import { lastPart, late, lazyView } from '../ui/states/late.tsx'
import { PartBoundary } from '../ui/states/part-boundary.tsx'
import { OfflineNotice } from './offline-notice.tsx'
import { Pages } from './pages.tsx'
import { Sidebar } from './sidebar.tsx'
import { useBrowserZone } from './use-browser-zone.ts'
import { usePageFocus, useSidebarFocus } from './use-lost-focus.ts'
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

const OtherVersion = lastPart(() =>
  import('./other-version.tsx').then((module) => module.OtherVersion),
)

const Drawer = late(() => import('./drawer.tsx').then((module) => module.Drawer))

/** `multi`: whether there are accounts; then the sidebar shows the user's name. */
export function Shell({ multi }: { multi: boolean }) {
  const { t } = useTranslation()
  const [location, navigate] = useLocation()
  const { data: user } = useProfile()
  useEffect(() => setOperator(!multi || user?.role !== 'user'), [multi, user?.role])
  const openConversation = useCallback((id: string) => navigate(paths.conversation(id)), [navigate])
  useRunNotifications(openConversation)
  useTabTitle()
  useBrowserZone()
  const wide = useMedia('(min-width: 56rem)')
  const [pinned, setPinned] = useSidebar()
  const { drawer, setDrawer, drawerMounted } = useDrawer(location)
  const [help, setHelp] = useState(false)
  const [searching, setSearching] = useState(false)
  const { shown } = useShownDialog()
  // Closes the dialog on sign-out, so that the next user does not find it open.
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
  useSidebarFocus(sidebarShown)
  usePageFocus(location)
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
          {drawerMounted && (
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
        {user?.role === 'admin' && (
          <PartBoundary fallback={null} instead={null}>
            <OtherVersion />
          </PartBoundary>
        )}
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

/** Returns the function that performs the shell's shortcuts and commands. */
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
    (name: 'newChat' | 'search' | 'sidebar' | 'focus' | 'answer' | 'help') => {
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
        case 'answer':
          // Its beginning is in view, and a screen reader reads from there.
          ;[...document.querySelectorAll<HTMLElement>('article[data-answer]')].at(-1)?.focus()
          break
        case 'help':
          onHelp()
      }
    },
    [navigate, onSearch, onSidebar, onHelp],
  )
}

/** A link that skips the sidebar: to the composer if there is one, else to the page. */
function SkipLink({ location }: { location: string }) {
  const { t } = useTranslation()
  const [isChat, params] = useRoute('/c/:id')
  // Only observes the query. If the conversation cannot be loaded, there is no composer.
  const query = conversationQuery(params?.id ?? '')
  const { isLoadingError } = useQuery({ ...query, enabled: false })
  const hasComposer = location === paths.home || (isChat && !isLoadingError)
  return (
    <a
      href={hasComposer ? '#composer' : '#main'}
      className="sr-only z-60 rounded-lg bg-accent px-3 py-2 text-on-accent focus:not-sr-only focus:fixed focus:top-2 focus:start-2"
    >
      {t(hasComposer ? 'shell.skipToMessage' : 'shell.skip')}
    </a>
  )
}

/** The state of the drawer. Every navigation closes it, including back and forward. */
function useDrawer(location: string) {
  const [drawer, setDrawer] = useState(false)
  const [lastLocation, setLastLocation] = useState(location)
  if (lastLocation !== location) {
    setLastLocation(location)
    setDrawer(false)
  }
  const [drawerMounted, setDrawerMounted] = useState(false)
  if (drawer && !drawerMounted) setDrawerMounted(true)
  // The closed drawer is mounted too, because a swipe opens it.
  useEffect(() => void firstScreen.then(() => setDrawerMounted(true)), [])
  return { drawer, setDrawer, drawerMounted }
}

/** The sidebar of a narrow window; choosing something closes it. */
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
  const closeThen = (action: () => void) => () => {
    onOpenChange(false)
    action()
  }
  const close = (): void => onOpenChange(false)
  return (
    <Drawer open={open} onOpenChange={onOpenChange}>
      <Sidebar
        user={user}
        multi={multi}
        isDrawer
        onCollapse={close}
        onOpened={close}
        onHelp={closeThen(onHelp)}
        onSearch={closeThen(onSearch)}
      />
    </Drawer>
  )
}
