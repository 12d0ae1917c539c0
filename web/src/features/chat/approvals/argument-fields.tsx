// Changing the arguments of a call before it is approved: as fields, or as JSON.
import { type Ref, useState } from 'react'
import { argumentLabel } from '../../../lib/argument-label.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { TextArea, TextField } from '../../../ui/controls/field.tsx'
import { Switch } from '../../../ui/controls/switch.tsx'
import { readField, type SimpleArgument } from './simple-arguments.ts'

/** Longer texts have a field of several lines, as have those that are known to be texts. */
const MAX_LINE_CHARACTERS = 80
const LONG_TEXTS = new Set([
  'content',
  'text',
  'code',
  'command',
  'message',
  'prompt',
  'old',
  'new',
])

const fieldClass = 'font-mono text-note'

/** `onChange` receives the arguments as JSON; null while a field is invalid. The first field takes the focus. */
export function ArgumentFields({
  fields,
  onChange,
}: {
  /** The arguments before the change. */
  fields: readonly SimpleArgument[]
  onChange: (json: string | null) => void
}) {
  const { t } = useTranslation()
  const [written, setWritten] = useState<ReadonlyMap<string, string | boolean>>(new Map())
  const valuesOf = (texts: typeof written) =>
    fields.map(({ name, value }) => {
      const now = texts.get(name)
      return { name, value: typeof now === 'string' ? readField(value, now) : (now ?? value) }
    })
  const write = (name: string, value: string | boolean): void => {
    const after = new Map(written).set(name, value)
    setWritten(after)
    const values = valuesOf(after)
    onChange(
      values.some((field) => field.value === null)
        ? null
        : JSON.stringify(
            Object.fromEntries(values.map((field) => [field.name, field.value])),
            null,
            2,
          ),
    )
  }
  return fields.map(({ name, value }, at) => {
    const now = written.get(name) ?? value
    if (typeof now === 'boolean')
      return (
        <Switch
          key={name}
          label={argumentLabel(name, t)}
          checked={now}
          autoFocus={at === 0}
          onChange={(on) => write(name, on)}
        />
      )
    const text = String(now)
    const common = {
      label: argumentLabel(name, t),
      value: text,
      autoFocus: at === 0,
      spellCheck: false,
      className: fieldClass,
      error: readField(value, text) === null ? t('approval.badNumber') : undefined,
    }
    const isLong =
      typeof value === 'string' &&
      (LONG_TEXTS.has(name) || value.includes('\n') || value.length > MAX_LINE_CHARACTERS)
    return isLong ? (
      <TextArea
        key={name}
        {...common}
        className={classNames(fieldClass, 'min-h-10!')}
        rows={Math.min(12, text.split('\n').length + 1)}
        onChange={(event) => write(name, event.target.value)}
      />
    ) : (
      <TextField key={name} {...common} onChange={(event) => write(name, event.target.value)} />
    )
  })
}

/** All arguments as one text, which takes the focus. */
export function JsonField({
  ref,
  value,
  invalid,
  onChange,
}: {
  ref: Ref<HTMLTextAreaElement>
  value: string
  invalid: boolean
  onChange: (value: string) => void
}) {
  const { t } = useTranslation()
  return (
    <TextArea
      ref={ref}
      autoFocus
      label={t('approval.arguments')}
      value={value}
      rows={Math.min(16, value.split('\n').length + 1)}
      spellCheck={false}
      className={fieldClass}
      error={invalid ? t('approval.badJson') : undefined}
      onChange={(event) => onChange(event.target.value)}
    />
  )
}
