// The dialog with the list of keyboard shortcuts.
import { useTranslation } from '../lib/i18n/use-translation.tsx'
import { COMMAND_KEYS, commandKey, keyName } from '../lib/shortcuts.ts'
import { Dialog } from '../ui/overlays/dialog.tsx'

const SHORTCUTS = [
  ['newChat', COMMAND_KEYS.newChat],
  ['search', COMMAND_KEYS.search],
  ['sidebar', COMMAND_KEYS.sidebar],
  ['focus', ['/']],
  ['answer', [commandKey, '.']],
  ['send', ['Enter']],
  ['newline', ['Shift', 'Enter']],
  ['edit', ['↑']],
  ['commands', ['/']],
  ['mentions', ['@']],
  ['list', ['↑', '↓']],
  ['movePin', ['Alt', '↑', '↓']],
  ['stop', COMMAND_KEYS.stop],
  ['approve', ['A', 'R', 'E']],
  ['help', COMMAND_KEYS.shortcuts],
] as const

/** Opened with `?` or from the sidebar. */
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
              {keys?.map((key) => (
                <kbd
                  key={key}
                  className="min-w-6 rounded-md border border-line-strong bg-surface px-1.5 py-0.5 text-center font-sans text-xs shadow-low"
                >
                  {keyName(key, t)}
                </kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
