// The fields of a form from an MCP server.
import { useId } from 'react'
import type { InputField, InputForm } from '../../../../../server/protocol/runs/input.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { SelectField, TextField } from '../../../ui/controls/field.tsx'
import { Switch } from '../../../ui/controls/switch.tsx'
import { countFault, keypadFor, type Value, type Values } from './form-values.ts'

/** One field per property of the form. `onChange` receives all values, including the changed one. */
export function InputFields({
  form,
  values,
  onChange,
}: {
  form: InputForm
  values: Values
  onChange: (values: Values) => void
}) {
  const required = new Set(form.required ?? [])
  return Object.entries(form.properties).map(([name, field]) => (
    <Field
      key={name}
      label={field.title ?? name}
      field={field}
      required={required.has(name)}
      value={values[name] ?? ''}
      onChange={(value) => onChange({ ...values, [name]: value })}
    />
  ))
}

const INPUT_TYPES = { email: 'email', uri: 'url', date: 'date', 'date-time': 'datetime-local' }

function Field({
  label,
  field,
  required,
  value,
  onChange,
}: {
  label: string
  field: InputField
  required: boolean
  value: Value
  onChange: (value: Value) => void
}) {
  const { t } = useTranslation()
  const hint = field.description
  const shown = required ? label : t('input.optional', { label })
  if (field.type === 'boolean')
    return <Switch label={label} hint={hint} checked={value === true} onChange={onChange} />
  if (field.type === 'array')
    return (
      <Several
        label={shown}
        hint={hint}
        options={field.items.anyOf}
        limits={{ ...field, required }}
        chosen={Array.isArray(value) ? value : []}
        onChange={onChange}
      />
    )
  const text = typeof value === 'string' ? value : ''
  if ('oneOf' in field)
    return (
      <SelectField
        label={shown}
        hint={hint}
        required={required}
        value={text}
        options={[
          { value: '', label: t('input.choose') },
          ...field.oneOf.map((choice) => ({ value: choice.const, label: choice.title })),
        ]}
        onChange={(event) => onChange(event.target.value)}
      />
    )
  const common = {
    label: shown,
    hint,
    required,
    value: text,
    onChange: (event: { target: { value: string } }) => onChange(event.target.value),
  }
  if (field.type === 'string')
    return (
      <TextField
        {...common}
        type={field.format === undefined ? 'text' : INPUT_TYPES[field.format]}
        minLength={field.minLength}
        maxLength={field.maxLength}
      />
    )
  return (
    <TextField
      {...common}
      type="number"
      inputMode={keypadFor(field)}
      step={field.type === 'integer' ? 1 : 'any'}
      min={field.minimum}
      max={field.maximum}
    />
  )
}

function Several({
  label,
  hint,
  options,
  limits,
  chosen,
  onChange,
}: {
  label: string
  hint: string | undefined
  options: readonly { const: string; title: string }[]
  /** How many may be chosen. */
  limits: { minItems?: number | undefined; maxItems?: number | undefined; required: boolean }
  chosen: readonly string[]
  onChange: (chosen: readonly string[]) => void
}) {
  const { t } = useTranslation()
  const id = useId()
  const fault = countFault(limits, chosen.length, limits.required)
  // As for the other fields, the browser shows it when the form is sent.
  const said =
    fault === null
      ? ''
      : fault.reason === 'chooseMin'
        ? t('input.chooseMin', { min: fault.min })
        : t('input.chooseMax', { max: fault.max })
  const report = (first: HTMLInputElement | null): void => first?.setCustomValidity(said)
  return (
    <fieldset
      aria-describedby={hint === undefined ? undefined : id}
      className="flex flex-col gap-2"
    >
      <legend className="mb-1.5 text-sm font-medium text-soft">{label}</legend>
      {options.map(({ const: value, title }, index) => (
        <label key={value} className="flex items-center gap-2.5 text-sm">
          <input
            ref={index === 0 ? report : undefined}
            type="checkbox"
            className="size-4 accent-accent"
            checked={chosen.includes(value)}
            onChange={({ target }) =>
              onChange(
                target.checked ? [...chosen, value] : chosen.filter((other) => other !== value),
              )
            }
          />
          {title}
        </label>
      ))}
      {hint !== undefined && (
        <p id={id} className="text-note text-muted">
          {hint}
        </p>
      )}
    </fieldset>
  )
}
