// The menu of an answer: regenerate with another model, compare, edit, copy the link, read aloud, inspect the run.

import { Activity, Columns2, Ellipsis, Link2, PencilLine } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Message } from '../../../../../server/protocol/conversations/message.ts'
import { useMenuModels } from '../../../lib/api/preferences.ts'
import { fromHost } from '../../../lib/base-path.ts'
import { copyText } from '../../../lib/browser/copy-text.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { paths } from '../../../lib/paths.ts'
import { ActionButton } from '../../../ui/controls/action-button.tsx'
import {
  Menu,
  MenuChoices,
  MenuHeading,
  MenuItem,
  MenuSeparator,
} from '../../../ui/overlays/menu.tsx'
import { notify } from '../../../ui/overlays/toasts.ts'
import { beginComparison } from '../compare/comparisons.ts'
import { inspectRun } from '../inspected-run.ts'
import { ReadAloudItem } from './read-aloud-item.tsx'

/** `locked`: whether a run is active; then no item that changes the branch is available. */
export function AnswerMenu({
  message,
  conversationId,
  locked,
  figures,
  comparable,
  onRegenerate,
  onEdit,
}: {
  message: Message
  conversationId: string
  locked: boolean
  /** Tokens, cost, time and model of the answer. */
  figures: ReactNode
  /** Whether another answer may be shown or written beside this one. */
  comparable: boolean
  onRegenerate: (id: string, model: string) => void
  onEdit: () => void
}) {
  const { t } = useTranslation()
  const models = useMenuModels(null)
  const runId = message.run_id ?? null
  const copyLink = async (): Promise<void> => {
    const address = new URL(
      fromHost(paths.messageLink(conversationId, message.id)),
      location.origin,
    )
    const copied = await copyText(address.href)
    notify(t(copied ? 'common.copied' : 'common.notCopied'), copied ? 'plain' : 'error')
  }
  const compare = (): void => beginComparison(conversationId, message.id)
  return (
    <Menu
      label={t('answer.more')}
      trigger={<ActionButton icon={Ellipsis} label={t('answer.more')} />}
    >
      <MenuItem icon={Link2} onSelect={() => void copyLink()}>
        {t('answer.copyLink')}
      </MenuItem>
      {!locked && (
        <MenuItem icon={PencilLine} onSelect={() => setTimeout(onEdit, 0)}>
          {t('answer.edit')}
        </MenuItem>
      )}
      {comparable && (models.length > 1 || message.siblings.length > 1) && (
        <MenuItem icon={Columns2} onSelect={compare}>
          {t('answer.compare')}
        </MenuItem>
      )}
      <ReadAloudItem messageId={message.id} />
      {runId !== null && (
        <MenuItem icon={Activity} onSelect={() => inspectRun(runId)}>
          {t('answer.inspect')}
        </MenuItem>
      )}
      <div className="max-w-72 border-t border-line px-2.5 pt-2 pb-1.5 leading-snug not-last:mb-1 empty:hidden">
        {figures}
      </div>
      {!locked && models.length > 1 && (
        <>
          <MenuSeparator />
          <MenuHeading>{t('answer.regenerateWith')}</MenuHeading>
          <MenuChoices
            value=""
            choices={models.map(({ id, name, service }) => ({
              value: id,
              label: name,
              hint: service ?? undefined,
            }))}
            onChoose={(model) => onRegenerate(message.id, model)}
          />
        </>
      )}
    </Menu>
  )
}
