// A small list of encodings, for a text that was read in the wrong one.
import { encodingsWith } from '../../lib/encodings.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'

/** Shows the encoding in use; `onChange` receives another one. */
export function EncodingChoice({
  value,
  disabled = false,
  onChange,
}: {
  value: string
  disabled?: boolean
  onChange: (encoding: string) => void
}) {
  const { t } = useTranslation()
  return (
    <select
      aria-label={t('files.encoding')}
      title={t('files.encoding')}
      className="h-7 max-w-36 self-center truncate rounded-md border border-line bg-paper px-1 text-note text-muted disabled:opacity-60"
      value={value}
      disabled={disabled}
      onChange={({ target }) => onChange(target.value)}
    >
      {encodingsWith(value).map((encoding) => (
        <option key={encoding.value} value={encoding.value}>
          {encoding.label}
        </option>
      ))}
    </select>
  )
}
