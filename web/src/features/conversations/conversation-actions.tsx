// The menu of a conversation: rename, pin, move, archive, tag, share, export, move to the trash.
import {
  Archive,
  ArchiveRestore,
  ArrowDown,
  ArrowUp,
  Download,
  PencilLine,
  Pin,
  PinOff,
  Share2,
  Tag,
  Trash2,
} from 'lucide-react'
import type { ReactNode } from 'react'
import { useLocation } from 'wouter'
import type { Conversation } from '../../../../server/protocol/conversations/conversation.ts'
import { usePatchConversation } from '../../lib/api/conversations.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { paths } from '../../lib/paths.ts'
import { MenuHeading, MenuItem, MenuSeparator } from '../../ui/overlays/menu.tsx'
import { showDialog } from './shown-dialog.ts'
import { useChangeWithUndo } from './use-change-with-undo.ts'
import { useExport } from './use-export.ts'

const EXPORT_FORMATS = ['md', 'html', 'json'] as const

/** A separate component, so that the items render only for the open menu. */
export function ConversationActions({
  conversation: { id, pinned, archived },
  active,
  leading,
  onRename,
  onMove,
}: {
  conversation: Conversation
  /** Whether the conversation is open. */
  active: boolean
  /** Items before the others. */
  leading?: ReactNode
  onRename: () => void
  /** Moves a pinned conversation by some positions; absent if there is no other to move past. */
  onMove?: (id: string, places: number) => void
}) {
  const { t } = useTranslation()
  const [, navigate] = useLocation()
  const patch = usePatchConversation()
  const change = useChangeWithUndo()
  const exported = useExport()
  return (
    <>
      {leading}
      <MenuItem icon={PencilLine} onSelect={onRename}>
        {t('conversation.rename')}
      </MenuItem>
      <MenuItem icon={pinned ? PinOff : Pin} onSelect={() => patch.mutate({ id, pinned: !pinned })}>
        {t(pinned ? 'conversation.unpin' : 'conversation.pin')}
      </MenuItem>
      {onMove !== undefined && (
        <>
          <MenuItem icon={ArrowUp} onSelect={() => onMove(id, -1)}>
            {t('conversation.moveUp')}
          </MenuItem>
          <MenuItem icon={ArrowDown} onSelect={() => onMove(id, 1)}>
            {t('conversation.moveDown')}
          </MenuItem>
        </>
      )}
      <MenuItem
        icon={archived ? ArchiveRestore : Archive}
        onSelect={() => change([id], archived ? 'unarchive' : 'archive')}
      >
        {t(archived ? 'conversation.unarchive' : 'conversation.archive')}
      </MenuItem>
      <MenuItem icon={Tag} onSelect={() => showDialog('tags', id)}>
        {t('conversations.tags')}
      </MenuItem>
      <MenuItem icon={Share2} onSelect={() => showDialog('share', id)}>
        {t('conversation.share')}
      </MenuItem>
      <MenuSeparator />
      <MenuHeading>{t('conversation.export')}</MenuHeading>
      {EXPORT_FORMATS.map((format) => (
        <MenuItem key={format} icon={Download} onSelect={() => exported.mutate({ id, format })}>
          {t(`conversation.exportAs.${format}`)}
        </MenuItem>
      ))}
      <MenuSeparator />
      <MenuItem
        icon={Trash2}
        danger
        onSelect={() => change([id], 'delete', () => active && navigate(paths.home))}
      >
        {t('common.delete')}
      </MenuItem>
    </>
  )
}
