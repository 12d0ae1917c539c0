// The button above the trash that deletes everything in it, after a confirmation.
import { Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { Button } from '../../ui/controls/button.tsx'
import { ConfirmDeletion } from './confirm-deletion.tsx'
import { VIEW_BUTTON_ID } from './list-controls.tsx'
import { useChangeWithUndo } from './use-change-with-undo.ts'

/** @param allIds loads the ids of all conversations in the trash; what arrives after that stays. */
export function EmptyTrash({ allIds }: { allIds: () => Promise<string[]> }) {
  const { t } = useTranslation()
  const change = useChangeWithUndo()
  const [ids, setIds] = useState<readonly string[] | null>(null)
  const [collecting, setCollecting] = useState(false)
  const ask = async (): Promise<void> => {
    setCollecting(true)
    setIds(await allIds())
    setCollecting(false)
  }
  return (
    <div className="px-3 pb-2">
      <Button
        size="small"
        icon={Trash2}
        className="w-full justify-center"
        disabled={collecting}
        onClick={() => void ask()}
      >
        {t('conversations.emptyTrash')}
      </Button>
      <ConfirmDeletion
        count={ids?.length ?? 0}
        open={ids !== null}
        onOpenChange={(open) => !open && setIds(null)}
        onConfirm={() => {
          change(ids ?? [], 'delete_permanently', () => {
            // The button that had the focus has gone with the last conversation.
            if (document.activeElement === document.body)
              document.getElementById(VIEW_BUTTON_ID)?.focus()
          })
        }}
      />
    </div>
  )
}
