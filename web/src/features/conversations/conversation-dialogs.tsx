// The dialogs about one conversation: share, tags, delete permanently.
import { ConfirmDeletion } from './confirm-deletion.tsx'
import { ShareDialog } from './share-dialog.tsx'
import { closeDialog, type ShownDialog } from './shown-dialog.ts'
import { TagsDialog } from './tags-dialog.tsx'
import { useChangeWithUndo } from './use-change-with-undo.ts'

/** Rendered once next to the pages, for the conversation in `shown`. */
export function ConversationDialogs({ shown: { kind, id } }: { shown: ShownDialog }) {
  switch (kind) {
    case 'share':
      return <ShareDialog id={id} onClose={closeDialog} />
    case 'tags':
      return <TagsDialog id={id} onClose={closeDialog} />
    case 'delete_for_good':
      return <DeleteForGood id={id} />
  }
}

function DeleteForGood({ id }: { id: string }) {
  const change = useChangeWithUndo()
  return (
    <ConfirmDeletion
      count={1}
      open
      onOpenChange={(open) => !open && closeDialog()}
      onConfirm={() => change([id], 'delete_permanently')}
    />
  )
}
