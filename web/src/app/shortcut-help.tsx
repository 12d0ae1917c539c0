// The list of keyboard shortcuts.
import { useTranslation } from 'react-i18next'
import { Dialog } from '../ui/dialog.tsx'
import { isApple } from './use-shortcuts.ts'

const command = isApple ? '⌘' : 'Ctrl'
const SHORTCUTS = [
  ['newChat', [command, 'Shift', 'O']],
  ['search', [command, 'K']],
  ['sidebar', [command, 'B']],
  ['focus', ['/']],
  ['send', ['Enter']],
  ['newline', ['Shift', 'Enter']],
  ['stop', ['Esc']],
  ['approve', ['A', 'R', 'E']],
  ['help', ['?']],
] as const

export function ShortcutHelp({
  open,
  onOpenChange,
}: {
  open: boolean
  onOpenChange: (open: boolean) => void
}) {
  const { t } = useTranslation()
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title={t('shell.shortcuts')} width="narrow">
      <dl className="flex flex-col gap-2.5 text-sm">
        {SHORTCUTS.map(([name, keys]) => (
          <div key={name} className="flex items-center justify-between gap-4">
            <dt className="text-soft">{t(`shortcuts.${name}`)}</dt>
            <dd className="flex gap-1">
              {keys.map((key) => (
                <kbd
                  key={key}
                  className="min-w-6 rounded-md border border-line-strong bg-surface px-1.5 py-0.5 text-center font-sans text-xs shadow-low"
                >
                  {key}
                </kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
