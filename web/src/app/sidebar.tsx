// The sidebar: new chat, conversations, and links to all other pages.
import {
  Brain,
  CalendarClock,
  ChartNoAxesColumn,
  FolderOpen,
  Inbox,
  Keyboard,
  type LucideIcon,
  Moon,
  PanelLeft,
  Search,
  Settings,
  ShieldCheck,
  SquarePen,
  Sun,
} from 'lucide-react'
import { Link, useLocation, useRoute, useSearchParams } from 'wouter'
import type { User } from '../../../server/protocol/accounts/user.ts'
import { ConversationList } from '../features/conversations/conversation-list.tsx'
import { nameWithIcon } from '../features/projects/project-icon.tsx'
import { MAX_COUNTED, useWaitingCount } from '../lib/api/approvals.ts'
import { useProjects } from '../lib/api/projects.ts'
import { useTranslation } from '../lib/i18n/use-translation.tsx'
import { paths } from '../lib/paths.ts'
import { useTheme } from '../lib/preferences/theme.ts'
import { keysText } from '../lib/shortcuts.ts'
import { classNames } from '../ui/class-names.ts'
import { IconButton } from '../ui/controls/button.tsx'
import { Logo } from '../ui/logo.tsx'

const NAV_LINKS: readonly {
  key: 'waiting' | 'schedules' | 'projects' | 'memory' | 'stats' | 'admin'
  icon: LucideIcon
  href: string
}[] = [
  { key: 'waiting', icon: Inbox, href: paths.waiting },
  { key: 'projects', icon: FolderOpen, href: paths.projects },
  { key: 'schedules', icon: CalendarClock, href: paths.schedules },
  { key: 'memory', icon: Brain, href: paths.memory },
  { key: 'stats', icon: ChartNoAxesColumn, href: paths.stats },
]

const ADMIN_LINKS: typeof NAV_LINKS = [
  ...NAV_LINKS,
  { key: 'admin', icon: ShieldCheck, href: paths.admin() },
]

/** `onOpened` is called after the user chooses something, `onCollapse` by the button that hides the sidebar. */
export function Sidebar({
  user,
  multi,
  isDrawer = false,
  onCollapse,
  onOpened,
  onHelp,
  onSearch,
}: {
  user: User | undefined
  multi: boolean
  /** Whether it lies over the page, and is the only way to every other view. */
  isDrawer?: boolean
  onCollapse: () => void
  onOpened: () => void
  onHelp: () => void
  onSearch: () => void
}) {
  const { t } = useTranslation()
  const [, params] = useRoute('/c/:id')
  return (
    <div className="flex h-full flex-col">
      <SidebarHeader onCollapse={onCollapse} onOpened={onOpened} onSearch={onSearch} />
      <div className="px-3 pb-2.5">
        <Link
          href={paths.home}
          className="group touch-target flex h-9 items-center gap-2.5 rounded-lg border border-line bg-surface px-2.5 text-sm font-medium shadow-low transition-colors hover:bg-hover"
          onClick={onOpened}
        >
          <SquarePen size={15} aria-hidden className="shrink-0 text-accent" />
          <span className="min-w-0 flex-1 truncate">{t('shell.newChat')}</span>
          {/* In some languages there is not enough room for both. */}
          <kbd
            aria-hidden
            className="hidden font-sans text-xs text-muted group-hover:block group-focus-visible:block pointer-coarse:hidden"
          >
            {keysText('newChat', t)}
          </kbd>
        </Link>
      </div>
      <ConversationList activeId={params?.id ?? null} onOpened={onOpened} />
      <Navigation
        name={multi ? user?.username : undefined}
        links={isDrawer && multi && user?.role === 'admin' ? ADMIN_LINKS : NAV_LINKS}
        onOpened={onOpened}
        onHelp={onHelp}
      />
    </div>
  )
}

function SidebarHeader({
  onCollapse,
  onOpened,
  onSearch,
}: {
  onCollapse: () => void
  onOpened: () => void
  onSearch: () => void
}) {
  const { t } = useTranslation()
  return (
    <div className="flex h-13 shrink-0 items-center gap-2.5 px-3.5">
      <Link
        href={paths.home}
        className="touch-target flex items-center gap-2.5 rounded-lg"
        onClick={onOpened}
      >
        <Logo />
        <span className="font-display text-[1.1875rem] tracking-[-0.01em]">NanoClaw</span>
      </Link>
      <span className="flex-1" />
      <IconButton
        icon={Search}
        label={t('shell.search')}
        keys={keysText('search', t)}
        size="small"
        onClick={onSearch}
      />
      <IconButton
        icon={PanelLeft}
        label={t('shell.collapse')}
        keys={keysText('sidebar', t)}
        size="small"
        onClick={onCollapse}
        data-sidebar-button=""
      />
    </div>
  )
}

