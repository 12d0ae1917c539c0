// Form fields: label, control, and hint or error, linked for assistive technology.
import { Eye, EyeOff } from 'lucide-react'
import { type ComponentProps, type ReactNode, useId, useState } from 'react'
import { type MomentType, momentText } from '../../lib/format.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { classNames } from '../class-names.ts'
import { useFieldFault } from '../states/field-faults.tsx'
import { IconButton } from './button.tsx'
import { submitByKeys } from './submit-by-keys.ts'

/** The classes that all inputs share. */
export const inputClass =
  'w-full rounded-[10px] border border-line-strong bg-surface px-3 text-[0.9375rem] text-ink outline-offset-0 transition-colors hover:border-muted focus-visible:border-accent disabled:opacity-50 sm:text-sm'

type FieldProps = {
  label: string
  hint?: ReactNode
  error?: string | undefined
  /** The name in the request, under which the server reports a fault. Needs `FieldFaults` around it. */
  field?: string
}

function Frame({
  label,
  hint,
  error,
  id,
  children,
}: Omit<FieldProps, 'field'> & { id: string; children: ReactNode }) {
  return (
    <div className="flex flex-col gap-1.5">
      <label htmlFor={id} className="text-sm font-medium text-soft">
        {label}
      </label>
      {children}
      {error !== undefined ? (
        <p id={`${id}-note`} role="alert" className="text-note text-bad">
          {error}
        </p>
      ) : (
        hint !== undefined && (
          <p id={`${id}-note`} className="text-note text-muted">
            {hint}
          </p>
        )
      )}
    </div>
  )
}

/** A single-line text field with the properties of an `input`. An error replaces the hint. */
export function TextField({
  label,
  hint,
  error: ownError,
  field,
  className,
  ...rest
}: ComponentProps<'input'> & FieldProps) {
  const id = useId()
  const fault = useFieldFault(field, hint)
  const error = ownError ?? fault
  const Input =
    rest.type === 'password' ? PasswordInput : isMoment(rest.type) ? MomentInput : 'input'
  return (
    <Frame label={label} hint={hint} error={error} id={id}>
      <Input
        id={id}
        aria-invalid={error !== undefined}
        aria-describedby={hint !== undefined || error !== undefined ? `${id}-note` : undefined}
        className={classNames(inputClass, 'h-10', className)}
        {...rest}
      />
    </Frame>
  )
}

const isMoment = (type: string | undefined): type is MomentType =>
  type === 'date' || type === 'time' || type === 'datetime-local'

/**
 * Browsers write dates and times in their own language: except while it is edited, the field shows its value as the rest of
 * the page does.
 */
function MomentInput({ className, onBlur, ...rest }: ComponentProps<'input'>) {
  const { i18n } = useTranslation()
  /** A date without its year has no value yet, but must remain visible. */
  const [isPartial, setIsPartial] = useState(false)
  const { type, value } = rest
  const text =
    isMoment(type) && typeof value === 'string' ? momentText(type, value, i18n.language) : ''
  return (
    <div className="relative">
      <input
        {...rest}
        className={classNames(className, 'peer', isPartial ? '' : 'own-moment')}
        onBlur={(event) => {
          setIsPartial(event.target.validity.badInput)
          onBlur?.(event)
        }}
      />
      <span
        aria-hidden
        className="pointer-events-none absolute inset-y-0 start-3.25 flex items-center text-[0.9375rem] text-ink peer-focus:hidden peer-disabled:opacity-50 sm:text-sm"
      >
        {text}
      </span>
    </div>
  )
}

/** A password has a button that shows it. */
function PasswordInput({ className, ...rest }: ComponentProps<'input'>) {
  const { t } = useTranslation()
  const [shown, setShown] = useState(false)
  return (
    <div className="relative">
      <input
        {...rest}
        type={shown ? 'text' : 'password'}
        className={classNames(className, 'pe-11')}
      />
      <IconButton
        icon={shown ? EyeOff : Eye}
        label={t(shown ? 'common.conceal' : 'common.reveal')}
        disabled={rest.disabled}
        className="absolute inset-y-0.5 end-0.5"
        onClick={() => setShown(!shown)}
      />
    </div>
  )
}

/** A multi-line text field with the properties of a `textarea`. An error replaces the hint. Ctrl+Enter submits the form. */
export function TextArea({
  label,
  hint,
  error: ownError,
  field,
  className,
  ...rest
}: ComponentProps<'textarea'> & FieldProps) {
  const id = useId()
  const fault = useFieldFault(field, hint)
  const error = ownError ?? fault
  return (
    <Frame label={label} hint={hint} error={error} id={id}>
      <textarea
        id={id}
        aria-invalid={error !== undefined}
        aria-describedby={hint !== undefined || error !== undefined ? `${id}-note` : undefined}
        className={classNames(inputClass, 'min-h-24 resize-y py-2 leading-relaxed', className)}
        onKeyDown={submitByKeys}
        {...rest}
      />
    </Frame>
  )
}

/** The browser's native list of options, with the properties of a `select`. */
export function SelectField({
  label,
  hint,
  error: ownError,
  field,
  options,
  className,
  ...rest
}: ComponentProps<'select'> &
  FieldProps & { options: readonly { value: string; label: string }[] }) {
  const id = useId()
  const fault = useFieldFault(field, hint)
  const error = ownError ?? fault
  return (
    <Frame label={label} hint={hint} error={error} id={id}>
      <select
        id={id}
        aria-invalid={error !== undefined}
        aria-describedby={hint !== undefined || error !== undefined ? `${id}-note` : undefined}
        className={classNames(inputClass, 'h-10', className)}
        {...rest}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    </Frame>
  )
}
