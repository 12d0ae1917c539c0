// An on/off switch with a label.
import { Switch as RadixSwitch } from 'radix-ui'
import { useId } from 'react'

/** A controlled switch; `onChange` receives the new state. */
export function Switch({
  label,
  hint,
  checked,
  onChange,
  disabled = false,
  autoFocus = false,
}: {
  label: string
  hint?: string | undefined
  checked: boolean
  onChange: (checked: boolean) => void
  disabled?: boolean
  /** Whether it takes the focus when it appears. */
  autoFocus?: boolean
}) {
  const id = useId()
  return (
    <div className="flex items-center gap-4">
      <label htmlFor={id} className="min-w-0 flex-1">
        <span className="block text-sm font-medium text-soft">{label}</span>
        {hint !== undefined && <span className="block text-note text-muted">{hint}</span>}
      </label>
      <RadixSwitch.Root
        id={id}
        checked={checked}
        onCheckedChange={onChange}
        disabled={disabled}
        autoFocus={autoFocus}
        className="relative h-6 w-10.5 shrink-0 rounded-full bg-line-strong transition-colors data-[state=checked]:bg-accent disabled:opacity-50"
      >
        <RadixSwitch.Thumb className="block size-5 translate-x-0.5 rounded-full bg-white shadow-low transition-transform data-[state=checked]:translate-x-5 rtl:-translate-x-0.5 rtl:data-[state=checked]:-translate-x-5" />
      </RadixSwitch.Root>
    </div>
  )
}