/** How many requests wait for the user; nothing without any. */
function WaitingCount() {
  const { t } = useTranslation()
  const count = useWaitingCount()
  if (count === 0) return null
  const shown = count > MAX_COUNTED ? `${MAX_COUNTED}+` : String(count)
  return (
    <span
      role="status"
      className="ms-auto rounded-full bg-warn-soft px-2 text-xs font-medium text-warn tabular-nums"
    >
      <span aria-hidden>{shown}</span>
      <span className="sr-only">{t('shell.waitingCount', { count })}</span>
    </span>
  )
}

const SHOWN_PROJECTS = 3

/** The projects that changed last, each with a new chat in it. Hidden where the conversations would have no room beside them. */
function RecentProjects({ onOpened }: { onOpened: () => void }) {
  const { data = [] } = useProjects()
  const recent = data
    .toSorted((one, other) => (one.updated_at < other.updated_at ? 1 : -1))
    .slice(0, SHOWN_PROJECTS)
  const [search] = useSearchParams()
  const [location] = useLocation()
  const open = location === paths.home ? search.get('project') : null
  if (recent.length === 0) return null
  return (
    <ul className="mb-0.5 [@media(max-height:47rem)]:hidden">
      {recent.map((project) => (
        <li key={project.id}>
          <Link
            href={paths.homeIn(project.id)}
            aria-current={project.id === open ? 'page' : undefined}
            title={project.name}
            className={classNames(
              'touch-target flex h-8 items-center rounded-lg ps-9.5 pe-2.5 text-compact -outline-offset-2',
              project.id === open ? 'bg-hover font-medium text-ink' : 'text-soft hover:bg-hover/60',
            )}
            onClick={onOpened}
          >
            <span className="truncate">
              <bdi>{nameWithIcon(project)}</bdi>
            </span>
          </Link>
        </li>
      ))}
    </ul>
  )
}

/** `name` is the account's name; undefined without accounts, or until it has loaded. */
function Navigation({
  name,
  links,
  onOpened,
  onHelp,
}: {
  name: string | undefined
  links: typeof NAV_LINKS
  onOpened: () => void
  onHelp: () => void
}) {
  const { t } = useTranslation()
  const [location] = useLocation()
  const { dark, choose } = useTheme()
  const isInSettings = [paths.settings, paths.admin()].some((path) => location.startsWith(path))
  return (
    <nav aria-label={t('shell.main')} className="border-t border-line px-2 py-2">
      <ul className="mb-1">
        {links.map(({ key, icon: Icon, href }) => (
          <li key={key}>
            <Link
              href={href}
              aria-current={location.startsWith(href) ? 'page' : undefined}
              className={classNames(
                'touch-target flex h-8.5 items-center gap-2.5 rounded-lg px-2.5 text-sm -outline-offset-2',
                location.startsWith(href)
                  ? 'bg-hover font-medium text-ink'
                  : 'text-soft hover:bg-hover/60',
              )}
              onClick={onOpened}
            >
              <Icon size={15} aria-hidden className="text-muted" />
              {t(`shell.${key}`)}
              {key === 'waiting' && <WaitingCount />}
            </Link>
            {key === 'projects' && <RecentProjects onOpened={onOpened} />}
          </li>
        ))}
      </ul>
      <div className="flex items-center gap-0.5">
        <Link
          href={paths.settings}
          aria-current={isInSettings ? 'page' : undefined}
          className={classNames(
            'touch-target flex h-9 min-w-0 flex-1 items-center gap-2.5 rounded-lg px-2.5 text-sm -outline-offset-2',
            isInSettings ? 'bg-hover font-medium text-ink' : 'text-soft hover:bg-hover/60',
          )}
          onClick={onOpened}
        >
          <Settings size={15} aria-hidden className="shrink-0 text-muted" />
          <span className="truncate">{name ?? t('shell.settings')}</span>
        </Link>
        <IconButton
          icon={Keyboard}
          label={t('shell.shortcuts')}
          keys={keysText('shortcuts', t)}
          tipSide="top"
          onClick={onHelp}
        />
        <IconButton
          icon={dark ? Sun : Moon}
          label={t('shell.theme', { theme: t(dark ? 'shell.light' : 'shell.dark') })}
          tipSide="top"
          onClick={() => choose(dark ? 'light' : 'dark')}
        />
      </div>
    </nav>
  )
}
