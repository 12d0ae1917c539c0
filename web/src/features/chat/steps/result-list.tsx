// The results of a search or listing, with links.
import { File, Folder, Globe } from 'lucide-react'
import { useContext, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'wouter'
import { fileSize } from '../../../lib/format.ts'
import { paths } from '../../../lib/paths.ts'
import { classNames } from '../../../ui/class-names.ts'
import { ConversationContext } from '../conversation-context.ts'
import type { ResultItem } from './result-items.ts'

const ITEMS_FOLDED = 12
const ITEMS_SHOWN = 300

export function ResultList({ label, items }: { label: string; items: readonly ResultItem[] }) {
  const { t } = useTranslation()
  const [open, setOpen] = useState(false)
  if (items.length === 0) return <p className="text-sm text-muted">{t('steps.nothingFound')}</p>
  const shown = items.slice(0, open ? ITEMS_SHOWN : ITEMS_FOLDED)
  return (
    <div>
      <ol aria-label={label} className="flex flex-col gap-2.5">
        {shown.map((item, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a result has no identity but its place
          <li key={index} className="min-w-0 text-sm">
            <Title item={item} />
            {item.text !== undefined && (
              <p
                dir="auto"
                className={classNames(
                  'mt-0.5 line-clamp-3 pl-6 text-[13px] text-soft [overflow-wrap:anywhere]',
                  item.file !== undefined && 'font-mono text-[12.5px] whitespace-pre-wrap',
                )}
              >
                {item.text}
              </p>
            )}
          </li>
        ))}
      </ol>
      {items.length > shown.length && !open && (
        <button
          type="button"
          className="mt-2 pl-6 text-[13px] text-accent underline underline-offset-3 pointer-coarse:min-h-11"
          onClick={() => setOpen(true)}
        >
          {t('steps.moreResults', { count: items.length - shown.length })}
        </button>
      )}
    </div>
  )
}

function Title({ item }: { item: ResultItem }) {
  const { t } = useTranslation()
  const { projectId } = useContext(ConversationContext)
  const Icon = item.folder ? Folder : item.href === undefined ? File : Globe
  const small = [
    item.place,
    item.page === undefined ? undefined : t('documents.page', { page: item.page }),
    item.size === undefined ? undefined : fileSize(item.size),
  ].filter((part) => part !== undefined && part !== '')
  const name = classNames(
    'min-w-0 truncate font-medium',
    item.file !== undefined || item.folder ? 'font-mono text-[13px]' : '',
  )
  const linked = `${name} text-accent underline decoration-accent/40 underline-offset-3 hover:decoration-current`
  return (
    <p className="flex min-w-0 items-center gap-2 pointer-coarse:min-h-11">
      <Icon size={14} aria-hidden className="shrink-0 text-muted" />
      {item.href !== undefined ? (
        <a
          href={item.href}
          title={item.title}
          target="_blank"
          rel="noopener noreferrer nofollow"
          className={linked}
          dir="auto"
        >
          {item.title}
        </a>
      ) : item.file !== undefined && projectId !== null ? (
        <Link href={paths.projectFile(projectId, item.file)} title={item.title} className={linked}>
          {item.title}
        </Link>
      ) : (
        <span className={name} title={item.title} dir="auto">
          {item.title}
        </span>
      )}
      {small.length > 0 && (
        <span className="max-w-[45%] shrink-0 truncate text-xs text-muted">
          {small.join(' · ')}
        </span>
      )}
    </p>
  )
}
