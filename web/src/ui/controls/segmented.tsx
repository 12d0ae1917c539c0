// A segmented control: a choice among a few options, side by side.
import { ToggleGroup } from 'radix-ui'
import { shownDirection } from '../../lib/i18n/direction.ts'

/** One option is always chosen; arrow keys move between the options. `label` is the accessible name of the group. */
export function Segmented<Value extends string>({
  label,
  value,
  options,
  onChange,
}: {
  label: string
  value: Value
  options: readonly { value: Value; label: string }[]
  onChange: (value: Value) => void
}) {
  return (
    <ToggleGroup.Root
      type="single"
      dir={shownDirection()}
      aria-label={label}
      value={value}
      onValueChange={(next) => {
        const chosen = options.find((option) => option.value === next)
        if (chosen !== undefined) onChange(chosen.value)
      }}
      className="inline-flex flex-wrap rounded-[10px] bg-hover p-0.5"
    >
      {options.map((option) => (
        <ToggleGroup.Item
          key={option.value}
          value={option.value}
          data-value={option.value}
          className="h-8 rounded-lg -outline-offset-2 px-3 text-note font-medium text-soft transition-colors hover:text-ink data-[state=on]:bg-surface data-[state=on]:text-ink data-[state=on]:shadow-low dark:data-[state=on]:bg-line-strong"
        >
          <bdi>{option.label}</bdi>
        </ToggleGroup.Item>
      ))}
    </ToggleGroup.Root>
  )
}
